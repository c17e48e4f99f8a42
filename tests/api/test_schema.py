"""The OpenAPI document is valid, is the one that is served, and the API keeps to it, whatever is sent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import schemathesis
import yaml
from django.db import transaction
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rest_framework.response import Response
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.core.failures import Failure, FailureGroup

from common.api.endpoints.me import MeView
from tests.api.over_wsgi import inside_a_test
from tests.api.routes import PREFIX, all_routes
from tests.factories import make_key, make_person
from tests.house.api_world import ROUTES, STAFF, build
from tests.sizes import PATIENT, sized

pytestmark = [pytest.mark.django_db, PATIENT]

ROOT = Path(__file__).resolve().parents[2]
SCOPES = ["read", "report", "agents:write", "proposals:decide"]
#: No error of ours by mistake, and only documented statuses, media types, headers and shapes.
KEPT = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
EXAMPLES = sized(15, 1000)
CSRF = "a" * 32


def checks():
    assert set(CHECKS.get_all_names()) >= set(KEPT)
    return CHECKS.get_by_names(list(KEPT))


def document():
    return SchemaGenerator().get_schema(request=None, public=True)


def operation_of(path, verb):
    """The operation of the document for a route of the resolver: `agents/<id:pk>` -> `/api/v1/agents/{id}`."""
    parts = [part.split(":")[1].rstrip(">") if part.startswith("<") else None for part in path.split("/")]
    shown = [f"{{{name}}}" if name else part for name, part in zip(parts, path.split("/"), strict=True)]
    return f"/{PREFIX}{'/'.join(shown)}", verb.lower()


def test_the_document_is_valid_and_made_without_a_warning(tmp_path):
    command = [
        "manage.py",
        "spectacular",
        "--validate",
        "--fail-on-warn",
        "--file",
        str(tmp_path / "schema.yml"),
    ]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.test"}
    result = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    assert "Warning" not in result.stderr


@pytest.mark.parametrize("accept", ["application/vnd.oai.openapi", "application/vnd.oai.openapi+json"])
def test_the_served_document_is_the_one_of_the_code(reader, accept):
    answer = reader.get("schema", accept=accept, **{"accept-language": "zh-hans"})
    read = json.loads if accept.endswith("json") else yaml.safe_load
    assert read(answer.content) == json.loads(json.dumps(document(), default=str))


def test_a_query_cannot_break_or_steer_the_document(reader):
    plain = reader.get("schema").content
    for query in ("version=a%0Ab", "version=9", "lang=../../etc", "lang=" + "x" * 3000):
        answer = reader.get(f"schema?{query}")
        assert (answer.status_code, answer.content) == (200, plain)


def test_every_route_is_in_the_document():
    documented = {(path, verb) for path, item in document()["paths"].items() for verb in item}
    hidden = {"schema", "docs"}
    wanted = {
        operation_of(route.path, verb)
        for route in all_routes()
        for verb in route.verbs
        if route.path not in hidden
    }
    named = {(path.replace("{id}", "{pk}"), verb) for path, verb in documented}
    assert named == wanted


def test_every_operation_documents_its_problems():
    for path, item in document()["paths"].items():
        for verb, operation in item.items():
            missing = {"400", "401", "403", "404", "406", "429", "503"} - set(operation["responses"])
            assert not missing, (verb, path)
            assert "application/problem+json" in operation["responses"]["400"]["content"]


@pytest.fixture
def api(acme):
    """The API as schemathesis sees it, through WSGI, with the rows it can hit."""
    key = make_key(acme, scopes=SCOPES)
    schema = schemathesis.openapi.from_wsgi(
        f"/{PREFIX}schema",
        app=inside_a_test,
        headers={"Authorization": f"Bearer {key}", "Accept": "application/vnd.oai.openapi+json"},
    )
    session = Client()
    session.force_login(make_person("root", superuser=True))
    staff = {
        "Cookie": f"sessionid={session.cookies['sessionid'].value}; csrftoken={CSRF}",
        "X-CSRFToken": CSRF,
    }
    return schema, {"Authorization": f"Bearer {key}"}, staff


def test_the_api_keeps_to_its_document_whatever_is_sent(acme, api, subtests):
    schema, with_key, as_staff = api
    parts = build(acme, "fuzzed")
    staff_only = {
        operation_of(path, verb)
        for path, verbs in ROUTES.items()
        for verb, rights in verbs.items()
        if rights.scope == STAFF
    }
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        place = (operation.path.replace("{id}", "{pk}"), operation.method)
        with subtests.test(call=operation.label):
            try_operation(operation, parts, as_staff if place in staff_only else with_key)
        tried += 1
    assert tried == len([verb for item in document()["paths"].values() for verb in item])


def try_operation(operation, parts, headers):
    names = {parameter.name for parameter in operation.path_parameters}
    real = {name: parts["pk" if name == "id" else name] for name in names}
    cases = st.one_of(
        operation.as_strategy(path_parameters=real),
        operation.as_strategy(GenerationMode.NEGATIVE, path_parameters=real),
        operation.as_strategy(),
    )

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def once(case):
        # Whoever calls: not what the generator makes up for these headers.
        case.headers = {
            name: value for name, value in (case.headers or {}).items() if name.lower() not in OURS
        }
        case.cookies = {}
        with transaction.atomic():
            answer = case.call(headers=headers)
            transaction.set_rollback(True)
        case.validate_response(answer, checks=checks())

    once()


OURS = {"authorization", "cookie", "x-csrftoken"}


def test_a_broken_endpoint_is_found(api, monkeypatch):
    """Control: an error inside, and an answer of another shape, both turn the test above red."""
    schema, with_key, _as_staff = api
    operation = schema["/api/v1/me"]["GET"]
    for broken in (_fail, lambda self, request: Response({"a": 1})):
        monkeypatch.setattr(MeView, "get", broken)
        with pytest.raises((Failure, FailureGroup)):
            try_operation(operation, {}, with_key)


def _fail(self, request):
    raise ZeroDivisionError
