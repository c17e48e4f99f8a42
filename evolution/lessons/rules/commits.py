"""From a commit to the draft of a lesson: which commits, and what goes into which field. Pure, linear time.

Secrets are taken out before anything else is made of the text. A part that the message does not name stays
blank: nothing is invented. docs/rules.md: commit grammar, commit fields, commit severity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from common.redaction import redact
from common.text import name_key, normalise_newlines
from evolution.lessons.rules.kinds import MAX_FILES, MAX_PART, MAX_TAG, MAX_TAKEAWAY, MAX_TITLE, lesson_codes
from evolution.lessons.rules.paths import MAX_PATH, normalise_path, normalise_paths
from evolution.lessons.rules.subjects import Verdict, first_line, is_grave, judge_subject
from evolution.lessons.rules.upkeep import touches_documents_only

MAX_BODY = 10_000
MAX_REFERENCES = 50

_REVERTS_RE = re.compile(r"This reverts commit ([0-9a-f]{7,40})\b", re.IGNORECASE)
_REFERENCE_RE = re.compile(
    r"\b(?:refs?|references|close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?((?:[\s,]{1,3}(?:and )?#[0-9]{1,9}\b)+)",
    re.IGNORECASE,
)
_ISSUE_RE = re.compile(r"#[0-9]{1,9}\b")
_BREAKING_RE = re.compile(r"^BREAKING[ -]CHANGE", re.MULTILINE)
_CVE_RE = re.compile(r"\bCVE-[0-9]{4}-[0-9]{3,}", re.IGNORECASE)

# A cue opens a part; with a colon behind it, it is a label and left out, else it belongs to the sentence.
_CUE_RE = re.compile(
    r"(?P<mark>\s{0,20}(?:[-*+•]\s{1,5}|\#{1,6}\s{1,5}|[0-9]{1,2}[.)]\s{1,5})?[*【\[]{0,2})(?:"
    r"(?P<what>之前|原因|根因|(?:root )?cause(?!\w)|because(?!\w))"
    r"|(?P<when>触发|场景|when(?!\w))"
    r"|(?P<how>修(?!饰)|fix(?!\w)|solution(?!\w))"
    r"|(?P<takeaway>教训|lessons?(?: learned)?(?!\w)))"
    r"(?P<label>[\u4e00-\u9fff]{0,6}[*】\]]{0,2}\s?[:：][*】\]]{0,2}|(?:分析|方案|方法|场景|条件|现象)?[*】\]]{0,2}$)?",
    re.IGNORECASE,
)
_SENTENCE_END = (".", ":", "!", "?", "。", "：", "！", "？", "；", ";")
_BULLET_RE = re.compile(r"\s{0,20}(?:[-*+•]\s|#{1,6}\s|[0-9]{1,2}[.)]\s)")
_TRAILER_RE = re.compile(
    r"(?:[A-Z][A-Za-z]+(?:-[A-Za-z]+)+|Refs?|Closes|Fixes|See|BREAKING CHANGE): ?\S|(?:Refs?|Closes|Fixes) #",
)
_FIXES = frozenset({"fix", "plain_fix", "chinese"})
_LIMITS = {"what": MAX_PART, "when": MAX_PART, "how": MAX_PART, "takeaway": MAX_TAKEAWAY}


@dataclass(frozen=True)
class ChangedFile:
    """One file of a commit. `status` is A, M, D, R, C, T or empty where the sender did not say."""

    path: str
    status: str = ""
    old_path: str = ""
    is_binary: bool = False


@dataclass(frozen=True)
class Commit:
    """A commit as a repository or a runtime reports it; all text in it is data.

    `file_count` may exceed `files`; `is_boundary` marks the oldest commit of a shallow clone, whose list of
    files says nothing.
    """

    sha: str
    subject: str
    body: str = ""
    author_date: datetime | None = None
    committer_date: datetime | None = None
    parents: tuple[str, ...] = ()
    files: tuple[ChangedFile, ...] = ()
    file_count: int = 0
    is_boundary: bool = False

    @property
    def size(self) -> int:
        return max(self.file_count, len(self.files))

    @property
    def is_merge(self) -> bool:
        return len(self.parents) > 1


@dataclass
class Capture:
    """The draft that a commit gives, ready to be stored."""

    sha: str
    title: str
    severity: str
    confidence: float
    form: str
    trigger: str
    subject: str
    author_date: datetime | None
    tags: list[str] = field(default_factory=list)
    related_files: list[str] = field(default_factory=list)
    files_left_out: int = 0
    what: str = ""
    when: str = ""
    how: str = ""
    takeaway: str = ""
    related_codes: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    reverts: str = ""
    redactions: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Skip:
    """A commit that gives no draft; `reason` is a stable code."""

    sha: str
    reason: str


def capture_commit(commit: Commit) -> Capture | Skip:
    """The draft of one commit, or why there is none. docs/rules.md: commit grammar."""
    if commit.is_merge:
        return Skip(commit.sha, "merge")
    if commit.is_boundary:
        return Skip(commit.sha, "shallow_boundary")
    verdict = judge_subject(commit.subject)
    if not verdict.is_captured:
        return Skip(commit.sha, verdict.reason)
    if verdict.form in _FIXES and _documents_only(commit):
        return Skip(commit.sha, "scope_docs_or_style")
    counts: Counter[str] = Counter()
    subject = _redacted(first_line(commit.subject), counts)
    # Judged again, so that no field is made of what was taken out.
    again = judge_subject(subject)
    return _capture(commit, again if again.is_captured else verdict, subject, counts)


def captures_anything(commit: Commit) -> bool:
    """Whether the commit counts as a fix or a revert, for the strict mode of churn."""
    return not commit.is_merge and not commit.is_boundary and judge_subject(commit.subject).is_captured


def _documents_only(commit: Commit) -> bool:
    paths = [normalise_path(file.path) for file in commit.files]
    return commit.size == len(paths) and touches_documents_only(paths)


def severity_of(verdict: Verdict, subject: str, body: str) -> str:
    """`high` for a revert, a breaking change, security and lost data, else `medium`.

    docs/rules.md: commit severity.
    """
    is_high = (
        verdict.form == "revert"
        or verdict.is_breaking
        or is_grave(subject)
        or _BREAKING_RE.search(body) is not None
        or _CVE_RE.search(body) is not None
    )
    return "high" if is_high else "medium"


def body_parts(body: str) -> dict[str, str]:
    """The parts `what, when, how, takeaway` of a message's body, as far as cues at line starts name them.

    A part goes on to the next cue, list item, trailer or empty line; under a cue that stands alone it may be a
    list. A cue in the middle of a wrapped sentence is none. Parts of the same kind are joined.
    """
    parts: dict[str, list[str]] = {name: [] for name in _LIMITS}
    current: list[str] | None = None
    is_block = False
    previous = ""
    for line in body.split("\n"):
        cue = _CUE_RE.match(line)
        is_item = _BULLET_RE.match(line) is not None
        if _TRAILER_RE.match(line):
            current = None
        elif not line.strip():
            # An empty line may stand between a heading and its text only.
            current = current if current and not current[-1] else None
        elif cue and (
            cue["label"] is not None or is_item or not previous or previous.endswith(_SENTENCE_END)
        ):
            current = parts[next(name for name in _LIMITS if cue[name])]
            text = line[cue.end("label") :] if cue["label"] is not None else line[cue.end("mark") :]
            is_block = not text.strip()
            current.append(text.strip())
        elif is_item and not is_block:
            current = None
        elif current is not None:
            is_block = is_block and is_item
            current.append(line.strip())
        previous = line.strip()
    joined = {name: "\n".join(line for line in lines if line) for name, lines in parts.items()}
    return {name: text[: _LIMITS[name]] for name, text in joined.items()}


def references_in(text: str) -> list[str]:
    """`#12` for each issue that the text refers to, closes or fixes, unique, in order."""
    found = (issue for match in _REFERENCE_RE.finditer(text) for issue in _ISSUE_RE.findall(match[1]))
    return list(dict.fromkeys(found))[:MAX_REFERENCES]


def reverted_sha(body: str) -> str:
    """The commit that a revert takes back, as its body names it; empty without one."""
    found = _REVERTS_RE.search(body)
    return found[1].lower() if found else ""


def same_commit_key(subject: str, author_date: datetime | None) -> tuple[str, str]:
    """By this key the rebased twin of a captured commit is known. docs/rules.md: rebased twins."""
    return name_key(subject), author_date.isoformat() if author_date else ""


def commit_from_report(report: Mapping[str, Any]) -> Commit:
    """A commit from validated JSON of the capture endpoint; dates already are `datetime` or None.

    A file is a path or `{path, status, old_path}`.
    """
    files = tuple(
        ChangedFile(item)
        if isinstance(item, str)
        else ChangedFile(item["path"], str(item.get("status", ""))[:1].upper(), item.get("old_path", ""))
        for item in report.get("files") or ()
    )
    return Commit(
        sha=report["sha"],
        subject=report["subject"],
        body=report.get("body") or "",
        author_date=report.get("author_date"),
        committer_date=report.get("committer_date"),
        parents=tuple(report.get("parents") or ()),
        files=files,
        file_count=int(report.get("file_count") or 0),
    )


def _capture(commit: Commit, verdict: Verdict, subject: str, counts: Counter[str]) -> Capture:
    body = _redacted(normalise_newlines(commit.body)[:MAX_BODY], counts)
    paths = normalise_paths(_redacted_lines((file.path for file in commit.files), counts))
    kept = [path for path in paths if len(path) <= MAX_PATH][:MAX_FILES]
    capture = Capture(
        sha=commit.sha,
        title=_shortened(verdict.title or subject, MAX_TITLE),
        severity=severity_of(verdict, subject, body),
        confidence=verdict.confidence,
        form=verdict.form,
        trigger=f"commit {commit.sha[:7]}",
        subject=subject,
        author_date=commit.author_date,
        tags=[verdict.scope[:MAX_TAG].strip()] if verdict.scope else [],
        related_files=kept,
        files_left_out=max(commit.size, len(paths)) - len(kept),
        related_codes=lesson_codes(f"{subject}\n{body}"),
        references=references_in(f"{subject}\n{body}"),
        reverts=reverted_sha(body),
        redactions=dict(counts),
    )
    for name, text in body_parts(body).items():
        setattr(capture, name, text)
    if capture.files_left_out:
        capture.warnings.append(f"files_left_out:{capture.files_left_out}")
    if len(commit.body) > MAX_BODY:
        capture.warnings.append("body_cut")
    return capture


def _redacted(text: str, counts: Counter[str]) -> str:
    redacted = redact(text)
    counts.update(redacted.counts)
    return redacted.text


def _redacted_lines(lines: Iterable[str], counts: Counter[str]) -> list[str]:
    given = [line.replace("\n", " ") for line in lines]
    redacted = redact("\n".join(given))
    together = redacted.text.split("\n")
    if len(together) == len(given):
        counts.update(redacted.counts)
        return together
    # A find across lines joined some of them: then each line is judged alone.
    return [_redacted(line, counts) for line in given]


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
