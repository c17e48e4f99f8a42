"""A synthetic history for `bench.capture`: the same commits at every run, written by `git fast-import`.

Like a grown project: a tree of folders, about three files a commit with some far hotter than others, fixes,
reverts, merges of short branches, renames, one commit that touches two thousand files, Chinese and English.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

#: Seconds between two commits, about six a day; the last one is of this moment.
STEP, LAST = 14_000, 1_790_000_000
FILES, FOLDERS = 6_000, 300
LARGE = 2_000
MERGE_EVERY, RENAME_EVERY, REVERT_EVERY = 45, 60, 400
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
}
AREAS = ("auth", "cache", "db", "forms", "queue", "search", "views", "worker")
WHAT = ("timeout", "encoding", "ordering", "lock", "cursor", "session", "retry", "header", "buffer", "index")
HOW = ("lost after a restart", "wrong for empty input", "kept too long", "not released", "read twice")
TITLES = (
    ("feat({area}): add {what} to {area}", 30),
    ("Refs #{n} -- Moved {what} of {area}.", 30),
    ("docs: describe {what}", 8),
    ("test({area}): cover {what}", 8),
    ("chore: update {what}", 8),
    ("fix({area}): {what} {how}", 10),
    ("fix: 修复 {area} 的 {what} 问题", 4),
    ("Fixed #{n} -- {what} {how}.", 2),
)
BODY = "原因：{what} 在 {area} 中没有检查。\n修复：先检查，再写入。\n\nRefs #{n}\n"


def make_history(folder: Path, commits: int, seed: int = 11) -> Path:
    """A bare repository with that many commits."""
    call = ["git", "init", "--quiet", "--bare", "--initial-branch=main", str(folder)]
    subprocess.run(call, env=ENVIRONMENT, check=True)
    with subprocess.Popen(
        ["git", "-C", str(folder), "fast-import", "--quiet", "--done"], env=ENVIRONMENT, stdin=subprocess.PIPE
    ) as process:
        assert process.stdin
        for part in _stream(commits, random.Random(seed)):
            process.stdin.write(part)
        process.stdin.close()
        if process.wait():
            raise RuntimeError("git fast-import failed")
    return folder


def _stream(commits: int, chance: random.Random) -> Iterator[bytes]:
    folders = [f"{chance.choice(AREAS)}/{chance.choice(WHAT)}{number}" for number in range(FOLDERS)]
    files = [f"{chance.choice(folders)}/{'模块' if n % 50 == 0 else 'part'}{n}.py" for n in range(FILES)]
    titles, weights = zip(*TITLES, strict=True)
    for mark in range(1, commits + 1):
        words = {
            "area": chance.choice(AREAS),
            "what": chance.choice(WHAT),
            "how": chance.choice(HOW),
            "n": chance.randint(1, 40_000),
        }
        title = chance.choices(titles, weights)[0].format(**words)
        is_revert, is_merge = mark % REVERT_EVERY == 0, mark % MERGE_EVERY == 0
        if is_revert:
            title = f'Revert "{title}"'
        body = BODY.format(**words) if title.startswith("fix") else ""
        changes = [] if is_merge else _changes(mark, files, chance)
        yield _commit(mark, f"{title}\n\n{body}", LAST - (commits - mark) * STEP, changes, is_merge)
    yield b"done\n"


def _changes(mark: int, files: list[str], chance: random.Random) -> list[str]:
    if mark == 1 or mark % 9_000 == 0:
        touched = files if mark == 1 else files[:LARGE]
    else:
        # The square makes the first files far hotter than the last.
        touched = [files[int(chance.random() ** 2 * FILES)] for _ in range(chance.randint(1, 5))]
    lines = []
    if mark % RENAME_EVERY == 0:
        place = chance.randrange(FILES)
        old, new = files[place], f"{files[place].rpartition('.')[0]}_{mark}.py"
        if old not in touched:
            files[place] = new
            lines.append(f"R {old} {new}")
    for path in dict.fromkeys(touched):
        text = f"# {path}\n" + "".join(f"line {number}\n" for number in range(20)) + f"at {mark}\n"
        lines.append(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}")
    return lines


def _commit(mark: int, message: str, at: int, changes: list[str], is_merge: bool) -> bytes:
    told = message.encode()
    lines = [
        "commit refs/heads/main",
        f"mark :{mark}",
        f"author A <a@example.test> {at} +0800",
        f"committer A <a@example.test> {at} +0800",
        f"data {len(told)}",
    ]
    return "\n".join([*lines, message, *_parents(mark, is_merge), *changes, ""]).encode()


def _parents(mark: int, is_merge: bool) -> list[str]:
    """Before each merge the second commit stands beside the third; the merge joins them."""
    if mark == 1:
        return []
    if is_merge:
        return [f"from :{mark - 1}", f"merge :{mark - 2}"]
    place = mark % MERGE_EVERY - MERGE_EVERY
    return [f"from :{mark - 2}" if place in (-2, -1) and mark > MERGE_EVERY // 2 else f"from :{mark - 1}"]
