"""Phrase: a few words by which users teach, forbid, praise or complain."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.models import TimestampedModel
from evolution.memory.choices import PhraseKind, PhraseLanguage


class PhraseQuerySet(models.QuerySet):
    """Phrases by switch."""

    def enabled(self) -> PhraseQuerySet:
        return self.filter(enabled=True)


class Phrase(TimestampedModel):
    """What to look for in users' messages, the same for all companies. Written by the services only."""

    kind = models.CharField(_("kind"), max_length=10, choices=PhraseKind.choices)
    language = models.CharField(
        _("language"),
        max_length=2,
        choices=PhraseLanguage.choices,
        help_text=_("What is forbidden is kept as “不要 …” or “Never …”, by this language."),
    )
    text = models.CharField(
        _("text"),
        max_length=100,
        help_text=_(
            "Case, width and punctuation marks of other scripts do not matter; Latin words are found as whole "
            "words. “...” inside stands for any few words of the same sentence."
        ),
    )
    key = models.CharField(max_length=400, editable=False)
    enabled = models.BooleanField(_("enabled"), default=True)

    objects = PhraseQuerySet.as_manager()

    class Meta:
        verbose_name = _("phrase")
        verbose_name_plural = _("phrases")
        ordering = ("kind", "language", "key", "id")
        constraints = [
            models.UniqueConstraint(fields=["kind", "key"], name="memory_phrase_kind_key"),
            models.CheckConstraint(
                condition=Q(text__length__gte=1) & Q(text__length__lte=100), name="memory_phrase_text_length"
            ),
            models.CheckConstraint(condition=Q(kind__in=PhraseKind.values), name="memory_phrase_kind"),
            models.CheckConstraint(
                condition=Q(language__in=PhraseLanguage.values), name="memory_phrase_language"
            ),
        ]

    def __str__(self) -> str:
        return self.text
