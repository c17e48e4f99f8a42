"""What a body must not carry in: rows of others by their id, and fields that no client may set."""

import json

import pytest
from django.apps import apps
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import Agent
from common.api.naming import to_camel
from experiences.models import Experience
from tests.api.routes import all_routes
from tests.factories import ApiClient, make_agent, make_key
from tests.house.api_world import DOCUMENT, ROUTES, body_for, build
from tests.sizes import PATIENT, sized

pytestmark = [pytest.mark.django_db, PATIENT]

SENTINEL = "Schmuggelware-31c4"
NUMBER = 1_987_654_321


def state(agents):
    rows = Experience.objects.filter(agent__in=agents).order_by("agent", "order", "id")
    return [*rows.values_list("agent", "pk", "content", "order", "enabled")], [
        *Agent.objects.filter(pk__in=[agent.pk for agent in agents])
        .order_by("pk")
        .values_list("pk", "name", "version")
    ]


def test_full_syncs_of_own_foreign_and_repeated_ids_keep_to_their_agent(acme, rival):
    """Any mix: either the list is exactly what was asked for, or it is refused and nothing at all has changed."""
    mine, other, foreign = (make_agent(company, rows=["a", "b", "c"]) for company in (acme, acme, rival))
    client = ApiClient(make_key(acme, scopes=["agents:write"]))
    own = list(Experience.objects.of_agent(mine.pk).values_list("pk", flat=True))
    theirs = list(Experience.objects.exclude(agent=mine).values_list("pk", flat=True))
    ids = st.one_of(
        st.none(), st.sampled_from(own), st.sampled_from(own), st.sampled_from(theirs), st.just(10**12)
    )
    item = st.fixed_dictionaries({"id": ids, "content": st.sampled_from(["x", "二", "z" * 300])})

    @settings(
        max_examples=sized(60, 2000),
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(st.lists(item, max_size=6))
    def try_one(rows):
        with transaction.atomic():
            others = state([other, foreign])
            before = state([mine])
            answer = client.put(
                f"agents/{mine.pk}",
                {"name": mine.name, "system_prompt": mine.system_prompt, "experiences": rows},
            )
            named = [row["id"] for row in rows if row["id"] is not None]
            legal = set(named) <= set(own) and len(named) == len(set(named))
            assert answer.status_code == (200 if legal else 400), answer.content.decode()
            assert state([other, foreign]) == others
            if legal:
                contents = list(Experience.objects.of_agent(mine.pk).values_list("content", flat=True))
                assert contents == [row["content"] for row in rows]
            else:
                assert answer.json()["code"] == "AGENT_EXPERIENCE_ID_INVALID"
                assert state([mine]) == before
            transaction.set_rollback(True)

    try_one()


def fields_of_all_models():
    """Every column of every table of ours, by name and by attribute (`agent`, `agent_id`)."""
    names = set()
    for model in apps.get_models():
        if model.__module__.split(".")[0] in ("agents", "experiences", "common", "evolution", "prompt"):
            for field in model._meta.concrete_fields:
                names |= {field.name, field.attname}
    return sorted(names)


#: What a client may set by these very names; all else is ignored.
WRITABLE = {
    *("name", "system_prompt", "description", "language", "enabled", "is_default", "tags", "skill_names"),
    *(
        "inject_session_recaps",
        "introspection_enabled",
        "message",
        "experiences",
        "content",
        "path",
        "text",
        "note",
    ),
    *(
        "agent",
        "items",
        "title",
        "rationale",
        "kind",
        "user_id",
        "conversation_id",
        "cited_lessons",
        "reason",
    ),
    *("confirmation", "decided_by", "shown_hash", "context", "task", "phase", "type", "operation", "target"),
    *("new_text", "new_target", "conflict_choice", "rejection_reason", "id", "answers", "choice"),
    "idempotency_key",
}


def smuggled(body):
    """The body with every other field of every table added, in both spellings, inside its rows too."""
    extra = {}
    for name in fields_of_all_models():
        if name not in WRITABLE:
            value = NUMBER if name.endswith(("_id", "version", "number", "order", "count")) else SENTINEL
            extra |= {name: value, to_camel(name): value}
    extra |= {"sort_order": 0} if "order" in extra else {}
    full = {**extra, **body}
    for name in ("experiences", "items"):
        if isinstance(body.get(name), list):
            full[name] = [{**extra, **row} for row in body[name]]
    return full


def stored(dump):
    return [word for word in (SENTINEL, str(NUMBER)) if word in dump]


WRITES = [(route, verb) for route in all_routes() for verb in route.verbs if verb in ("POST", "PUT", "PATCH")]


def test_no_write_takes_a_field_that_is_not_its_own(acme, signed_in, chief, subtests, database_dump):
    parts = build(acme, "victim")
    session = signed_in(chief)
    for route, verb in WRITES:
        with subtests.test(call=f"{verb} {route}"), transaction.atomic():
            body = body_for(verb, route.path, parts)
            if verb == "PUT" and "experiences" in body:
                body = {**body, "experiences": [{"content": "new"}]}
            url = route.url(**{name: value for name, value in parts.items() if f":{name}>" in route.path})
            answer = session.generic(
                verb, f"{url}?company=acme", json.dumps(smuggled(body)), "application/json"
            )
            assert answer.status_code < 500, answer.content.decode()
            assert stored(database_dump()) == []
            transaction.set_rollback(True)


def test_the_search_finds_what_a_write_does_take(writer, acme, database_dump):
    """Control: the sentinel in a field that may be set is found."""
    agent = make_agent(acme)
    writer.patch(f"agents/{agent.pk}", {"description": SENTINEL})
    assert stored(database_dump()) == [SENTINEL]
    assert DOCUMENT in ROUTES


def test_version_company_and_owner_are_the_servers(writer, acme, rival, chief):
    sent = {
        "name": "a",
        "system_prompt": "x",
        "company": "rival",
        "company_id": rival.pk,
        "owner": chief.username,
        "owner_id": chief.pk,
        "version": 40,
        "deleted_at": "2026-01-01T00:00:00Z",
        "created_at": "2001-01-01T00:00:00Z",
        "name_key": "b",
    }
    body = writer.post("agents", sent).json()
    agent = Agent.objects.get(pk=body["id"])
    assert (agent.company, agent.owner, agent.version, agent.deleted_at, agent.name_key) == (
        acme,
        None,
        1,
        None,
        "a",
    )
    assert agent.created_at.year > 2001
