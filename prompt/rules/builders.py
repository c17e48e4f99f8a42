"""How each section comes from the data: one function a section, all pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from agents.rules.paths import path_key, path_matches, user_of
from common.errors import ApplicationError
from common.front_matter import split_front_matter
from common.text import contained, is_blank, name_key
from prompt.budget import embedded, fitted
from prompt.rules.values import Built, DocumentText, Given, Note, Precision, Row

PROFILE_CHARS = 2000
MEMORY_CHARS = 3000
_WEEKDAYS = (
    ("星期一", "Monday"),
    ("星期二", "Tuesday"),
    ("星期三", "Wednesday"),
    ("星期四", "Thursday"),
    ("星期五", "Friday"),
    ("星期六", "Saturday"),
    ("星期日", "Sunday"),
)


def role(given: Given) -> Built:
    """The role definition verbatim, or what replaces it; behind the role the summary of the main task."""
    request = given.request
    if request.overrides_role:
        return Built(request.system_prompt_override)
    text = given.data.role.rstrip("\n")
    if is_blank(request.main_task_summary):
        return Built(text)
    label = given.in_language("主任务背景摘要：", "Main task summary: ")
    return Built(f"{text}\n\n{label}{contained(request.main_task_summary)}")


def experiences(given: Given) -> Built:
    """The enabled rows in order, a bullet each."""
    rows: tuple[Row, ...] = given.loaded("experiences")
    bullets = [(row.id, text) for row in rows if (text := contained(row.content))]
    return Built("\n".join(f"- {text}" for _id, text in bullets), tuple(row_id for row_id, _text in bullets))


def principles(given: Given) -> Built:
    """The whole of `principles.md`: what an agent must not do is never shortened."""
    return _document(given, "principles.md")


def user_preferences(given: Given) -> Built:
    """This user's `profile.md`, within its budget."""
    found = next((document for document, rest in _of_user(given) if path_key(rest) == "profile.md"), None)
    if found is None:
        return Built()
    whole = embedded(found.text)
    text = fitted(whole, PROFILE_CHARS)
    return Built(text, (found.id,), shortened=text != whole)


def long_term_memory(given: Given) -> Built:
    """`memory/*.md` of the agent, then of this user with this agent, by path, within one budget."""
    own = f"agents/{given.data.agent_id}/memory/*.md"
    body = [document for document in _body(given) if path_matches("memory/*.md", document.path)]
    users = [document for document, rest in _of_user(given) if path_matches(own, rest)]
    pieces = [(document.id, text) for document in (*body, *users) if (text := embedded(document.text))]
    whole = "\n\n".join(text for _id, text in pieces)
    text = fitted(whole, MEMORY_CHARS)
    ids, start = [], 0
    for document_id, piece in pieces:
        if start < len(text):
            ids.append(document_id)
        start += len(piece) + 2
    return Built(text, tuple(ids), shortened=text != whole)


def relevant_knowledge(given: Given) -> Built:
    """What was learnt for such a task, the best first."""
    return _bullets(given.loaded("injection").use)


def avoid(given: Given) -> Built:
    """Knowledge that warns, then what high-severity lessons taught."""
    return _bullets((*given.loaded("injection").avoid, *given.loaded("lessons").avoid))


def environment(given: Given) -> Built:
    """Who the agent is and for whom it works, then the pairs of the request; always there."""
    pairs = [
        (given.in_language("智能体", "Agent"), given.data.agent_name),
        (given.in_language("公司", "Company"), given.data.company_slug),
        *given.request.environment,
    ]
    return Built("\n".join(f"- {contained(key)}: {contained(value)}".rstrip() for key, value in pairs))


def current_time(given: Given) -> Built:
    """The local date, on request with the minute."""
    local = given.now.astimezone(ZoneInfo(given.data.time_zone))
    weekday = given.in_language(*_WEEKDAYS[local.weekday()])
    minute = f" {local:%H:%M}" if given.request.time_precision == Precision.MINUTE else ""
    return Built(f"{local.date().isoformat()} {weekday}{minute} ({given.data.time_zone})")


def tool_guidance(given: Given) -> Built:
    return _requested(given.request.tools_guidance) or _document(given, "guidance/tools.md")


def task_management(given: Given) -> Built:
    return _requested(given.request.task_management) or _document(given, "guidance/tasks.md")


def delegation(given: Given) -> Built:
    return _requested(given.request.delegation) or _document(given, "guidance/delegation.md")


def skills(given: Given) -> Built:
    """Name and description of each skill that is switched on, limited to the agent's list when it has one."""
    wanted = {name_key(name) for name in given.data.skill_names}
    ids, lines = [], []
    for document in _body(given):
        if not path_matches("skills/*/SKILL.md", document.path):
            continue
        folder = document.path.split("/")[1]
        meta = _front_matter(document.text)
        name = _word(meta.get("name")) or folder
        if _word(meta.get("status")).casefold() == "disabled":
            continue
        if wanted and wanted.isdisjoint({name_key(name), name_key(folder)}):
            continue
        description = contained(_word(meta.get("description")))
        ids.append(document.id)
        lines.append(f"- {contained(name)}: {description}" if description else f"- {contained(name)}")
    return Built("\n".join(lines), tuple(ids))


def _bullets(notes: Sequence[Note]) -> Built:
    lines = [(note.id, text) for note in notes if (text := contained(note.text))]
    return Built("\n".join(f"- {text}" for _id, text in lines), tuple(note_id for note_id, _text in lines))


def _requested(markdown: str) -> Built | None:
    """What the request sends in place of a stored document, or None."""
    text = embedded(markdown)
    return Built(text) if text else None


def _document(given: Given, key: str) -> Built:
    found = next((document for document in _body(given) if path_key(document.path) == key), None)
    return Built() if found is None else Built(embedded(found.text), (found.id,))


def _body(given: Given) -> Iterator[DocumentText]:
    """The documents of the shared body, by path (code points: two databases sort differently)."""
    documents: tuple[DocumentText, ...] = given.loaded("documents")
    body = (document for document in documents if user_of(document.path) is None)
    yield from sorted(body, key=lambda document: document.path)


def _of_user(given: Given) -> Iterator[tuple[DocumentText, str]]:
    """This user's documents by path, with the path below `users/<id>/`; the case of the id counts."""
    documents: tuple[DocumentText, ...] = given.loaded("documents")
    if given.request.user_id is None:
        return
    own = (document for document in documents if user_of(document.path) == given.request.user_id)
    for document in sorted(own, key=lambda document: document.path):
        yield document, document.path.split("/", 2)[2]


def _front_matter(text: str) -> dict[str, Any]:
    try:
        return split_front_matter(text).meta
    except ApplicationError:
        # Too large to be one: the folder's name still tells that the skill exists.
        return {}


def _word(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int | float) else ""
