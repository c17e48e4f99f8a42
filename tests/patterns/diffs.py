"""Unified diffs for the tests of patterns."""


def added(path, *lines, removed=()):
    """The part of a diff that adds lines to one file, and removes others."""
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    hunk = f"@@ -1,{len(removed)} +1,{len(lines)} @@\n"
    body = [f"-{line}" for line in removed] + [f"+{line}" for line in lines]
    return head + hunk + "\n".join(body) + "\n"


def handler(name, field, number):
    """A function as three colleagues would write it, each with other names."""
    return [
        f"def {name}(request):",
        f"    value = request.data.get('{field}', {number})",
        "    if value is None:",
        f"        raise Missing('{field}')",
        f"    store.save({name}, value)",
        "    return value",
    ]


HANDLERS = [handler("create_user", "user", 1), handler("rename_book", "title", 22), handler("drop", "x", 333)]


def three_places(one_file=False):
    """The same structure three times, in one file or in three."""
    if one_file:
        lines = [line for block in HANDLERS for line in (*block, "", f"MARK_{len(block[0])} = object()")]
        return added("app/all.py", *lines)
    return "".join(added(f"app/{number}.py", *block) for number, block in enumerate(HANDLERS))
