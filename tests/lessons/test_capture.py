"""From histories to drafts: by command, by task, and pushed over the API."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError
from django.utils import timezone

from common.receipts.models import Receipt
from evolution.lessons.models import CapturedCommit, Lesson, Repository
from evolution.lessons.services import capturing
from evolution.lessons.tasks import capture_lessons
from tests.commands.calls import lines, run
from tests.factories import ApiClient, make_agent, make_key
from tests.lessons.git_folders import commit, evil, git
from tests.lessons.library import make_lesson

pytestmark = pytest.mark.django_db
PUSH = "lessons/capture"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "repository"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    return path


@pytest.fixture
def repository(acme, folder):
    return Repository.objects.create(company=acme, name="app", path=str(folder))


def on(day, hour=10):
    """Author and committer date of a commit."""
    moment = f"2026-03-{day:02d}T{hour:02d}:00:00 +0000"
    return {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}


def capture(*options):
    return lines("capture_lessons", "--repository", "app", *options)


def drafts():
    return list(Lesson.objects.order_by("number"))


def pushed(subject="fix: a", sha="a" * 40, **fields):
    return {
        "sha": sha,
        "subject": subject,
        "author_date": "2026-03-01T10:00:00+08:00",
        "committer_date": "2026-03-01T10:00:00+08:00",
        "parents": ["0" * 40],
        "files": ["src/a.py"],
        **fields,
    }


def push(client, *commits, **fields):
    answer = client.post(PUSH, {"repository": "app", "commits": list(commits), **fields})
    assert answer.status_code == 200, answer.content.decode()
    return answer.json()


# --- golden subjects, by command -------------------------------------------------------------------------------------

#: subject, body -> (severity, tags, title) of the draft, or the reason of the skip.
GOLDEN = {
    (
        "fix(secrets): keychain backend get/store/rotate/delete 显式按 account 隔离",
        "",
    ): ("medium", ["secrets"], "keychain backend get/store/rotate/delete 显式按 account 隔离"),
    ("fix: 修复多个安全漏洞与会话管理问题", ""): ("high", [], "修复多个安全漏洞与会话管理问题"),
    ("fix(db): resolve duplicate Flyway migration version", ""): (
        "medium",
        ["db"],
        "resolve duplicate Flyway migration version",
    ),
    ("fix: Agent 未配置 skillNames 时不再加载全部系统级 skills", ""): (
        "medium",
        [],
        "Agent 未配置 skillNames 时不再加载全部系统级 skills",
    ),
    ("merge: bring MS-003 in", ""): "no_matching_form",
    ("docs: 同步 Agent OS 回滚状态与系统监控优化", ""): "type_docs",
    ("feat(stream): x", ""): "type_feat",
    ("docs(release): x", ""): "type_docs",
    ("rollback on dummy database now has no effect", ""): "not_a_rollback",
}


def test_the_golden_subjects_become_drafts_or_skips_with_their_reason(repository, folder):
    for number, (subject, body) in enumerate(GOLDEN):
        commit(folder, f"{subject}\n\n{body}", {f"f{number}": "x"}, **on(1, number))
    reference = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "-q", "-b", "side")
    commit(folder, "feat: side", {"side": "x"})
    git(folder, "checkout", "-q", "main")
    git(folder, "merge", "-q", "--no-ff", "-m", "Merge side\n\nfix: not this one", "side")
    printed = capture()
    expected = [draft for draft in GOLDEN.values() if isinstance(draft, tuple)]
    assert [(lesson.severity, lesson.tags, lesson.title) for lesson in drafts()] == expected
    assert {lesson.status for lesson in drafts()} == {"draft"}
    assert {lesson.category for lesson in drafts()} == {"PRACT-EXP"}
    report = Repository.objects.get().last_report
    assert report["skipped"] == {
        "merge": 1, "no_matching_form": 1, "not_a_rollback": 1, "type_docs": 2, "type_feat": 2,
    }  # fmt: skip
    assert (report["scanned"], report["captured"], report["left"]) == (11, 4, 0)
    assert printed[4] == "app: scanned 11 captured 4 skipped 7 left 0 redacted 0"
    assert Repository.objects.get().cursor_sha == git(folder, "rev-parse", "HEAD") != reference


def test_a_second_run_creates_nothing_and_leaves_no_receipt(repository, folder, acme):
    commit(folder, "fix: a", {"DSL/中译英.yml": "x", "with space.md": "y"}, **on(1))
    capture()
    (lesson,) = drafts()
    assert lesson.related_files == ["DSL/中译英.yml", "with space.md"]
    receipt = Receipt.objects.get(company=acme, type="capture")
    assert receipt.detail["scanned"] == receipt.detail["captured"] == 1
    assert [line.target for line in receipt.lines.order_by("order")][1:] == [lesson.code]
    assert capture()[-1] == "app: scanned 0 captured 0 skipped 0 left 0 redacted 0"
    Repository.objects.update(cursor_sha="")
    assert "already_captured 1" in capture()[-1]
    assert (len(drafts()), Lesson.objects.count()) == (1, 1)


def test_fields_come_from_cues_and_secrets_are_gone_before_anything_is_stored(repository, folder, acme):
    known = make_lesson(acme)
    body = (
        "原因：锁 password=hunter2hunter2\n触发：并发\n修复：加锁\n教训：先加锁\n\n"
        f"相关 {known.code} EXP-099\nRefs #12\n联系 someone@example.com"
    )
    sha = commit(folder, f"fix(db): token ghp_{'a' * 36} leaks\n\n{body}", {"a.py": "x"}, **on(1, 20))
    capture()
    lesson = drafts()[-1]
    assert (lesson.what[:2], lesson.when, lesson.how, lesson.takeaway) == ("锁 ", "并发", "加锁", "先加锁")
    assert str(lesson.date) == "2026-03-02"  # 20:00 UTC in Asia/Shanghai
    assert (lesson.trigger, lesson.sha) == (f"commit {sha[:7]}", sha)
    assert list(lesson.related.all()) == [known]
    assert lesson.references == ["#12", "EXP-099"]
    assert sum(lesson.redactions.values()) >= 2
    stored = repr(list(Lesson.objects.values())) + repr(list(CapturedCommit.objects.values()))
    stored += repr(list(Receipt.objects.values())) + repr(Repository.objects.get().last_report)
    assert "hunter2" not in stored
    assert "ghp_" not in stored
    assert Receipt.objects.get(type="capture").detail["redactions"]


def test_without_cues_the_parts_stay_blank(repository, folder):
    commit(folder, "fix: a\n\nSome text.", {"a.py": "x"})
    capture()
    (lesson,) = drafts()
    assert (lesson.what, lesson.when, lesson.how, lesson.takeaway, lesson.checklist) == ("", "", "", "", [])


def test_a_revert_is_grave_and_related_to_what_it_takes_back(repository, folder):
    sha = commit(folder, "fix(setup): dedup stale hook", {"a": "1"}, **on(1))
    commit(
        folder,
        f'Revert "fix(setup): dedup stale hook"\n\nThis reverts commit {sha}.',
        {"a": "2"},
        **on(2),
    )
    commit(folder, 'Revert "Revert "fix(setup): dedup stale hook""', {"a": "3"}, **on(20))
    capture()
    fix, revert, again = drafts()
    assert (revert.severity, revert.reverts_sha) == ("high", sha)
    assert list(revert.related.all()) == [fix]
    assert again.title.startswith("Revert")


def test_a_rebased_twin_is_the_same_commit(repository, folder):
    commit(folder, "one", {"a": "1"}, **on(1))
    git(folder, "checkout", "-q", "-b", "topic")
    commit(folder, "fix: topic", {"b": "1"}, **on(2))
    capture()
    twin = commit(folder, "more", {"c": "1"}, **on(3))
    git(folder, "checkout", "-q", "main")
    commit(folder, "two", {"d": "1"}, **on(4))
    later = {"GIT_COMMITTER_DATE": "2026-03-09T00:00:00 +0000"}
    git(
        folder,
        "rebase",
        "-q",
        "main",
        "topic",
        GIT_COMMITTER_NAME="B",
        GIT_COMMITTER_EMAIL="b@c.test",
        **later,
    )
    assert git(folder, "rev-parse", "HEAD") != twin
    printed = capture()
    assert len(drafts()) == 1
    assert "app: the commit read last is gone: the last 30 days were read" in printed


# --- where a run begins and ends -------------------------------------------------------------------------------------


def test_runs_take_the_oldest_and_go_on_where_they_ended(repository, folder):
    shas = [commit(folder, f"fix: number {day}", {f"f{day}": "x"}, **on(day)) for day in range(1, 6)]
    assert capture("--max", "2", "--dry-run")[-1].endswith("scanned 2 captured 2 skipped 0 left 3 redacted 0")
    assert (Lesson.objects.count(), Repository.objects.get().cursor_sha) == (0, "")
    assert capture("--max", "2")[-1].endswith("left 3 redacted 0")
    assert Repository.objects.get().cursor_sha == shas[1]
    capture("--max", "2"), capture("--max", "2")
    assert [lesson.sha for lesson in drafts()] == shas
    capture("--since", shas[0])
    assert len(drafts()) == 5


def test_a_lost_cursor_reads_the_last_30_days(repository, folder):
    now = timezone.now()
    for days, name in ((40, "old"), (3, "new")):
        moment = (now - timedelta(days=days)).isoformat()
        commit(folder, f"fix: {name}", {name: "x"}, GIT_AUTHOR_DATE=moment, GIT_COMMITTER_DATE=moment)
    Repository.objects.update(cursor_sha="1" * 40)
    capture()
    assert [lesson.title for lesson in drafts()] == ["new"]
    report = Repository.objects.get()
    assert report.last_report["notes"] == ["cursor_lost"]
    assert report.cursor_sha == git(folder, "rev-parse", "HEAD")


def test_the_boundary_of_a_shallow_clone_is_left_out_of_everything(repository, folder, tmp_path):
    for day in range(1, 5):
        commit(folder, f"fix: {day}", {f"a{day}": "x", "hot.py": str(day)}, **on(day))
    git(tmp_path, "clone", "-q", "--bare", "--depth", "3", f"file://{folder}", "shallow.git")
    Repository.objects.update(path=str(tmp_path / "shallow.git"))
    printed = capture()
    assert [lesson.title for lesson in drafts()] == ["3", "4"]
    assert "app: a shallow clone: its oldest commits are left out" in printed
    assert Repository.objects.get().last_report["skipped"]["shallow_boundary"] == 1


def test_a_history_without_commits_is_no_error(repository):
    assert "app: it has no commits" in capture()


# --- what may be read ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["missing", "plain", "relative", "none", "unknown sha", "broken"])
def test_what_cannot_be_read_is_one_error_and_stores_nothing(repository, folder, kind, tmp_path, capsys):
    commit(folder, "fix: a", {"a": "x"})
    options = ["--since", "0" * 40] if kind == "unknown sha" else []
    path = {"missing": tmp_path / "no", "plain": tmp_path, "relative": "repository", "none": ""}
    Repository.objects.update(path=str(path.get(kind, folder)))
    if kind == "broken":
        (folder / ".git/refs/heads/main").write_text("1" * 40 + "\n")
    with pytest.raises(CommandError, match="1 of the repositories could not be read"):
        capture(*options)
    assert Lesson.objects.count() == CapturedCommit.objects.count() == Receipt.objects.count() == 0
    assert (Repository.objects.get().last_scan_at, Repository.objects.get().last_report) == (None, {})


def test_a_hostile_repository_runs_nothing(repository, folder):
    ran, _sha = evil(folder)
    capture()
    assert [lesson.title for lesson in drafts()] == ["x"]
    assert not ran.exists()


def test_only_folders_that_the_settings_name_are_read(repository, folder, settings, tmp_path):
    commit(folder, "fix: a", {"a": "x"})
    settings.PROFILE = "production"
    for roots in ([], [str(tmp_path / "elsewhere")], [str(folder / ".git")]):
        settings.LESSONS_REPOSITORY_ROOTS = roots
        with pytest.raises(CommandError):
            capture()
    settings.LESSONS_REPOSITORY_ROOTS = [str(tmp_path)]
    capture()
    assert len(drafts()) == 1


@pytest.mark.parametrize("way", ["link", "gitdir", "alternates"])
def test_a_repository_that_leads_elsewhere_is_not_read(acme, folder, settings, tmp_path, way):
    commit(folder, "fix: secret", {"a": "x"})
    root = tmp_path / "allowed"
    inside = root / "app"
    root.mkdir()
    if way == "link":
        inside.symlink_to(folder)
    elif way == "gitdir":
        inside.mkdir()
        (inside / ".git").write_text(f"gitdir: {folder / '.git'}\n")
    else:
        git(tmp_path, "clone", "-q", "--shared", str(folder), str(inside))
    Repository.objects.create(company=acme, name="app", path=str(inside))
    settings.LESSONS_REPOSITORY_ROOTS = [str(root)]
    with pytest.raises(CommandError):
        capture()
    assert Lesson.objects.count() == 0
    settings.LESSONS_REPOSITORY_ROOTS = [str(tmp_path)]
    capture()
    assert len(drafts()) == 1


def test_the_task_reads_what_is_enabled_and_one_broken_repository_stops_no_other(
    repository, folder, acme, tmp_path, rival
):
    commit(folder, "fix: a", {"a": "x"})
    Repository.objects.create(company=acme, name="0-broken", path=str(tmp_path / "no"))
    Repository.objects.create(company=acme, name="off", path=str(folder), enabled=False)
    rival.enabled = False
    rival.save()
    Repository.objects.create(company=rival, name="asleep", path=str(folder))
    assert capture_lessons() == 1
    assert capture_lessons() == 0
    assert {name: bool(at) for name, at in Repository.objects.values_list("name", "last_scan_at")} == {
        "app": True, "0-broken": False, "off": False, "asleep": False,
    }  # fmt: skip
    assert "error" in Repository.objects.get(name="0-broken").last_report
    with pytest.raises(CommandError, match="1 of"):
        run("capture_lessons", "--company", "acme")
    assert Lesson.objects.count() == 1


def test_a_bug_in_one_repository_is_told_after_the_others_had_their_turn(
    repository, folder, acme, monkeypatch
):
    commit(folder, "fix: a", {"a": "x"})
    first = Repository.objects.create(company=acme, name="other", path=str(folder))
    real = capturing.capture_commit

    def fail(one):
        if Lesson.objects.count() == 0 and first.pk:
            first.pk = None
            raise ZeroDivisionError
        return real(one)

    monkeypatch.setattr(capturing, "capture_commit", fail)
    with pytest.raises(ZeroDivisionError):
        capture_lessons()
    assert Lesson.objects.count() == 1


# --- churn and rule files --------------------------------------------------------------------------------------------


def churned():
    return [lesson for lesson in drafts() if lesson.source == "churn"]


def test_a_file_changed_often_across_runs_gives_one_draft_in_30_days(repository, folder):
    for day in (1, 4):
        commit(folder, "feat: x", {"hot.py": str(day), "CHANGELOG.md": str(day)}, **on(day))
    capture()
    assert churned() == []
    commit(folder, "feat: x", {"hot.py": "8", "CHANGELOG.md": "8"}, **on(8))
    capture()
    (lesson,) = churned()
    assert (lesson.title, lesson.severity) == ("hot.py 7 天内修改 3 次", "low")
    assert (lesson.category, len(lesson.references), lesson.related_files) == ("PRACT-EXP", 3, ["hot.py"])
    assert Repository.objects.get().last_report["churn"]["ignored"] == {"CHANGELOG*": 1}
    commit(folder, "feat: x", {"hot.py": "9"}, **on(9))
    capture()
    assert len(churned()) == 1
    assert Repository.objects.get().last_report["skipped"]["churn_cooldown"] == 1
    long_ago = timezone.now() - timedelta(days=31)
    CapturedCommit.objects.filter(key__startswith="churn").update(at=long_ago, key="churn hot.py 2026-01-01")
    commit(folder, "feat: x", {"hot.py": "10"}, **on(10))
    capture()
    assert len(churned()) == 2


def test_what_was_left_out_in_one_run_does_not_trickle_in_with_the_next(repository, folder):
    files = {f"f{number:02d}.py": "" for number in range(25)}
    for day in (1, 2, 3):
        commit(folder, "feat: x", {name: str(day) for name in files}, **on(day))
    printed = capture()
    assert len(churned()) == 20
    report = Repository.objects.get().last_report["churn"]
    assert (report["left_out"], len(report["left_out_top"])) == (5, 5)
    assert sum(line.startswith("left out: ") for line in printed) == 5
    commit(folder, "feat: y", {"other.py": "1"}, **on(4))
    capture()
    assert len(churned()) == 20


def test_strict_counts_only_fixes(repository, folder):
    for day in (1, 2, 3):
        commit(folder, "feat: x", {"hot.py": str(day)}, **on(day))
    capture("--strict", "--dry-run")
    assert "churn" not in "".join(capture("--strict", "--dry-run"))
    assert "hot.py 7 天内修改 3 次" in "".join(capture("--dry-run"))


def test_a_new_rule_and_rebuilt_rules_give_a_draft_a_file(repository, folder):
    commit(folder, "feat: x", {"rules/a.md": "1", "src/b.md": "1"}, **on(1))
    commit(folder, "refactor: y", {"rules/a.md": "2", "workflows/ship.md": "2"}, **on(2))
    capture()
    assert [(lesson.title, lesson.category, lesson.source) for lesson in drafts()] == [
        ("新规则 rules/a.md", "RULE-EXP", "rule_file"),
        ("重构规则 workflows/ship.md", "RULE-EXP", "rule_file"),
    ]


def test_less_severe_captures_are_skipped_and_counted(repository, folder, settings):
    for day in (1, 2, 3):
        commit(folder, f"fix: {day}", {"hot.py": str(day), f"rules/{day}.md": "x"}, **on(day))
    commit(folder, "fix!: 安全", {"b": "1"}, **on(4))
    settings.LESSONS_MIN_SEVERITY = "medium"
    capture("--dry-run")
    Repository.objects.update(min_severity="high")
    capture()
    assert [lesson.title for lesson in drafts()] == ["安全"]
    assert Repository.objects.get().last_report["skipped"] == {
        "below_min_severity": 3, "churn_below_min_severity": 1, "rule_below_min_severity": 3,
    }  # fmt: skip


def test_numbers_go_on_after_the_highest_one(repository, folder, acme, tmp_path):
    run("seed_lessons", "--company", "acme")
    commit(folder, "fix: a", {"a": "x"})
    capture()
    assert drafts()[-1].code == "EXP-003"


# --- pushed commits --------------------------------------------------------------------------------------------------


def test_pushed_commits_follow_the_same_rules_and_are_captured_once(writer, repository, acme):
    commits = [pushed(), pushed("feat: b", "b" * 40), pushed("fix: merge", "c" * 40, parents=["1", "2"])]
    answer = push(writer, *commits)
    assert answer == {
        "created": [{"id": "EXP-001", "sha": "a" * 40, "source": "commit"}],
        "skipped": [{"sha": "b" * 40, "reason": "type_feat"}, {"sha": "c" * 40, "reason": "merge"}],
    }
    assert Receipt.objects.filter(company=acme, type="capture").count() == 1
    again = push(writer, pushed(), pushed())
    assert again["created"] == []
    assert {skip["reason"] for skip in again["skipped"]} == {"already_captured"}
    assert Receipt.objects.filter(company=acme, type="capture").count() == 1
    twin = push(writer, pushed(sha="d" * 40))
    assert twin["skipped"] == [{"sha": "d" * 40, "reason": "already_captured"}]
    assert drafts()[0].date.isoformat() == "2026-03-01"


def test_a_rejected_or_deleted_draft_does_not_come_again(writer, repository):
    push(writer, pushed())
    Lesson.objects.all().delete()
    assert push(writer, pushed())["created"] == []


@pytest.mark.parametrize("label", ["experience-capture", " Experience-Capture "])
def test_the_label_asks_for_one_lesson_about_all_commits(writer, repository, label):
    commits = [pushed("feat: one", "a" * 40), pushed("feat: two", "b" * 40, files=["src/b.py"])]
    answer = push(writer, *commits, labels=["x", label])
    assert answer["created"] == [{"id": "EXP-001", "sha": "b" * 40, "source": "label"}]
    assert answer["skipped"] == [{"sha": "a" * 40, "reason": "type_feat"}]
    (lesson,) = drafts()
    assert (lesson.severity, lesson.category, lesson.source) == ("medium", "PRACT-EXP", "label")
    assert lesson.related_files == ["src/a.py", "src/b.py"]
    assert push(writer, *commits, pushed("feat: three", "c" * 40), labels=[label])["created"] == []
    assert push(writer, pushed("fix: z", "e" * 40), labels=[label])["created"][0]["source"] == "commit"
    assert push(writer, labels=[label]) == {"created": [], "skipped": []}


def test_an_unknown_foreign_or_disabled_repository_is_refused(writer, rival_writer, reader, repository):
    body = {"repository": "app", "commits": [pushed()]}
    assert writer.post(PUSH, {**body, "repository": "nope"}).status_code == 404
    foreign = rival_writer.post(PUSH, body)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "NOT_FOUND")
    assert reader.post(PUSH, body).status_code == 403
    Repository.objects.update(enabled=False)
    assert writer.post(PUSH, body).status_code == 409
    assert Lesson.objects.count() == Receipt.objects.filter(type="capture").count() == 0


def test_a_key_of_an_agent_reports_about_it(acme, repository):
    agent, other = make_agent(acme), make_agent(acme)
    bound = ApiClient(make_key(acme, ["report"], agent_id=agent.pk))
    push(bound, pushed())
    assert drafts()[0].agent == agent
    Repository.objects.update(agent=other)
    assert bound.post(PUSH, {"repository": "app", "commits": []}).status_code == 404


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"commits": [pushed(sha=f"{n:040x}") for n in range(501)]}, "/commits"),
        ({"commits": None}, "/commits"),
        ({"commits": "x"}, "/commits"),
        ({"commits": [1]}, "/commits/0"),
        ({"repository": " "}, "/repository"),
        ({"commits": [pushed(sha="--output=x")]}, "/commits/0/sha"),
        ({"commits": [pushed(author_date="yesterday")]}, "/commits/0/author_date"),
        ({"commits": [pushed(committer_date=5)]}, "/commits/0/committer_date"),
        ({"commits": [pushed(files="a.py")]}, "/commits/0/files"),
        ({"commits": [pushed(files=[5])]}, "/commits/0/files/0/path"),
        ({"labels": "x"}, "/labels"),
    ],
)
def test_a_faulty_push_is_one_error_and_stores_nothing(writer, repository, fields, pointer):
    answer = writer.post(PUSH, {"repository": "app", "commits": [pushed()], **fields})
    assert answer.status_code == 400, answer.content.decode()
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert Lesson.objects.count() == CapturedCommit.objects.count() == 0


def test_the_largest_push_and_odd_texts_are_taken(writer, repository):
    commits = [pushed(f"docs: {n}", f"{n:040x}") for n in range(498)]
    odd = [
        pushed("fix: \u202e\u200b", "f" * 40, files=[]),
        pushed("fix: end", "e" * 40, author_date="9999-12-31T23:59:59Z", files=["x" * 600]),
    ]
    answer = push(writer, *commits, *odd)
    assert [made["source"] for made in answer["created"]].count("commit") == 2
    assert len(answer["skipped"]) == 498
    assert datetime.now(UTC).year <= drafts()[-1].date.year + 1
