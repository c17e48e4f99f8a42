"""The container files cannot be built here: they parse, hold no secret, and name documented variables."""

import http.server
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
SECRET_NAME = re.compile(r"SECRET|PASSWORD|PEPPER|TOKEN|PRIVATE")
#: Read by the database's own image, not by Fieldbook.
OF_THE_DATABASE_IMAGE = {"POSTGRES_DB", "POSTGRES_USER", "POSTGRES_PASSWORD"}


def services():
    return yaml.safe_load(COMPOSE)["services"]


def secret_defaults(compose):
    """Names of secrets that have a default (${API_TOKEN:-x}) or a bare value."""
    with_default = re.findall(r"\$\{(\w+):?-([^}]+)\}", compose)
    bare = re.findall(r"^\s*(\w+):\s*(?!\s*\$\{)(\S.*)$", compose, re.MULTILINE)
    return sorted({name for name, _ in [*with_default, *bare] if SECRET_NAME.search(name)})


def variables():
    named = set(re.findall(r"\$\{(\w+)", COMPOSE))
    for service in services().values():
        named |= set(service.get("environment", {}))
    return named - OF_THE_DATABASE_IMAGE


def test_compose_names_the_five_services_and_the_migration():
    assert set(services()) == {"web", "worker", "beat", "postgres", "redis", "migrate"}


def test_everything_waits_for_the_migration():
    for name in ("web", "worker", "beat"):
        condition = services()[name]["depends_on"]["migrate"]["condition"]
        assert condition == "service_completed_successfully", name


def test_only_the_web_server_is_reachable_and_only_from_this_host():
    ports = {name: service.get("ports") for name, service in services().items() if service.get("ports")}
    assert ports == {"web": ["127.0.0.1:8000:8000"]}


def test_the_application_does_not_connect_as_the_owner_of_the_tables():
    urls = {
        name: service.get("environment", {}).get("DATABASE_URL", "") for name, service in services().items()
    }
    assert "fieldbook_owner" in urls["migrate"]
    for name in ("web", "worker", "beat"):
        assert "fieldbook_app" in urls[name], name


def test_no_secret_has_a_default():
    assert secret_defaults(COMPOSE) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("SECRET_KEY: ${SECRET_KEY:-changeme}", ["SECRET_KEY"]),
        ("      POSTGRES_PASSWORD: postgres", ["POSTGRES_PASSWORD"]),
        ("API_KEY_PEPPER: ${API_KEY_PEPPER:?needed}", []),
        ("FIELDBOOK_ADMIN_PASSWORD: ${FIELDBOOK_ADMIN_PASSWORD:-}", []),
        ("TIME_ZONE: ${TIME_ZONE:-Asia/Shanghai}", []),
    ],
)
def test_the_search_for_secrets_finds_a_default(line, expected):
    assert secret_defaults(line) == expected


def test_every_variable_of_the_container_files_is_documented():
    of_the_image = set(re.findall(r"\b([A-Z][A-Z_]{3,})=", DOCKERFILE)) - {
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
    }
    missing = {name for name in variables() | of_the_image if f"`{name}`" not in OPERATIONS}
    assert missing == set()


def test_the_image_runs_as_an_ordinary_user_from_locked_dependencies():
    instructions = [line.split()[0] for line in DOCKERFILE.splitlines() if line[:1].isupper()]
    assert instructions[0] == "FROM"
    assert instructions.index("USER") > instructions.index("RUN")
    assert "HEALTHCHECK" in instructions
    assert "--require-hashes -r requirements.txt" in DOCKERFILE


def test_the_image_takes_no_secret_and_no_data_with_it():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".env", "var", ".venv"} <= set(ignored)


class Answer(http.server.BaseHTTPRequestHandler):
    asked: list[tuple[str, str]] = []
    status = 200

    def do_GET(self):
        self.asked.append((self.path, self.headers["Host"]))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (400, 1)])
def test_the_health_check_asks_under_an_allowed_name(status, code):
    handler = type("Handler", (Answer,), {"asked": [], "status": status})
    with http.server.HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        environment = {
            **os.environ,
            "ALLOWED_HOSTS": ".fieldbook.example,other.example",
            "WEB_BIND": f"0.0.0.0:{server.server_port}",
        }
        result = subprocess.run([sys.executable, "bin/healthcheck"], cwd=ROOT, env=environment, check=False)
    assert result.returncode == code
    assert handler.asked == [("/healthz", "fieldbook.example")]


def test_the_health_check_fails_when_nothing_answers():
    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        port = server.server_port
    environment = {**os.environ, "WEB_BIND": f"127.0.0.1:{port}"}
    result = subprocess.run(
        [sys.executable, "bin/healthcheck"], cwd=ROOT, env=environment, capture_output=True
    )
    assert result.returncode == 1


def test_every_variable_that_the_settings_read_is_documented():
    files = [*(ROOT / "config").rglob("*.py"), ROOT / "gunicorn.conf.py"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    read = set(re.findall(r"(?:\benv\.\w+|environ\.get)\(\s*\"([A-Z][A-Z_]+)\"", source))
    assert {"DATABASE_URL", "WEB_BIND"} <= read, "the search is broken"
    assert {name for name in read if f"`{name}`" not in OPERATIONS} == set()
