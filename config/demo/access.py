"""What a person at the terminal needs to get in: address, logins, a key that works."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model

from agents.selectors import agents_readable_from
from common.companies.choices import Scope
from common.companies.models import ApiKey, Company
from common.companies.selectors import key_by_text
from common.companies.services import issue_api_key, revoke_api_key
from common.file_writing import write_text
from config.demo.content import PEOPLE, YUNLING
from config.demo.seeding import ACTOR

KEY_NAME = "Demo"


@dataclass(frozen=True)
class Access:
    """`logins` are (name, role or superuser) of demo people who still have the demo password."""

    logins: list[tuple[str, str]]
    key: str
    prompt_path: str


def access(*, password: str, now: datetime) -> Access:
    """The ways in that work now; `key` and `prompt_path` are empty when the demo company is gone."""
    company = Company.objects.enabled().filter(slug=YUNLING).first()
    if company is None:
        return Access(_logins(password), "", "")
    agents = agents_readable_from(company).filter(company=company, enabled=True)
    agent = agents.filter(experiences__enabled=True).order_by("pk").first()
    path = f"/api/v1/agents/{agent.pk}/prompt" if agent else ""
    return Access(_logins(password), demo_key(company=company, now=now), path)


def key_file() -> Path:
    """Where the demo key is kept, readable by its owner only: a key's text cannot be had from the database."""
    return Path(settings.VAR_DIR) / "demo-key"


def demo_key(*, company: Company, now: datetime) -> str:
    """The demo key, which reads only. A lost or revoked one is replaced; only the embedded profile keeps its text."""
    kept = settings.PROFILE != "production"
    text = key_file().read_text(encoding="utf-8").strip() if kept and key_file().is_file() else ""
    known = key_by_text(text, now)
    if known is not None and known.company_id == company.pk:
        return text
    for old in ApiKey.objects.live(now).filter(company=company, name=KEY_NAME, created_by=ACTOR.name):
        revoke_api_key(key_id=old.pk, actor=ACTOR, now=now)
    _key, text = issue_api_key(
        company=company, name=KEY_NAME, scopes=[Scope.READ.value], actor=ACTOR, now=now
    )
    if kept:
        write_text(key_file(), f"{text}\n", overwrite=True)
    return text


def _logins(password: str) -> list[tuple[str, str]]:
    people = {person.username: person for person in get_user_model().objects.filter(is_active=True)}
    return [
        (wanted.username, wanted.role or "superuser")
        for wanted in PEOPLE
        if wanted.username in people and people[wanted.username].check_password(password)
    ]
