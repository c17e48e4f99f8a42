"""The vocabulary of phrases."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class PhraseKind(models.TextChoices):
    TEACH = "teach", _("teach: keep what is said")
    FORBID = "forbid", _("forbid: never do that again")
    INTROSPECT = "introspect", _("introspect: what was learned")
    POSITIVE = "positive", _("positive: the user is content")
    NEGATIVE = "negative", _("negative: something is wrong")
    GUARD = "guard", _("guard: what follows does not count")


class PhraseLanguage(models.TextChoices):
    ZH = "zh", _("Chinese")
    EN = "en", _("English")
