"""The staff account."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.utils.translation import gettext_lazy as _


class PersonQuerySet(models.QuerySet):
    """People, by who may see them."""

    def seen_by(self, user) -> PersonQuerySet:
        """All for a superuser; else oneself and the members of one's own companies."""
        if user.is_superuser:
            return self
        colleagues = self.model._base_manager.filter(companies__in=user.companies.values("pk"))
        return self.filter(models.Q(pk=user.pk) | models.Q(pk__in=colleagues.values("pk")))


class PersonManager(UserManager.from_queryset(PersonQuerySet)):
    """Django's manager of accounts, with the queryset above."""

    use_in_migrations = False


class User(AbstractUser):
    """A person who signs in. Runtimes use API keys and never have an account."""

    objects = PersonManager()

    class Meta(AbstractUser.Meta):
        verbose_name = _("person")
        verbose_name_plural = _("people")
