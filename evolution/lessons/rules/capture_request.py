"""What a caller may send to have commits captured. Pure. docs/rules.md: pushed commits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.text import name_key
from evolution.lessons.rules.commits import Commit, commit_from_report
from evolution.lessons.rules.reading import Reading

#: The label by which a person asks for a lesson about a pull request.
LABEL = "experience-capture"
MAX_COMMITS = 500
MAX_NAME = 100
MAX_SUBJECT = 10_000
MAX_BODY = 100_000
MAX_FILES = 3000
MAX_PATH = 4096
MAX_PARENTS = 200
MAX_LABELS, MAX_LABEL = 100, 100

_SHA_RE = re.compile(r"[0-9a-z]{1,64}")


@dataclass(frozen=True)
class CaptureRequest:
    """A cleaned request: the name of the repository, its commits in the order of their dates, labels."""

    repository: str
    commits: Sequence[Commit]
    labels: Sequence[str] = ()

    @property
    def is_labelled(self) -> bool:
        """Whether a person asked for a lesson."""
        return any(name_key(label) == LABEL for label in self.labels)


def checked_capture(values: Mapping[str, Any]) -> CaptureRequest:
    """The request of these raw values. Raises VALIDATION_ERROR naming every fault."""
    reading = Reading(values)
    repository = reading.text("repository", MAX_NAME)
    if not repository and not reading.faults:
        reading.fault("/repository", _("Name the repository as it is called here."))
    if "commits" not in reading.values:
        reading.fault("/commits", _("Send a list of commits."))
    commits = [_commit(reading, place, value) for place, value in enumerate(_objects(reading))]
    labels = reading.texts("labels", MAX_LABELS, MAX_LABEL)
    reading.check()
    return CaptureRequest(repository, oldest_first([commit for commit in commits if commit]), labels)


def oldest_first(commits: Sequence[Commit]) -> list[Commit]:
    """By committer date; as they came when one has none."""
    dates = [commit.committer_date for commit in commits if commit.committer_date]
    if len(dates) < len(commits):
        return list(commits)
    return [commit for _date, commit in sorted(zip(dates, commits, strict=True), key=lambda pair: pair[0])]


def _objects(reading: Reading) -> Sequence[Mapping[str, Any]]:
    found = reading.objects("commits", MAX_COMMITS)
    # Too many are refused as a whole: no need to look at each.
    return found[:MAX_COMMITS]


def _commit(reading: Reading, place: int, value: Mapping[str, Any]) -> Commit | None:
    inside = Reading(value)
    sha = inside.text("sha", 64).lower()
    if not _SHA_RE.fullmatch(sha) and not inside.faults:
        inside.fault("/sha", _("This must be the name of a commit: letters and digits, at most 64."))
    report = {
        "sha": sha,
        "subject": inside.text("subject", MAX_SUBJECT),
        "body": inside.text("body", MAX_BODY),
        "author_date": _moment(inside, "author_date"),
        "committer_date": _moment(inside, "committer_date"),
        "parents": inside.texts("parents", MAX_PARENTS, 64),
        "files": _files(inside),
        "file_count": inside.whole("file_count", 0, 10**6, 0),
    }
    for fault in inside.faults:
        reading.fault(f"/commits/{place}{fault.pointer}", fault.detail)
    return None if inside.faults else commit_from_report(report)


def _moment(inside: Reading, name: str) -> datetime | None:
    value = inside.values.get(name, "")
    if value == "":
        return None
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        inside.fault(f"/{name}", _("This must be an ISO 8601 time, such as 2026-06-12T08:00:00+08:00."))
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _files(inside: Reading) -> list[Any]:
    """Paths, or objects with path, status and old_path; what is blank is left out."""
    value = inside.values.get("files", [])
    if not isinstance(value, list | tuple):
        inside.fault("/files", _("This must be a list."))
        return []
    inside.at_most("/files", value, MAX_FILES)
    found: list[Any] = []
    for index, entry in enumerate(value[:MAX_FILES]):
        file = Reading(entry if isinstance(entry, Mapping) else {"path": entry})
        path, status, old = (
            file.text(name, limit)
            for name, limit in (("path", MAX_PATH), ("status", 20), ("old_path", MAX_PATH))
        )
        for fault in file.faults:
            inside.fault(f"/files/{index}{fault.pointer}", fault.detail)
        if path:
            found.append({"path": path, "status": status, "old_path": old})
    return found
