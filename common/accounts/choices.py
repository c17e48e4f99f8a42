"""The words for roles and permissions."""

from django.utils.translation import gettext_lazy as _

#: Name of a built-in role -> (its name, what it is for) in the reader's language.
ROLES = {
    "Viewer": (_("Viewer"), _("sees agents, experiences, documents and receipts")),
    "Editor": (_("Editor"), _("changes agents, experiences and documents")),
    "Approver": (_("Approver"), _("decides about proposals")),
    "Administrator": (
        _("Administrator"),
        _("does what Editors and Approvers do, and manages companies, keys, people and protected paths"),
    ),
}

#: First part of a permission's code name -> the verb.
VERBS = {
    "view": _("view"),
    "add": _("add"),
    "change": _("change"),
    "delete": _("delete"),
    "copy": _("copy"),
    "switch": _("enable and disable"),
    "restore": _("restore an earlier version"),
    "import": _("import"),
    "export": _("export"),
    "revoke": _("revoke"),
    "approve": _("approve, reject and skip"),
    "apply": _("apply"),
    "rollback": _("roll back"),
    "retry": _("try again"),
}


def role_label(name: str) -> str:
    """The name of a role in the reader's language; a role made by hand keeps its name."""
    return str(ROLES[name][0]) if name in ROLES else name


def role_hint(name: str) -> str:
    """What a built-in role is for; empty for one made by hand."""
    return str(ROLES[name][1]) if name in ROLES else ""
