"""Which commit subjects tell of a mistake, and how sure that is."""

import pytest

from evolution.lessons.rules.subjects import judge_subject

CAPTURED = [
    # subject, form, confidence, scope, title
    (
        "fix(secrets): keychain backend get/store/rotate/delete 显式按 account 隔离",
        "fix", 0.9, "secrets", "keychain backend get/store/rotate/delete 显式按 account 隔离",
    ),
    ("fix: 修复多个安全漏洞与会话管理问题", "fix", 0.9, "", "修复多个安全漏洞与会话管理问题"),
    (
        "fix(db): resolve duplicate Flyway migration version",
        "fix", 0.9, "db", "resolve duplicate Flyway migration version",
    ),
    (
        "fix: Agent 未配置 skillNames 时不再加载全部系统级 skills",
        "fix", 0.9, "", "Agent 未配置 skillNames 时不再加载全部系统级 skills",
    ),
    ("FIX(API)!: Drop v1", "fix", 0.9, "api", "Drop v1"),
    ("fix：全角冒号", "fix", 0.9, "", "全角冒号"),
    ("ｆｉｘ（ｕｉ）： full width", "fix", 0.9, "ui", "full width"),
    ("hotfix: stop the loop", "fix", 0.9, "", "stop the loop"),
    ("bugfix(边路任务): 切换模型后仍按旧模型执行", "fix", 0.9, "边路任务", "切换模型后仍按旧模型执行"),
    ("fix(docs-site): search crashes", "fix", 0.9, "docs-site", "search crashes"),
    (
        'Revert "fix(setup): dedup stale runtime-continuity hook on semantic merge"',
        "revert", 0.9, "", 'Revert "fix(setup): dedup stale runtime-continuity hook on semantic merge"',
    ),
    ('Revert "Revert "feat: x""', "revert", 0.9, "", 'Revert "Revert "feat: x""'),
    ("revert: undo collateral fixes", "revert", 0.9, "", "undo collateral fixes"),
    ("revert(docs): bring the page back", "revert", 0.9, "docs", "bring the page back"),
    ("Reverted the change of the cache key", "revert", 0.9, "", "Reverted the change of the cache key"),
    ("reverts: the cache", "revert", 0.9, "", "the cache"),
    ("rollback: release 1.2", "rollback", 0.6, "", "release 1.2"),
    ("Roll back the schema change", "rollback", 0.6, "", "Roll back the schema change"),
    ("rollback", "rollback", 0.6, "", "rollback"),
    ("wip: try to undo the migration", "wip", 0.6, "", "wip: try to undo the migration"),
    ("[WIP] revert of the parser", "wip", 0.6, "", "[WIP] revert of the parser"),
    ("修复会话加载时序问题", "chinese", 0.8, "", "修复会话加载时序问题"),
    ("回滚到 1.2 版本", "chinese", 0.8, "", "回滚到 1.2 版本"),
    ("refactor: 修正锁的续租", "chinese", 0.8, "", "修正锁的续租"),
    ("perf（cache）：撤销预热", "chinese", 0.8, "cache", "撤销预热"),
    ("experience: 锁必须有期限", "experience", 1.0, "", "锁必须有期限"),
    ("fix subagent model resolution", "plain_fix", 0.6, "", "fix subagent model resolution"),
    ("Fix broken lock inheritance: twice", "plain_fix", 0.6, "", "Fix broken lock inheritance: twice"),
    ("fix: typo in the SQL of the report makes it crash, and a retry hides it", "fix", 0.9, "",
     "typo in the SQL of the report makes it crash, and a retry hides it"),
    ("fix: lint job hangs on Windows", "fix", 0.9, "", "lint job hangs on Windows"),
]  # fmt: skip

SKIPPED = [
    ("merge: bring MS-003 into main", "no_matching_form"),
    ("docs: 同步 Agent OS 回滚状态与系统监控优化", "type_docs"),
    ("docs(release): fix the notes, revert the table", "type_docs"),
    ("feat(stream): revert on error", "type_feat"),
    ("feat: 修复模式", "type_feat"),
    ("test: fix the flaky test", "type_test"),
    ("style(ui): fix spacing", "type_style"),
    ("chore: 回滚依赖", "type_chore"),
    ("ci: fix the cache", "type_ci"),
    ("build(deps)!: revert webpack", "type_build"),
    ("fix(docs): strip trailing whitespace", "scope_docs_or_style"),
    ("fix(style): 对齐", "scope_docs_or_style"),
    ("fix: typo", "typo_or_lint"),
    ("fix: a few typos in README", "typo_or_lint"),
    ("Fix typo in comment", "typo_or_lint"),
    ("fix(core): lint errors", "typo_or_lint"),
    ("fix: eslint warnings (#12)", "typo_or_lint"),
    ("fix: format tools/ with plugin-eval's ruff config", "typo_or_lint"),
    ("fix: 错别字", "typo_or_lint"),
    ("修复拼写错误", "typo_or_lint"),
    ("修正 eslint 报错", "typo_or_lint"),
    ("rollback on dummy database now has no effect", "not_a_rollback"),
    ("Rollback support for the importer", "not_a_rollback"),
    ("wip: parser", "no_matching_form"),
    ("revert-button colours", "no_matching_form"),
    ("prefix: x", "no_matching_form"),
    ("fixture data", "no_matching_form"),
    ("更新常见问题", "no_matching_form"),
    ("add support to fix: things", "no_matching_form"),
    ("", "no_matching_form"),
    ("fix", "no_matching_form"),
]


@pytest.mark.parametrize(("subject", "form", "confidence", "scope", "title"), CAPTURED)
def test_a_subject_of_a_fix_is_captured(subject, form, confidence, scope, title):
    verdict = judge_subject(subject)
    assert (verdict.form, verdict.confidence, verdict.scope, verdict.title) == (
        form,
        confidence,
        scope,
        title,
    )
    assert verdict.reason == ""


@pytest.mark.parametrize(("subject", "reason"), SKIPPED)
def test_any_other_subject_is_skipped_with_a_reason(subject, reason):
    verdict = judge_subject(subject)
    assert (verdict.reason, verdict.is_captured) == (reason, False)


@pytest.mark.parametrize("subject", ["feat: x\n\nfix: y", "chore: x\r\nfix: y", "feat: x\rRevert y"])
def test_only_the_first_line_counts(subject):
    assert not judge_subject(subject).is_captured
