"""A lesson as the pages show it: escaped, hidden characters marked, states, warnings and gaps in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.admin.links import address
from common.admin import visible
from common.text import is_blank, show_hidden
from evolution.lessons.choices import Category, LessonType, Severity, Signal, Status
from evolution.lessons.models import Lesson
from evolution.lessons.rules.lifecycle import completeness_faults
from evolution.lessons.services.records import shown_successor
from evolution.lessons.services.storing import completeness_of

STATUS_COLOURS = {
    Status.DRAFT: "info",
    Status.ACTIVE: "success",
    Status.SUPERSEDED: "warning",
    Status.ARCHIVED: "warning",
    Status.REJECTED: "danger",
    "quarantined": "danger",
}
SEVERITY_COLOURS = {Severity.LOW: "success", Severity.MEDIUM: "warning", Severity.HIGH: "danger"}
#: Words of the fields; an imported lesson may have others, which are shown as they were written.
WORDS: dict[str, dict[str, Any]] = {
    "type": dict(LessonType.choices),
    "severity": dict(Severity.choices),
    "category": dict(Category.choices),
    "signal": dict(Signal.choices),
}
PARTS = {
    "what": _("What went wrong"),
    "when": _("What set it off"),
    "how": _("How it was put right"),
    "takeaway": _("Takeaway"),
}
LABELS = {**PARTS, "checklist": _("Checklist"), "rule_experience": _("Rule")}
#: The fields that a warning of an import or a capture names.
NAMES = {
    **LABELS,
    "title": _("Title"),
    "type": _("type"),
    "severity": _("severity"),
    "category": _("category"),
    "status": _("status"),
    "date": _("date"),
    "expires": _("expires"),
    "tag": _("tag"),
    "tags": _("tags"),
    "trigger": _("trigger"),
    "related_files": _("related files"),
    "key_lesson": _("Takeaway"),
    "supersedes": _("supersedes"),
    "superseded_by": _("superseded by"),
}
_WARNINGS = {
    "missing": _("%(name)s: the file did not say it"),
    "invalid": _("%(name)s: what the file said was not understood"),
    "unknown": _("%(name)s: “%(value)s” is no word of the list"),
    "cut": _("%(name)s: too long, and cut"),
    "not_linked": _("%(name)s: %(value)s could not be linked"),
}
_PLAIN_WARNINGS = {
    "body_cut": _("The commit message is very long; only its beginning was read"),
    "incident": _("It reads like an incident: is the category right?"),
}
#: Files that are shown at once; the rest is behind a click.
SHOWN_FILES = 12
_HIDDEN_IN = ("title", "trigger", *PARTS)


def word(lesson: Lesson, name: str) -> Any:
    """The label of a field whose words are listed; an unlisted word as it is."""
    value = getattr(lesson, name)
    return WORDS[name].get(value) or visible(value)


def warning_text(code: str) -> Any:
    """What was missing or odd, in plain words; an unknown code as it is."""
    kind, _colon, rest = code.partition(":")
    name, _colon, value = rest.partition(":")
    if kind == "files_left_out":
        return _("%(count)s further files were changed and are not listed") % {"count": rest}
    if kind in _WARNINGS and name in NAMES:
        return _WARNINGS[kind] % {"name": NAMES[name], "value": show_hidden(value)}
    return _PLAIN_WARNINGS.get(code) or show_hidden(code)


def missing_parts(lesson: Lesson) -> list[tuple[Any, Any]]:
    """(part, what to do) of each thing that is needed before the lesson can be active."""
    faults = completeness_faults(completeness_of(lesson))
    return [(LABELS[fault.pointer[1:]], fault.detail) for fault in faults]


def page_link(lesson: Lesson) -> SafeString:
    """Code and title, leading to the page."""
    url = address("admin:lessons_lesson_change", lesson.pk)
    link = '<a class="fieldbook-link" href="{}">{}</a> {}'
    return format_html(link, url, lesson.code, visible(lesson.title))


@dataclass
class ShownLesson:
    """One lesson for a template; `may_*` say what the person in front of it may do."""

    lesson: Lesson
    may_decide: bool = False
    may_edit: bool = False
    #: (what to do, address) of the ways to name the rule that a RULE-EXP lacks.
    rule_ways: Sequence[tuple[Any, str]] = ()

    @property
    def url(self) -> str:
        return address("admin:lessons_lesson_change", self.lesson.pk)

    @property
    def title(self) -> SafeString:
        return visible(self.lesson.title)

    @property
    def severity(self) -> Any:
        return word(self.lesson, "severity")

    @property
    def agent(self) -> SafeString | Any:
        agent = self.lesson.agent
        if agent is None:
            return _("all agents of the company")
        url = address("admin:agents_agent_change", agent.pk)
        return format_html('<a class="fieldbook-link" href="{}#lessons">{}</a>', url, visible(agent.name))

    @property
    def parts(self) -> list[tuple[Any, SafeString | str]]:
        """(title, text) of the four parts; an empty text where nothing was written."""
        texts = ((title, getattr(self.lesson, name)) for name, title in PARTS.items())
        return [(title, "" if is_blank(text) else visible(text)) for title, text in texts]

    @property
    def checks(self) -> list[tuple[bool, SafeString]]:
        return [(item["done"], visible(item["text"])) for item in self.lesson.checklist]

    @property
    def tags(self) -> list[SafeString]:
        return [visible(tag) for tag in self.lesson.tags]

    @property
    def files(self) -> list[SafeString]:
        return [visible(path) for path in self.lesson.related_files[:SHOWN_FILES]]

    @property
    def more_files(self) -> list[SafeString]:
        return [visible(path) for path in self.lesson.related_files[SHOWN_FILES:]]

    @property
    def references(self) -> list[SafeString]:
        return [visible(reference) for reference in self.lesson.references]

    @cached_property
    def missing(self) -> list[tuple[Any, Any]]:
        return missing_parts(self.lesson)

    @property
    def is_draft(self) -> bool:
        return self.lesson.status == Status.DRAFT

    @property
    def lacks_only_rule(self) -> bool:
        """Whether nothing is left to type: only the rule has to be named."""
        return bool(self.rule_ways) and len(self.missing) == 1

    @property
    def can_confirm(self) -> bool:
        return self.is_draft and self.may_decide and not self.missing

    @property
    def can_edit(self) -> bool:
        return self.may_edit and self.lesson.status != Status.REJECTED

    @property
    def warnings(self) -> list[Any]:
        return [warning_text(str(code)) for code in self.lesson.warnings]

    @property
    def redactions(self) -> list[tuple[str, int]]:
        """(kind, how often) of what was taken out before it was stored."""
        return sorted(self.lesson.redactions.items())

    @property
    def hidden(self) -> list[tuple[Any, SafeString]]:
        """Texts with characters that show nothing, with these marked: a box for typing cannot mark them."""
        lesson = self.lesson
        names = {**NAMES, "checklist": LABELS["checklist"]}
        texts = [(names[name], getattr(lesson, name)) for name in _HIDDEN_IN]
        lists = (("tags", lesson.tags), ("related_files", lesson.related_files))
        texts += [(names[name], text) for name, entries in lists for text in entries]
        texts += [(names["checklist"], item["text"]) for item in lesson.checklist]
        return [(name, visible(text)) for name, text in texts if show_hidden(text) != text]

    @cached_property
    def facts(self) -> list[tuple[Any, Any]]:
        """(name, value) of what it is and where it comes from, without what is empty."""
        lesson = self.lesson
        facts: list[tuple[Any, Any]] = [
            (_("agent"), self.agent),
            (_("type"), word(lesson, "type")),
            (_("category"), word(lesson, "category")),
            (_("date"), lesson.date),
            (_("expires"), lesson.expires_on or _("never")),
            (_("source"), lesson.get_source_display()),
            (_("reported by"), visible(lesson.created_by)),
            (_("trigger"), visible(lesson.trigger)),
            (_("repository"), visible(lesson.repository.name) if lesson.repository else ""),
            (_("commit"), _sha(lesson.sha)),
            (_("subject of the commit"), visible(lesson.subject)),
            (_("reverted commit"), _sha(lesson.reverts_sha)),
            (_("confidence of the capture"), _percent(lesson.capture_confidence)),
            (_("signal"), word(lesson, "signal") if lesson.signal else ""),
            (_("model"), visible(lesson.model)),
            (_("configuration hash"), visible(lesson.config_hash)),
        ]
        return [(name, value) for name, value in facts if value]

    @cached_property
    def links(self) -> list[tuple[Any, list[Any]]]:
        """(how, lessons and rules) that it is linked with; of lessons that are not there the code."""
        lesson = self.lesson
        successor = shown_successor(lesson)
        newer = getattr(lesson, "superseded_by", None)
        by: list[Any] = []
        if newer is not None:
            waits = newer.status in (Status.DRAFT, Status.REJECTED)
            by = [
                format_html("{} ({})", page_link(newer), _("once confirmed")) if waits else page_link(newer)
            ]
        elif successor:
            by = [f"EXP-{successor:03d}"]
        links = [
            (_("supersedes"), [page_link(lesson.supersedes)] if lesson.supersedes else []),
            (_("superseded by"), by),
            (_("related lessons"), [page_link(other) for other in lesson.related.all()]),
            (_("Rule"), list(self._rules())),
        ]
        return [(name, entries) for name, entries in links if entries]

    def _rules(self) -> Iterable[SafeString]:
        link = '<a class="fieldbook-link" href="{}">{}</a>'
        if self.lesson.rule_experience:
            row = self.lesson.rule_experience
            url = address("admin:experiences_experience_change", row.pk)
            yield format_html(link, url, visible(row.content))
        if self.lesson.rule_document:
            document = self.lesson.rule_document
            url = address("admin:agents_document_change", document.pk)
            yield format_html(link, url, visible(document.path))


def _sha(sha: str) -> SafeString | str:
    return format_html("<code>{}</code>", visible(sha)) if sha else ""


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"
