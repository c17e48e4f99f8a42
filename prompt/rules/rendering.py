"""The prompt itself. docs/rules.md: prompt order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from common.text import is_blank
from prompt.rules.values import (
    FAILED_WARNING,
    Given,
    PromptData,
    PromptRequest,
    Reason,
    Rendered,
    RenderedSection,
    Section,
)
from prompt.sections import SECTIONS


def render(
    data: PromptData, request: PromptRequest, now: datetime, sections: Sequence[Section] = SECTIONS
) -> Rendered:
    """The sections in their order, joined by one blank line; the text ends in one newline.

    An optional section that cannot be built is left out and named in `warnings`; of a required one the error
    is raised. A section without content leaves no heading.
    """
    given = Given(data, request, now)
    shown: list[RenderedSection] = []
    left_out: list[tuple[str, Reason]] = []
    failures: list[tuple[str, Exception]] = []
    for section in sections:
        hidden = section.hidden_by(request)
        if hidden is not None:
            left_out.append((section.key, hidden))
            continue
        try:
            built = section.build(given)
        except Exception as error:
            if not section.optional:
                raise
            failures.append((section.key, error))
            left_out.append((section.key, Reason.FAILED))
            continue
        if is_blank(built.text):
            left_out.append((section.key, Reason.NO_CONTENT))
            continue
        heading = given.in_language(section.zh, section.en) if built.heading is None else built.heading
        shown.append(RenderedSection(section.key, heading, built.text, built.item_ids, built.shortened))
    text = "\n\n".join(section.whole for section in shown) + "\n"
    return Rendered(
        text,
        tuple(shown),
        tuple(str(FAILED_WARNING % {"section": key}) for key, _error in failures),
        tuple(left_out),
        tuple(failures),
    )
