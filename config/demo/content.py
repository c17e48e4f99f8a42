"""What the demo data say: the companies and people, and the agents as the files below tell them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.importers.experiences import read_experiences_markdown
from common.choices import GLOBAL_SLUG
from common.front_matter import split_front_matter

FOLDER = Path(__file__).resolve().parent / "files"

YUNLING, HARBOR = "yunling", "harbor"
COMPANIES = {YUNLING: "云岭科技", HARBOR: "Harborlight Logistics"}


@dataclass(frozen=True)
class DemoPerson:
    """Somebody who signs in; without a role a superuser."""

    username: str
    name: str
    role: str = ""
    companies: tuple[str, ...] = ()


PEOPLE = (
    DemoPerson("admin", "Admin"),
    DemoPerson("administrator", "沈管理", "Administrator", (YUNLING, HARBOR)),
    DemoPerson("editor", "李编辑", "Editor", (YUNLING, HARBOR)),
    DemoPerson("approver", "王审批", "Approver", (YUNLING, HARBOR)),
    DemoPerson("viewer", "Vera Viewer", "Viewer", (HARBOR,)),
)
#: Whose edits and agents the demo shows.
EDITOR, OWNER = "editor", "administrator"
#: Who decides about the demo's proposals.
APPROVER = "approver"


@dataclass(frozen=True)
class DemoAgent:
    """One agent; `rows` are (content, enabled) in order, `documents` (path, text)."""

    company: str
    fields: dict[str, Any]
    rows: tuple[tuple[str, bool], ...]
    documents: tuple[tuple[str, str], ...]


def demo_agents() -> list[DemoAgent]:
    """The agents of `files/`: the shared ones first, then the companies'."""
    slugs = (GLOBAL_SLUG, *COMPANIES)
    return [_agent(slug, folder) for slug in slugs for folder in sorted((FOLDER / slug).iterdir())]


def _agent(slug: str, folder: Path) -> DemoAgent:
    role = split_front_matter((folder / "role.md").read_text(encoding="utf-8"))
    rows = read_experiences_markdown((folder / "experiences.md").read_text(encoding="utf-8")).rows
    documents = folder / "documents"
    return DemoAgent(
        company=slug,
        fields={
            "name": role.meta["name"],
            "description": role.meta["description"],
            "language": role.meta["language"],
            "tags": role.meta["tags"],
            "is_default": role.meta.get("default", False),
            "system_prompt": role.body,
        },
        rows=tuple((row.content, row.enabled) for row in rows),
        documents=tuple(
            (path.relative_to(documents).as_posix(), path.read_text(encoding="utf-8"))
            for path in sorted(documents.rglob("*"))
            if path.is_file()
        ),
    )
