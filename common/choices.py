"""Names that rooms below `companies` also need."""

#: Slug of the company whose agents are shared with all others.
GLOBAL_SLUG = "_global"
