"""Run a management command as a person at a terminal would, and read what it printed."""

from io import StringIO

from django.core.management import call_command


def run(*arguments):
    """Standard output of the command, without the last line break."""
    out = StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue().rstrip("\n")


def lines(*arguments):
    return run(*arguments).split("\n")


def written(folder, files):
    """Files under `folder`: text, or bytes as they are; returns the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
