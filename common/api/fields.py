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


@extend_schema_field(str)
class RuledTextField(serializers.Field):
    """A text whose rule gives the error itself (its own code, limit and remedy), so anything passes here."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class SwitchField(serializers.BooleanField):
    """true or false; in a form also the usual words; null only where allowed."""

    default_error_messages = {"invalid": _("This must be true or false.")}

    TRUE_VALUES = {True, "true", "True", "1", "on"}
    FALSE_VALUES = {False, "false", "False", "0", "off"}
    NULL_VALUES = {None}

    def to_internal_value(self, data: Any) -> bool | None:
        if isinstance(data, (bool, str)) or data is None:
            return super().to_internal_value(data)
        self.fail("invalid", input=data)
        return None


class IdField(serializers.IntegerField):
    """The number of a row: 1 to 2^63-1, no text, no fraction, no boolean."""

    default_error_messages = {"invalid": _("This must be a whole number.")}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=1, max_value=2**63 - 1, **kwargs)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return super().to_internal_value(data)


class PositionField(serializers.IntegerField):
    """A position in a list; a form may send it as text; clamped later, bounded here."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=-(2**31), max_value=2**31 - 1, **kwargs)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, (bool, float)):
            self.fail("invalid")
        return super().to_internal_value(data)
