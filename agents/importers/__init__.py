"""Reading agents and experiences from files: pure, no database, nothing is stored here.

In: a path (`reader.read_agents`) or the text of a table or list (`experiences`). Out: one item for each agent
that was found, imported, skipped or failed, with file and line. Duplicate names are the caller's business.
Add a format: a module with a function from text to drafts, and a line in `reader`.
"""
