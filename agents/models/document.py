"""Document: a versioned text file of an agent's body."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.models.agent import Agent
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from common.models import AppendOnlyModel, AppendOnlyQuerySet, TimestampedModel

MAX_PATH = 255
MAX_TEXT = 200_000


class DocumentQuerySet(models.QuerySet["Document"]):
    def readable_from(self, company: Company) -> DocumentQuerySet:
        """Body documents of agents readable from `company`, and that company's own `users/**`."""
        shared = Q(is_body=True, agent__company__slug=GLOBAL_SLUG)
        return self.filter(Q(company=company) | shared)

    def seen_by(self, user) -> DocumentQuerySet:
        """What a staff member may see: all for a superuser, else their companies' and shared bodies."""
        if user.is_superuser:
            return self
        shared = Q(is_body=True, agent__company__slug=GLOBAL_SLUG)
        return self.filter(Q(company__in=user.companies.all()) | shared)

    def live(self) -> DocumentQuerySet:
        """Neither deleted nor of a deleted agent."""
        return self.filter(deleted_at=None, agent__deleted_at=None)


class Document(TimestampedModel):
    """A path of an agent with its current version. `users/**` documents belong to the caller's company."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="documents", verbose_name=_("agent"))
    company = models.ForeignKey(Company, models.PROTECT, related_name="documents", verbose_name=_("company"))
    path = models.CharField(_("path"), max_length=MAX_PATH)
    path_key = models.CharField(max_length=1020, editable=False)
    kind = models.CharField(_("kind"), max_length=20, editable=False)
    is_body = models.BooleanField(
        editable=False, default=True, help_text="False for users/**: a company's own, not the shared body."
    )
    current_version = models.PositiveIntegerField(_("version"), default=0, editable=False)
    deleted_at = models.DateTimeField(_("deleted"), null=True, blank=True, editable=False)

    #: Of the current version, where `agents.selectors.current_documents` loaded them.
    text: str
    sha256: str

    objects = DocumentQuerySet.as_manager()

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ("agent", "path", "id")
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "company", "path_key"], name="agents_document_agent_company_path"
            ),
            models.CheckConstraint(
                condition=Q(path__length__gte=1) & Q(path__length__lte=MAX_PATH),
                name="agents_document_path_length",
            ),
        ]

    def __str__(self) -> str:
        return self.path


class DocumentVersion(AppendOnlyModel):
    """One saved text, kept exactly as sent."""

    document = models.ForeignKey(
        Document, models.PROTECT, related_name="versions", verbose_name=_("document")
    )
    number = models.PositiveIntegerField(_("version"))
    text = models.TextField(_("text"), blank=True)
    sha256 = models.CharField("SHA-256", max_length=64)
    source = models.CharField(_("source"), max_length=10, choices=Source.choices)
    author = models.CharField(_("author"), max_length=200)
    proposal_code = models.CharField(_("proposal"), max_length=20, blank=True)
    note = models.TextField(_("note"), blank=True)
    created_at = models.DateTimeField(_("created"))

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        verbose_name = _("document version")
        verbose_name_plural = _("document versions")
        ordering = ("document", "-number")
        constraints = [
            models.UniqueConstraint(
                fields=["document", "number"], name="agents_documentversion_document_number"
            ),
            models.CheckConstraint(
                condition=Q(text__length__lte=MAX_TEXT), name="agents_documentversion_text_length"
            ),
        ]

    def __str__(self) -> str:
        return f"v{self.number}"
