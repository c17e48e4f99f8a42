"""Fixes that tell of no mistake give no draft; whatever names one does."""

import pytest

from evolution.lessons.rules.commits import Capture, ChangedFile, Commit, capture_commit
from evolution.lessons.rules.subjects import judge_subject

UPKEEP = [
    "fix: bump to 1.4.1",
    "fix(marketplace): bump versions for 15 plugins after additions (#143)",
    "fix: update agent and skill counts in the metadata",
    "fix(knowledge): set references owner to the project author",
    "Fix: address PR review comments",
    "fix: addressed @somebody review feedback on #495",
    "fix: address feedback on the security page",
    "fix: polish the menu",
    "fix(log): Improve error handling and logging",
    "fix: add margin to the button for improved layout",
    "fix: clarify the instructions",
    "fix: 优化窄屏摘要布局",
    "fix(desktop): 优化输入区间距与等待提示",
    "fix: 调整下载提示文案",
    "fix(ui)：缩小标题字号",
]
TOLD = [
    "fix: improve the cleanup to prevent hanging promises",
    "fix: update the cursor so that a crash loses nothing",
    "fix: update prune paths; fix the table separator",
    "fix!: update the wire format",
    "fix: improve security of the session cookie",
    "fix: 优化下拉框显示，修复名称被截断",
    "fix: 优化 SQL 避免锁等待",
    "fix: 统一后端日志并修复会话消息",
    "fix: bumper cars collide",
    "fix: addresses with a comma are cut",
    "fix: updates of two tabs overwrite each other",
    'Revert "fix: bump to 1.4.1"',
]


@pytest.mark.parametrize("subject", UPKEEP)
def test_upkeep_gives_no_draft(subject):
    assert judge_subject(subject).reason == "upkeep"


@pytest.mark.parametrize("subject", TOLD)
def test_what_names_a_mistake_is_captured(subject):
    assert judge_subject(subject).is_captured


@pytest.mark.parametrize(
    ("subject", "paths", "is_captured"),
    [
        ("Fix broken links in README", ["README.md"], False),
        ("fix: counts", ["docs/a/b.md", "./CHANGELOG"], False),
        ("fix: wrong install command", ["README.md", "install.sh"], True),
        ("fix: documents of the index are lost", ["src/docs_index.py"], True),
        ("fix: nobody said which files", [], True),
        ('Revert "docs: promise it"', ["README.md"], True),
    ],
)
def test_a_fix_of_documents_only_gives_no_draft(subject, paths, is_captured):
    commit = Commit("a" * 40, subject, files=tuple(map(ChangedFile, paths)))
    found = capture_commit(commit)
    assert isinstance(found, Capture) is is_captured
    assert is_captured or found.reason == "scope_docs_or_style"


def test_files_that_were_not_sent_may_be_code():
    commit = Commit("a" * 40, "fix: x", files=(ChangedFile("README.md"),), file_count=300)
    assert isinstance(capture_commit(commit), Capture)
