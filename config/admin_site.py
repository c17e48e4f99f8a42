"""The admin site: Unfold's, with the language and company switchers of Fieldbook."""

from unfold.sites import UnfoldAdminSite


class FieldbookAdminSite(UnfoldAdminSite):
    """One site for all rooms; pages are registered by the rooms themselves."""

    enable_nav_sidebar = True
