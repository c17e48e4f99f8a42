"""Dify applications (DSL files): the system prompt is in the model configuration or in nodes of the graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.importers.items import Draft, Item, SkippedItem, as_text, finished
from common.front_matter import FrontMatterWarning
from common.safe_yaml import Path
from common.text import clean, is_blank

_VARIABLE = re.compile(r"\{\{#?[\w.]+#?\}\}")


def is_dify_app(value: Any) -> bool:
    """Whether a YAML value is a Dify application; `kind` and `version` may be missing."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("app"), dict)
        and any(isinstance(value.get(key), dict) for key in ("workflow", "model_config"))
    )


def read_dify(
    value: Mapping[str, Any],
    lines: Mapping[Path, int],
    file: str,
    warnings: Sequence[FrontMatterWarning] = (),
) -> list[Item]:
    """One application as one agent; skipped without a system prompt. `warnings` come from the YAML."""
    app = value["app"]
    line = lines.get(("app",), 1)
    prompts = _prompts(value)
    if not prompts:
        reason = _("the Dify application has no system prompt (pre_prompt and prompt_template are empty)")
        return [SkippedItem(file, line, str(reason))]
    draft = Draft(line, as_text(app.get("name")), as_text(app.get("description")), _joined(prompts))
    draft.warnings += [(warning.line, warning.message) for warning in warnings]
    if len(prompts) > 1:
        message = _("%d system prompts were joined, each under the title of its node") % len(prompts)
        draft.warnings.append((line, str(message)))
    if _VARIABLE.search(draft.system_prompt):
        draft.warnings.append((line, str(_("variables like {{#sys.query#}} stay in the text as they are"))))
    return [finished(draft, file)]


def _prompts(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(title, text) of each system prompt, without repetitions."""
    found: dict[str, str] = {}
    settings = value.get("model_config")
    if isinstance(settings, dict):
        _keep(found, "", settings.get("pre_prompt"))
    for title, template in _templates(value.get("workflow")):
        for message in template if isinstance(template, list) else [template]:
            if isinstance(message, dict) and message.get("role", "system") == "system":
                jinja = message.get("edition_type") == "jinja2" and message.get("jinja2_text")
                _keep(found, title, jinja or message.get("text"))
    return [(title, text) for text, title in found.items()]


def _keep(found: dict[str, str], title: str, text: Any) -> None:
    if isinstance(text, str) and not is_blank(text):
        found.setdefault(clean(text), title)


def _templates(workflow: Any) -> Iterator[tuple[str, Any]]:
    graph = workflow.get("graph") if isinstance(workflow, dict) else None
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    for node in nodes if isinstance(nodes, list) else ():
        data = node.get("data") if isinstance(node, dict) else None
        if isinstance(data, dict):
            yield str(data.get("title") or "").strip(), data.get("prompt_template")


def _joined(prompts: list[tuple[str, str]]) -> str:
    if len(prompts) == 1:
        return prompts[0][1]
    return "\n\n".join(f"## {title}\n\n{text}" if title else text for title, text in prompts)
