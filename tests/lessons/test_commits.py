"""What a commit's draft holds, and why other commits give none."""

import time
from datetime import UTC, datetime

import pytest

from evolution.lessons.rules.commits import (
    Capture,
    ChangedFile,
    Commit,
    Skip,
    body_parts,
    capture_commit,
    commit_from_report,
    references_in,
    same_commit_key,
)

SHA = "a6c7f94a4f" + "0" * 30
DAY = datetime(2026, 6, 12, 9, tzinfo=UTC)


def commit(subject="fix(db): x", body="", files=(), **fields):
    return Commit(SHA, subject, body, DAY, DAY, ("p",), tuple(ChangedFile(path) for path in files), **fields)


def captured(*args, **kwargs) -> Capture:
    result = capture_commit(commit(*args, **kwargs))
    assert isinstance(result, Capture)
    return result


def test_the_fields_come_from_the_commit():
    draft = captured("fix(db): duplicate version", files=["a/b.sql", "./a/b.sql", "DSL/中译英.yml"])
    assert (draft.title, draft.tags, draft.trigger) == ("duplicate version", ["db"], "commit a6c7f94")
    assert draft.related_files == ["a/b.sql", "DSL/中译英.yml"]
    assert (draft.author_date, draft.confidence, draft.severity) == (DAY, 0.9, "medium")


@pytest.mark.parametrize(
    ("subject", "body", "severity"),
    [
        ("fix: x", "", "medium"),
        ("修复会话问题", "", "medium"),
        ("rollback: 1.2", "", "medium"),
        ("fix: 修复多个安全漏洞与会话管理问题", "", "high"),
        ("fix: close a vulnerability", "", "high"),
        ("fix: data loss on restart", "", "high"),
        ("修复数据丢失", "", "high"),
        ("fix(api)!: x", "", "high"),
        ("fix: x", "BREAKING CHANGE: y", "high"),
        ("fix: x", "for CVE-2026-12345", "high"),
        ("revert: x", "", "high"),
        ("fix: x", "nothing of security here", "medium"),
    ],
)
def test_severity_follows_the_kind_of_fault(subject, body, severity):
    assert captured(subject, body).severity == severity


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", {}),
        ("Some prose about it.", {}),
        ("原因：锁没有期限\n触发: 并发写入\n修复：加上期限\n教训：锁必须有期限",
         {"what": "锁没有期限", "when": "并发写入", "how": "加上期限", "takeaway": "锁必须有期限"}),
        ("Cause: no lease\nWhen: two writers\nFix: a lease\nLesson: locks need leases",
         {"what": "no lease", "when": "two writers", "how": "a lease", "takeaway": "locks need leases"}),
        ("Root cause: it wrapped\nover two lines\n\nother", {"what": "it wrapped\nover two lines"}),
        ("When the file is missing, it hangs.", {"when": "When the file is missing, it hangs."}),
        ("之前用户会丢消息", {"what": "之前用户会丢消息"}),
        ("- 修复 A\n- 修复 B\n- 补充测试", {"how": "修复 A\n修复 B"}),
        ("## 根因分析\n- 一\n- 二\n\n其他", {"what": "- 一\n- 二"}),
        ("it went wrong\nbecause nobody looked", {}),
        ("Fixes #12\nSigned-off-by: x", {}),
        ("fixture added\nwhenever", {}),
    ],
)  # fmt: skip
def test_a_cue_at_a_line_start_opens_a_part_and_nothing_is_invented(body, expected):
    assert {name: text for name, text in body_parts(body).items() if text} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Refs #12, closes #13", ["#12", "#13"]),
        ("Fixes: #7 and #8", ["#7", "#8"]),
        ("see #9", []),
        ("prefixes #9", []),
        ("Closes #1\nCloses #1", ["#1"]),
    ],
)
def test_references_are_what_the_text_refers_to(text, expected):
    assert references_in(text) == expected


def test_a_revert_is_linked_to_the_commit_it_takes_back():
    draft = captured(
        'Revert "fix(setup): dedup stale runtime-continuity hook on semantic merge"',
        "This reverts commit 81b950fe0123456789012345678901234567abcd.",
    )
    assert (draft.form, draft.severity) == ("revert", "high")
    assert draft.reverts == "81b950fe0123456789012345678901234567abcd"


def test_named_lessons_are_related():
    assert captured(body="相关 EXP-016，另见 EXP-0016 与 EXP-7").related_codes == ["EXP-016"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (Commit(SHA, "Merge branch x", "fix: y", DAY, DAY, ("p", "q")), "merge"),
        (Commit(SHA, "fix: y", "", DAY, DAY, ("p", "q")), "merge"),
        (commit(is_boundary=True), "shallow_boundary"),
        (commit("docs: x"), "type_docs"),
    ],
)
def test_other_commits_are_skipped_with_a_reason(given, reason):
    assert capture_commit(given) == Skip(SHA, reason)


def test_secrets_are_taken_out_before_anything_is_made_of_the_text():
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    draft = captured(
        f"fix: token {token} leaked", f"原因: password=hunter2secret in {token}", [f"a/{token}.txt", "b.txt"]
    )
    stored = repr(draft)
    assert token not in stored
    assert "hunter2secret" not in stored
    assert draft.title == "token [REDACTED:api_token] leaked"
    assert draft.redactions["api_token"] == 3
    assert draft.related_files[1] == "b.txt"


def test_files_beyond_two_hundred_are_counted():
    draft = captured(files=[f"f{number}.py" for number in range(230)], file_count=500)
    assert (len(draft.related_files), draft.files_left_out) == (200, 300)
    assert draft.warnings == ["files_left_out:300"]


def test_a_long_title_is_cut_and_a_twin_has_the_same_key():
    draft = captured("fix: " + "字" * 300)
    assert len(draft.title) == 200
    assert (
        same_commit_key("fix: X", DAY) == same_commit_key(" FIX:  x", DAY) != same_commit_key("fix: x", None)
    )


def test_a_report_gives_the_same_commit_as_a_repository():
    report = {
        "sha": SHA,
        "subject": "fix: x",
        "parents": ["p"],
        "files": ["a.py", {"path": "b.py", "status": "added"}],
    }
    assert commit_from_report(report).files == (ChangedFile("a.py"), ChangedFile("b.py", "A"))


@pytest.mark.parametrize(
    "subject",
    ["wip:" + "rollbac" * 30_000, "fix(" + "(" * 200_000, "revert" + " " * 200_000, "修" * 200_000,
     "fix: " + "lint " * 40_000, "roll back" * 30_000, "a" * 200_000 + ":", "fix: " + "a typo in " * 20_000],
    ids=lambda value: ascii(value)[:30],
)  # fmt: skip
def test_a_hostile_message_costs_no_more_than_its_length(subject):
    body = ("- 修" * 3000 + "\n") * 20 + "refs " + "#1 " * 50_000 + "EXP-" * 20_000
    started = time.process_time()
    capture_commit(commit(subject[:100] + " fix", body))
    capture_commit(commit(subject, body))
    assert time.process_time() - started < 1.0
