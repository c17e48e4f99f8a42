"""The forms of a lesson: the whole page, and the short one of the drafts desk. The services judge and write."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldBooleanSwitchWidget

from agents.admin.fields import BodyText, CodesField, LinesField, OneLine
from agents.admin.held import VersionedForm
from agents.selectors import get_agent
from common.companies.models import Company
from common.text import show_hidden
from evolution.lessons.admin.figures import DayInput
from evolution.lessons.admin.shown import PARTS, WORDS
from evolution.lessons.models import Lesson
from evolution.lessons.rules.kinds import MAX_PART, MAX_TAKEAWAY, Category, LessonType, Severity

_CHECK_RE = re.compile(r"(?:[-*+]\s+)?(?:\[(?P<box>[ xX])\]\s*)?(?P<text>.*)", re.DOTALL)
#: What the service takes under the name of the field.
SAME = (
    *("title", "type", "severity", "category", "date", "trigger", "tags", "related_files", *PARTS),
    *("checklist", "related", "supersedes", "references", "signal", "model", "config_hash"),
)


class ChecklistField(LinesField):
    """Items, one a line; `[x]` in front of what is done."""

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return "\n".join(f"[{'x' if item['done'] else ' '}] {item['text']}" for item in value)

    def to_python(self, value: Any) -> Any:
        lines = (_CHECK_RE.fullmatch(line) for line in super().to_python(value))
        found = ((line["text"].strip(), line["box"] in ("x", "X")) for line in lines if line)
        return [{"text": text, "done": done} for text, done in found if text]

    def has_changed(self, initial: Any, data: Any) -> bool:
        stored = [{"text": item["text"], "done": bool(item["done"])} for item in initial or []]
        return bool(stored != self.to_python(data))


class Word(forms.ChoiceField):
    """One of the listed words; what an import kept as it was written may stay."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(choices=list(WORDS[name].items()), widget=UnfoldAdminSelectWidget, **options)

    def allow(self, word: str) -> None:
        if word and not self.valid_value(word):
            self.choices = [*self.choices, (word, show_hidden(word))]


def _part(name: str, rows: int = 3) -> BodyText:
    limit = MAX_TAKEAWAY if name == "takeaway" else MAX_PART
    return BodyText(limit=limit, rows=rows, label=PARTS[name], required=False)


class DeskForm(VersionedForm):
    """What a captured draft usually lacks."""

    title = OneLine(label=_("Title"))
    type = Word("type", label=capfirst(_("type")), initial=LessonType.BUG_FIX.value)
    severity = Word("severity", label=capfirst(_("severity")), initial=Severity.MEDIUM.value)
    category = Word("category", label=capfirst(_("category")), initial=Category.PRACTICE.value)
    what = _part("what")
    when = _part("when")
    how = _part("how")
    takeaway = _part("takeaway", rows=2)
    checklist = ChecklistField(
        label=_("Checklist"),
        rows=4,
        help_text=_("One a line, at least three before it can be confirmed; [x] in front of what is done."),
    )
    tags = LinesField(label=_("Tags"), rows=2, help_text=_("One a line; at most 20 of 40 characters."))

    class Meta:
        model = Lesson
        fields: tuple[str, ...] = (
            *("title", "type", "severity", "category", "what", "when", "how", "takeaway"),
            *("checklist", "tags"),
        )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        fields: Any = self.fields
        for name in WORDS:
            if name in fields:
                fields[name].allow(getattr(self.instance, name))

    def opened_version(self) -> int:
        return self.instance.version

    def changes(self) -> dict[str, Any]:
        """The values to store: all of a new lesson, else only those that were changed."""
        wanted = self.fields if self.is_new else self.changed_data
        return {name: self.cleaned_data[name] for name in SAME if name in wanted}


class LessonForm(DeskForm):
    """All that a person may change of a lesson."""

    date = forms.DateField(label=capfirst(_("date")), widget=DayInput)
    trigger = OneLine(
        label=capfirst(_("trigger")), help_text=_("The task or the commit in which it came up.")
    )
    related_files = LinesField(
        label=capfirst(_("related files")),
        rows=4,
        help_text=_("One path a line; a folder ends with /. At most 200."),
    )
    references = LinesField(
        label=capfirst(_("references")), rows=2, help_text=_("One a line: #12, or an address.")
    )
    related = CodesField(
        fold=str.upper, label=capfirst(_("related lessons")), help_text=_("Codes, such as EXP-001, EXP-014.")
    )
    supersedes = CodesField(
        fold=str.upper,
        label=capfirst(_("supersedes")),
        help_text=_("The code of the lesson that this one takes the place of."),
    )
    expires_on = forms.DateField(label=capfirst(_("expires")), required=False, widget=DayInput)
    expires_auto = forms.BooleanField(
        label=capfirst(_("by the rule")),
        required=False,
        initial=True,
        widget=UnfoldBooleanSwitchWidget,
        help_text=_("180 days after the date for practice, 365 for incidents, never for rules."),
    )
    signal = Word("signal", label=capfirst(_("signal")), required=False)
    model = OneLine(label=capfirst(_("model")))
    config_hash = OneLine(label=capfirst(_("configuration hash")))

    class Meta(DeskForm.Meta):
        fields = (
            *DeskForm.Meta.fields,
            *("company", "agent", "date", "trigger", "related_files", "references", "expires_on"),
            *("rule_experience", "rule_document", "signal", "model", "config_hash"),
        )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        fields: Any = self.fields
        if "signal" in fields:
            fields["signal"].choices = [("", "–"), *fields["signal"].choices]
        if self.is_new:
            self.initial.setdefault("date", timezone.localdate())
            return
        lesson = self.instance
        self.initial["related"] = [other.code for other in lesson.related.all()]
        self.initial["supersedes"] = [lesson.supersedes.code] if lesson.supersedes else []
        self.initial["expires_auto"] = not lesson.expires_manual

    def changes(self) -> dict[str, Any]:
        changes = super().changes()
        if "supersedes" in changes:
            # More than one is no code, and the rules say so.
            changes["supersedes"] = ", ".join(changes["supersedes"]) or None
        wanted = self.changed_data
        for name in ("rule_experience", "rule_document"):
            if name in wanted:
                row = self.cleaned_data[name]
                changes[name] = row.pk if row else None
        return changes | self._expiry(wanted)

    def _expiry(self, wanted: list[str]) -> dict[str, Any]:
        """A day that was typed counts; else the rule, if it was switched on again."""
        day: date | None = self.cleaned_data["expires_on"]
        by_rule = self.cleaned_data["expires_auto"]
        if not {"expires_on", "expires_auto"} & set(wanted):
            return {}
        if by_rule and (day is None or "expires_on" not in wanted):
            return {"expires_manual": False}
        return {"expires_on": day}

    def agent_for(self, company: Company) -> Any:
        """The chosen agent as the company sees it; None for all agents. Errors: AGENT_NOT_FOUND."""
        agent = self.cleaned_data["agent"]
        return get_agent(company, agent.pk) if agent else None
