"""Protection rules leave as YAML and come back; a file with a fault changes nothing."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone, translation

from agents.models import ProtectedPath
from agents.services.protection_files import import_protection_rules
from common.actors import command_actor
from common.errors import ApplicationError
from common.receipts.models import Receipt
from tests.commands.calls import lines, run

pytestmark = pytest.mark.django_db

GOOD = """\
protected_paths:
  - pattern: notes/*.md
    section: 红线
    section_aliases: [Never, "1"]
    level: block
    description: "Phase 1: 需求"
  - path: Principles.md
    section: 绝不做
    level: confirm
"""


@pytest.fixture
def file(tmp_path):
    def written(content):
        path = tmp_path / "rules.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def refused(path):
    """What the command printed about a faulty file, which ends it with an error."""
    out = StringIO()
    with pytest.raises(CommandError, match="Nothing was stored"):
        call_command("import_protected_paths", str(path), stdout=out, stderr=StringIO())
    return out.getvalue().rstrip("\n").split("\n")


def state():
    return list(ProtectedPath.objects.order_by("pk").values_list("pattern", "section", "level", "enabled"))


def test_named_rules_are_made_or_changed_and_others_stay(file, global_company):
    before = ProtectedPath.objects.count()
    assert lines("import_protected_paths", file(GOOD))[-1] == "found 2 imported 2 skipped 0 failed 0"
    assert ProtectedPath.objects.count() == before + 1
    new = ProtectedPath.objects.get(pattern="notes/*.md")
    assert (new.section, new.section_aliases, new.level, new.enabled) == (
        "红线",
        ["Never", "1"],
        "block",
        True,
    )
    changed = ProtectedPath.objects.get(section="绝不做")
    # What the file does not say stays.
    assert changed.level == "confirm" and "must_not" in changed.section_aliases
    triggers = Receipt.objects.filter(type="protection_change").order_by("number")
    assert [receipt.trigger for receipt in triggers] == ["protection_rule_created", "protection_rule_changed"]
    assert {receipt.company for receipt in triggers} == {global_company}


def test_what_stands_so_already_is_skipped(file):
    run("import_protected_paths", file(GOOD))
    written = Receipt.objects.count()
    assert lines("import_protected_paths", file(GOOD))[-1] == "found 2 imported 0 skipped 2 failed 0"
    assert Receipt.objects.count() == written


def test_a_trial_run_prints_the_same_and_stores_nothing(file):
    before = state()
    assert (
        lines("import_protected_paths", file(GOOD), "--dry-run")[-1]
        == "found 2 imported 2 skipped 0 failed 0"
    )
    assert state() == before and not Receipt.objects.exists()


def test_an_export_comes_back_equal(file, acme):
    exported = run("export_protected_paths") + "\n"
    count = ProtectedPath.objects.count()
    assert (
        lines("import_protected_paths", file(exported))[-1]
        == f"found {count} imported 0 skipped {count} failed 0"
    )
    run("import_protected_paths", file(exported), "--company", "acme")
    assert ProtectedPath.objects.filter(company=acme).count() == count
    assert run("export_protected_paths", "--company", "acme") + "\n" == exported


@pytest.mark.parametrize(
    ("bad", "line", "said"),
    [
        ("  - pattern: a.md\n    level: blok\n", 10, "block"),
        ("  - pattern: ../a.md\n    level: block\n", 10, ""),
        ("  - pattern: a.md\n    levle: block\n", 10, "levle"),
        ("  - pattern: notes/*.MD\n    section: 红线\n    level: block\n", 10, "twice"),
        ("  - 只是文字\n", 10, "mapping"),
        ("  - pattern: a.md\n    level: block\n    enabled: maybe\n", 10, ""),
        ("  - pattern: a.md\n    path: b.md\n    level: block\n", 10, "path"),
        ("  - pattern: 7\n    level: block\n", 10, "pattern"),
    ],
)
def test_one_faulty_rule_changes_nothing_and_is_named_by_its_line(file, bad, line, said):
    before = state()
    told = refused(file(GOOD + bad))
    assert told[-1] == "found 3 imported 0 skipped 2 failed 1"
    (failed,) = [text for text in told if text.startswith("failed")]
    assert f"rules.yaml:{line}" in failed and said in failed
    assert state() == before and not Receipt.objects.exists()


@pytest.mark.parametrize(
    "content",
    [
        "protected_paths: [",
        "- a\n",
        "protected_paths: x\n",
        "a: &a [x]\nprotected_paths: [*a]\n",
        b"\xff\xfea",
        "",
    ],
)
def test_a_file_that_is_no_list_of_rules_changes_nothing(file, content):
    before = state()
    assert refused(file(content))[-1] == "found 1 imported 0 skipped 0 failed 1"
    assert state() == before


@pytest.mark.parametrize("command", [("import_protected_paths", "x.yaml"), ("export_protected_paths",)])
def test_an_unknown_company_is_named(command):
    with pytest.raises(CommandError, match="nobody"):
        run(*command, "--company", "nobody")


def test_a_fault_is_told_in_the_language_of_who_imports(acme):
    with translation.override("zh-hans"), pytest.raises(ApplicationError) as told:
        import_protection_rules(text="- a\n", company=acme, actor=command_actor("test"), now=timezone.now())
    assert str(told.value.message) == "文件需要一个名为 protected_paths 的列表。"
