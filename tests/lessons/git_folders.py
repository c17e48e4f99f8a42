"""Git histories for tests, made by git itself."""

import os
import subprocess

PLAIN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"} | {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A"), ("EMAIL", "a@b.test"), ("DATE", "2026-03-01T10:00:00 +0800"))
}


def git(folder, *arguments, stdin=None, **more):
    call = ["git", "-C", str(folder), "-c", "commit.gpgsign=false", *arguments]
    return (
        subprocess.run(call, env=PLAIN | more, input=stdin, capture_output=True, check=True)
        .stdout.decode()
        .strip()
    )


def commit(folder, message, files=None, **more):
    for name, text in (files or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    git(folder, "add", "-A")
    message = message if isinstance(message, bytes) else message.encode()
    git(folder, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-", stdin=message, **more)
    return git(folder, "rev-parse", "HEAD")


def evil(folder):
    """A repository whose configuration, hooks and attributes run `mark` wherever git lets them."""
    ran = folder.parent / "ran"
    mark = folder.parent / "mark.sh"
    mark.write_text(f"#!/bin/sh\ntouch {ran}\ncat >/dev/null 2>&1 </dev/null\nexit 0\n")
    mark.chmod(0o755)
    sha = commit(folder, "fix: x", {"a.txt": "1", ".gitattributes": "*.txt diff=evil\n"})
    body = git(folder, "cat-file", "commit", sha)
    head, _blank, message = body.partition("\n\n")
    fake = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----"
    signed = git(
        folder,
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--stdin",
        stdin=f"{head}\n{fake}\n\n{message}\n".encode(),
    )
    git(folder, "reset", "-q", "--hard", signed)
    settings = {
        "log.showSignature": "true", "gpg.program": mark, "core.fsmonitor": mark, "core.pager": mark,
        "pager.log": mark, "pager.rev-list": mark, "diff.external": mark, "diff.evil.textconv": mark,
        "diff.evil.command": mark, "alias.log": f"!{mark}", "alias.rev-parse": f"!{mark}",
        "core.hooksPath": folder.parent, "core.sshCommand": mark, "diff.orderFile": "/nowhere",
        "log.diffMerges": "first-parent", "color.ui": "always", "log.mailmap": "true", "format.pretty": "oneline",
        "core.alternateRefsCommand": mark, "uploadpack.packObjectsHook": mark, "credential.helper": f"!{mark}",
    }  # fmt: skip
    for name, value in settings.items():
        git(folder, "config", name, str(value))
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        (folder / ".git/hooks" / hook).parent.mkdir(exist_ok=True)
        (folder / ".git/hooks" / hook).symlink_to(mark)
    return ran, signed
