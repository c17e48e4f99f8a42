"""Serializer fields that refuse what would be guessed."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


class TextField(serializers.CharField):
    """A text and nothing else (numbers and booleans are refused); not trimmed, blank allowed; rules decide."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("trim_whitespace", False)
        kwargs.setdefault("allow_blank", True)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class _RuledField(serializers.Field):
    """A value whose rule gives the error itself (its own code, limit and remedy), so anything passes here."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field(str)
class RuledTextField(_RuledField):
    """A text as far as its rule allows."""


@extend_schema_field(int)
class RuledIdField(_RuledField):
    """The number of a row as far as its rule allows."""


@extend_schema_field({"type": "array", "items": {"type": "string"}})
class RuledTextListField(_RuledField):
    """A list of texts as far as its rule allows."""


@extend_schema_field({})
class RuledValueField(_RuledField):
    """Any JSON value as far as its rule allows."""


class SwitchField(serializers.BooleanField):
    """true or false; in a form also the usual words; null only where allowed."""

    default_error_messages = {"invalid": _("This must be true or false.")}

    TRUE_VALUES = {True, "true", "True", "1", "on"}
    FALSE_VALUES = {False, "false", "False", "0", "off"}
    NULL_VALUES = {None}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool | str):
            self.fail("invalid", input=data)
        return super().to_internal_value(data)


class WholeNumberField(serializers.IntegerField):
    """A whole number (by default one that fits a 32-bit column); a form may send it as text."""

    default_error_messages = {"invalid": _("This must be a whole number.")}

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("min_value", -(2**31))
        kwargs.setdefault("max_value", 2**31 - 1)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int | str):
            self.fail("invalid")
        return super().to_internal_value(data)
