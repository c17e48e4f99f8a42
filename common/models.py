"""Abstract bases of the rooms' models."""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models
from django.db.models.functions import Length
from django.utils.translation import gettext_lazy as _


class TimestampedModel(models.Model):
    """Adds `created_at` and `updated_at` (aware, UTC)."""

    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        abstract = True


class AppendOnlyQuerySet(models.QuerySet):
    """Refuses, with a readable error, what the database triggers refuse anyway."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"{self.model.__name__} is append-only")

    update = _refuse
    delete = _refuse
    bulk_update = _refuse
    update_or_create = _refuse


class AppendOnlyModel(models.Model):
    """A table to which rows are only ever added; `common.append_only` puts triggers on it after migrate.

    `erasable_fields` may be emptied (set to "") afterwards, everything else is for ever.
    """

    erasable_fields: tuple[str, ...] = ()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None and not self._state.adding:
            raise TypeError(f"{type(self).__name__} is append-only")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is append-only")


class CodePointOrder(models.Func):
    """Orders a text by its code points, whatever the database's language: the same on SQLite and PostgreSQL."""

    template = "%(expressions)s"
    output_field = models.TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template='(%(expressions)s) COLLATE "C"', **extra)


# `name__length__lte` in check constraints: lengths are counted in code points on both databases.
models.CharField.register_lookup(Length)
models.TextField.register_lookup(Length)
