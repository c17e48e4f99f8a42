"""Market descriptions (`agent.json` with texts by language): the role is put together from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.importers.items import Draft, Item, SkippedItem, finished


def is_market_agent(value: Any) -> bool:
    """Whether a JSON value is a description with a name and a map of languages."""
    return (
        isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("i18n"), dict)
    )


def read_market_agent(value: Mapping[str, Any], file: str) -> Item:
    """The agent in its source language; skipped when that language holds no text about the role."""
    locale, texts = _source_texts(value["i18n"])
    persona: Any = texts.get("persona") if isinstance(texts.get("persona"), dict) else {}
    role, about, traits = persona.get("role"), texts.get("fullDesc"), persona.get("traits")
    traits = [f"- {trait}" for trait in traits if isinstance(trait, str)] if isinstance(traits, list) else []
    parts = [
        part.strip() for part in (role, "\n".join(traits), about) if isinstance(part, str) and part.strip()
    ]
    if not parts:
        return SkippedItem(
            file, 1, str(_("the description holds no text about the role (persona.role, fullDesc)"))
        )
    language = locale.split("-")[0].casefold()
    message = _("the role definition was put together from persona and fullDesc in %s") % locale
    return finished(
        Draft(
            1,
            name=texts.get("name") or value["name"],
            description=texts.get("shortDesc"),
            system_prompt="\n\n".join(parts),
            language=language if language in ("zh", "en") else None,
            tags=texts.get("tags"),
            warnings=[(1, str(message))],
        ),
        file,
    )


def _source_texts(i18n: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The language in which the author wrote, else the default one, else the first."""
    for locale in (i18n.get("source_locale"), i18n.get("default_locale"), *i18n):
        if isinstance(locale, str) and isinstance(i18n.get(locale), dict):
            return locale, i18n[locale]
    return "", {}
