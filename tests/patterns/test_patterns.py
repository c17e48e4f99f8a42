"""Patterns through their doors: made, found, promoted, suggested, filled in, decided about, taken over from files."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.receipts.models import Receipt
from evolution.lessons.models import Repository
from evolution.parameters.models import Parameter
from evolution.patterns.models import Pattern, PatternSighting
from evolution.patterns.rules.values import MAX_NUMBER
from evolution.patterns.services import storing
from tests.commands.calls import lines, run
from tests.factories import ApiClient, make_agent, make_key
from tests.lessons.git_folders import commit, evil, git
from tests.lessons.people import Staff, problem
from tests.patterns.diffs import added, three_places
from tests.patterns.test_pattern_rules import LIBRARY

pytestmark = pytest.mark.django_db
REPOSITORY = {"name": "Repository Pattern", "category": "data-layer", "keywords": ["repository", "session"]}


@pytest.fixture
def runtime(acme):
    return ApiClient(make_key(acme, ["read", "report"], name="runtime"), **{"accept-language": "en"})


@pytest.fixture
def staff(administrator):
    return Staff(administrator)


def made(client, **fields):
    answer = client.post("patterns", {**REPOSITORY, **fields})
    assert answer.status_code == 201, answer.content.decode()
    return answer.json()


def scanned(client, diff, commit="a1", **fields):
    answer = client.post("patterns/scan", {"repository": "app", "commit": commit, "diff": diff, **fields})
    assert answer.status_code == 200, answer.content.decode()
    return answer.json()


def shown(client, code="P-001"):
    return client.get(f"patterns/{code}").json()


FOUND = "".join(added(f"src/{name}.py", "class Repository:", "  session = 1") for name in "abc")


# -- making and changing


def test_a_key_proposes_and_its_word_on_confidence_counts_for_nothing(runtime):
    told = made(runtime, confidence=1, template="{{name}}", status="active", vouched_by="me")
    assert (told["id"], told["status"], told["confidence"]) == ("P-001", "pending", 0.7)
    assert (told["reported_by"], told["vouched_by"], told["parameters"]) == ("key:runtime", "", ["name"])
    assert Receipt.objects.get(trigger="pattern_added").lines.get().target == "P-001"
    assert problem(runtime.post("patterns", {**REPOSITORY, "name": "repository  PATTERN"})) == (
        400,
        "VALIDATION_ERROR",
        ["/name"],
    )


def test_secrets_never_reach_the_table(runtime):
    token = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    made(runtime, template=f"key = '{token}'", description=f"uses {token}", keywords=[token, "x"])
    assert token not in repr(list(Pattern.objects.values()))
    assert problem(runtime.post("patterns", {"name": "b", "regex": token}))[2] == ["/regex"]


@pytest.mark.parametrize("regex", ["[", r"(a)\1", "(?=x)y", "((a{200}){200})", "x*", "a" * 201])
def test_an_expression_that_cannot_be_used_is_refused(runtime, staff, regex):
    assert problem(runtime.post("patterns", {**REPOSITORY, "regex": regex})) == (
        400,
        "VALIDATION_ERROR",
        ["/regex"],
    )
    made(runtime)
    assert problem(staff.patch("patterns/P-001", {"regex": regex}))[2] == ["/regex"]
    assert shown(runtime)["regex"] == ""


def test_staff_change_it_and_stand_for_it(runtime, staff, acme):
    made(runtime)
    changed = staff.patch("patterns/P-001", {"description": "One place for queries", "confidence": 0.6})
    assert (changed.json()["vouched_by"], changed.json()["confidence"]) == ("administrator", 0.6)
    stale = staff.patch("patterns/P-001", {"description": "x"}, **{"if-match": '"1"'})
    assert stale.status_code == 412
    assert runtime.patch("patterns/P-001", {"description": "x"}).status_code == 403
    assert staff.patch("patterns/P-001", {"confidence": 7}).status_code == 400
    assert Receipt.objects.get(trigger="pattern_changed").detail["fields"] == ["confidence", "description"]


# -- scanning


@pytest.mark.parametrize(("confidence", "status"), [(0.7, "active"), (0.6, "pending")])
def test_three_sightings_promote_at_0_7(runtime, staff, confidence, status):
    made(staff)
    staff.patch("patterns/P-001", {"confidence": confidence})
    two = "".join(added(f"src/{name}.py", "class Repository:", "  session = 1") for name in "ab")
    assert len(scanned(runtime, two)["sightings"]) == 2
    assert shown(runtime)["status"] == "pending"
    third = scanned(runtime, added("src/c.py", "repository", "session"), commit="b2")
    assert third["promoted"] == (["P-001"] if status == "active" else [])
    assert (shown(runtime)["status"], shown(runtime)["occurrences"]) == (status, 3)


def test_a_commit_again_adds_nothing(runtime):
    made(runtime)
    first = scanned(runtime, FOUND)
    assert [row["file"] for row in first["sightings"]] == ["src/a.py", "src/b.py", "src/c.py"]
    again = scanned(runtime, FOUND)
    assert (again["sightings"], again["new_patterns"], again["files"]) == ([], [], 3)
    assert Receipt.objects.filter(trigger="patterns_scanned").count() == 1
    assert PatternSighting.objects.count() == 3
    assert scanned(runtime, FOUND, repository="other")["sightings"] != []


@pytest.mark.parametrize(
    "diff",
    [
        added("a.py", "repository", removed=["session"]),
        added("a.py", "repository") + added("b.py", "session"),
        added("repository/session.py", "x"),
    ],
)
def test_a_keyword_that_is_removed_or_in_another_file_is_no_sighting(runtime, diff):
    made(runtime)
    assert scanned(runtime, diff)["sightings"] == []


def test_what_an_expression_finds_starts_at_0_8(runtime, staff):
    made(runtime, keywords=[], regex=r"class \w+Repository")
    scanned(runtime, added("a.py", "class UserRepository:"))
    assert shown(runtime)["confidence"] == 0.8
    made(staff, name="set by hand", regex="class", confidence=0.65)
    scanned(runtime, added("a.py", "class UserRepository:"), commit="b")
    assert shown(runtime, "P-002")["confidence"] == 0.65


def test_a_structure_in_three_places_is_drafted_once_and_stays_pending(runtime):
    first = scanned(runtime, three_places())
    drafted = first["new_patterns"][0]
    assert (drafted["id"], drafted["status"], drafted["occurrences"]) == ("P-001", "pending", 3)
    assert drafted["template"].startswith("def create_user(request):")
    assert (drafted["reported_by"], len(drafted["fingerprint"])) == ("key:runtime", 64)
    assert scanned(runtime, three_places())["new_patterns"] == []
    later = scanned(runtime, three_places(one_file=True), commit="b2")
    assert (later["new_patterns"], later["promoted"]) == ([], ["P-001"])
    assert Pattern.objects.count() == 1


def test_a_deprecated_structure_is_neither_counted_nor_drafted_again(runtime, staff):
    scanned(runtime, three_places())
    staff.post("patterns/P-001/deprecate")
    later = scanned(runtime, three_places(), commit="b2")
    assert (later["sightings"], later["new_patterns"]) == ([], [])


def test_files_beyond_the_company_s_limit_are_counted(runtime, acme):
    Parameter.objects.create(company=acme, name="max_scan_files", value=1)
    made(runtime)
    told = scanned(runtime, FOUND)
    assert (told["files"], told["files_left_out"], len(told["sightings"])) == (1, 2, 1)


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"repository": "", "commit": "--output=x", "diff": "x"}, ["/repository", "/commit", "/diff"]),
        ({"repository": 1, "commit": None, "diff": ["+++ b/a"]}, ["/repository", "/commit", "/diff"]),
        ({"repository": "r" * 201, "commit": "a" * 65, "diff": " "}, ["/repository", "/commit", "/diff"]),
    ],
)
def test_a_bad_scan_is_one_clear_error(runtime, fields, pointers):
    assert problem(runtime.post("patterns/scan", fields)) == (400, "VALIDATION_ERROR", pointers)


def test_another_agent_s_pattern_is_not_looked_for(runtime, acme):
    agent, other = make_agent(acme), make_agent(acme)
    made(runtime, agent=agent.pk)
    assert scanned(runtime, FOUND, agent=other.pk)["sightings"] == []
    assert len(scanned(runtime, FOUND, agent=agent.pk)["sightings"]) == 3
    bound = ApiClient(make_key(acme, ["read", "report"], agent_id=other.pk))
    assert bound.get("patterns/P-001").status_code == 404
    assert bound.get("patterns").json()["count"] == 0


def test_a_company_at_its_limit_gets_no_new_drafts(runtime, monkeypatch):
    made(runtime)
    monkeypatch.setattr("evolution.patterns.services.scanning.MAX_PATTERNS", 1)
    assert scanned(runtime, three_places())["new_patterns"] == []
    monkeypatch.setattr(storing, "MAX_PATTERNS", 1)
    assert problem(runtime.post("patterns", {"name": "b"}))[:2] == (409, "STATE_CONFLICT")


# -- reuse


def test_suggestions_name_who_reported_and_who_vouches(runtime, staff, rival_writer):
    made(rival_writer, name="Repository of the rival")
    made(runtime, name="Repository for users", description="# Title\nqueries")
    made(staff, name="Repository layer")
    for commit_name in "abc":
        scanned(runtime, added("a.py", "repository session"), commit=commit_name)
    Pattern.objects.filter(number=1).update(status="pending")
    answer = runtime.post("patterns/suggest", {"description": "a repository for users"}).json()
    told = [(row["pattern"]["id"], row["pattern"]["status"]) for row in answer["patterns"]]
    assert told == [("P-002", "active"), ("P-001", "pending")]
    assert "key:runtime, not vouched for" in answer["text"] and "\\# Title" in answer["text"]
    assert "rival" not in answer["text"]
    assert runtime.post("patterns/suggest", {"description": "colour"}).json() == {"patterns": [], "text": ""}
    assert [row["id"] for row in runtime.get("patterns?q=repository users").json()["results"]] == [
        "P-002",
        "P-001",
    ]
    assert runtime.get("patterns?status=lost").status_code == 400
    staff.post("patterns/P-002/deprecate")
    answer = runtime.post("patterns/suggest", {"description": "a repository for users"}).json()
    assert [row["pattern"]["id"] for row in answer["patterns"]] == ["P-001"]


def test_a_template_is_filled_in_and_what_is_missing_named(runtime):
    made(runtime, template="class {{userName}}(${base}): {{other}}")
    answer = runtime.post("patterns/P-001/scaffold", {"params": {"userName": "{{x}}", "base": "B"}})
    assert answer.json() == {
        "text": "class {{x}}(B): {{other}}",
        "missing": ["other"],
        "status": "pending",
        "reported_by": "key:runtime",
        "vouched_by": "",
    }
    assert runtime.post("patterns/P-001/scaffold", {"params": {"a": 7}}).status_code == 400
    assert (
        runtime.post("patterns/P-001/scaffold", {"params": {str(n): "" for n in range(101)}}).status_code
        == 400
    )
    assert runtime.post("patterns/P-001/scaffold").json()["missing"] == ["userName", "base", "other"]


# -- deciding


def test_verify_adds_0_1_up_to_1_and_promotes_what_is_seen_enough(runtime, staff):
    made(runtime)
    staff.patch("patterns/P-001", {"confidence": 0.6})
    scanned(runtime, FOUND)
    assert shown(runtime)["status"] == "pending"
    told = staff.post("patterns/P-001/verify").json()
    assert (told["confidence"], told["status"], told["vouched_by"]) == (0.7, "active", "administrator")
    for _time in range(4):
        told = staff.post("patterns/P-001/verify").json()
    assert told["confidence"] == 1
    assert runtime.post("patterns/P-001/verify").status_code == 403


def test_promote_says_what_is_lacking_and_deprecate_can_be_taken_back(runtime, staff):
    made(runtime)
    refused = staff.post("patterns/P-001/promote")
    assert problem(refused)[:2] == (409, "STATE_CONFLICT")
    scanned(runtime, FOUND)
    assert staff.post("patterns/P-001/promote").status_code == 409
    assert staff.post("patterns/P-001/deprecate").json()["status"] == "deprecated"
    assert staff.post("patterns/P-001/deprecate").status_code == 409
    assert staff.post("patterns/P-001/verify").status_code == 409
    assert staff.post("patterns/P-001/promote").json()["status"] == "active"


def test_what_is_quarantined_is_not_there_for_runtimes(runtime):
    made(runtime)
    Pattern.objects.update(quarantined_at="2026-01-01T00:00:00Z")
    assert runtime.get("patterns/P-001").status_code == 404
    assert scanned(runtime, FOUND)["sightings"] == []


# -- commands


def test_a_commit_of_a_repository_is_searched_without_running_anything(acme, runtime, tmp_path):
    tmp_path = tmp_path / "repository"
    tmp_path.mkdir()
    git(tmp_path, "init", "-q", "-b", "main")
    sha = commit(tmp_path, "feat: one", {"src/a.py": "class Repository:\n  session = 1\n"})
    evil(tmp_path)
    Repository.objects.create(company=acme, name="app", path=str(tmp_path))
    made(runtime)
    run("scan_patterns", "--repository", "app", "--commit", "HEAD", "--company", "acme")
    asked = ("scan_patterns", "--repository", "app", "--commit", sha, "--company", "acme")
    wanted = ["P-001 src/a.py", "files 1 left_out 0 sightings 1 new 0"]
    assert lines(*asked, "--dry-run") == wanted
    assert PatternSighting.objects.count() == 0
    assert lines(*asked) == wanted
    assert run(*asked) == "files 1 left_out 0 sightings 0 new 0"
    assert not (tmp_path.parent / "ran").exists()
    for odd in ("--output=x", "a" * 40, "HEAD~0"):
        with pytest.raises(Exception, match="commit"):
            run("scan_patterns", "--repository", "app", f"--commit={odd}", "--company", "acme")
    with pytest.raises(Exception, match="no repository"):
        run("scan_patterns", "--repository", "other", "--commit", sha, "--company", "acme")


def test_a_library_is_taken_over_once(acme, runtime, tmp_path):
    path = tmp_path / "pattern_library.md"
    path.write_text(LIBRARY + "\n## P-007: Another\n- Category: common\n\n## Bad\n- Category: x\n")
    told = lines("import_patterns", path, "--company", "acme", "--dry-run")
    assert told[-1] == "found 4 imported 2 skipped 0 failed 2"
    assert Pattern.objects.count() == 0
    assert lines("import_patterns", path, "--company", "acme")[-1] == told[-1]
    imported = shown(runtime, "P-007")
    assert (imported["status"], imported["occurrences"], imported["confidence"]) == ("active", 4, 0.8)
    assert shown(runtime, "P-008")["status"] == "deprecated"
    assert lines("import_patterns", path, "--company", "acme")[-1] == "found 4 imported 0 skipped 2 failed 2"
    assert Receipt.objects.filter(trigger="patterns_imported").count() == 1
    assert made(runtime, name="next")["id"] == "P-009"


def test_a_huge_number_in_a_library_does_not_use_up_all_numbers(acme, runtime, tmp_path):
    path = tmp_path / "library.md"
    path.write_text("".join(f"## P-{MAX_NUMBER + more}: N{more}\n- Category: common\n\n" for more in (0, 1)))
    told = lines("import_patterns", path, "--company", "acme")
    assert told[-1] == "found 2 imported 1 skipped 0 failed 1"
    assert made(runtime, name="next")["id"] == f"P-{MAX_NUMBER + 1}"


# -- staff


def test_staff_add_and_change_patterns_on_their_page(signed_in, administrator, acme, runtime):
    client = signed_in(administrator)
    page = "/admin/patterns/pattern/add/"
    form = {
        **REPOSITORY,
        "keywords": "repository\nsession",
        "company": acme.pk,
        "confidence": "0.7",
        "regex": "[",
    }
    assert "This expression cannot be used" in client.post(page, form).content.decode()
    assert client.post(page, {**form, "regex": "class"}).status_code == 302
    pattern = Pattern.objects.get()
    assert (pattern.keywords, pattern.vouched_by) == (["repository", "session"], "administrator")
    scanned(runtime, FOUND)
    page = f"/admin/patterns/pattern/{pattern.pk}/change/"
    answer = client.get(page)
    assert "src/a.py" in answer.content.decode()
    seen = answer.context["adminform"].form.state()
    change = {**form, "regex": "", "name": "Renamed", "seen": seen}
    assert client.post(page, change).status_code == 302
    assert "changed this in the meantime" in client.post(page, {**change, "name": "Late"}).content.decode()
    assert Pattern.objects.get().name == "Renamed"


def test_staff_promote_and_deprecate_from_the_list(signed_in, approver, runtime):
    made(runtime)
    client, page = signed_in(approver), "/admin/patterns/pattern/"
    chosen = {"_selected_action": [Pattern.objects.get().pk], "confirmed": "yes"}
    refused = client.post(page, {**chosen, "action": "promote_chosen"}, follow=True).content.decode()
    assert "P-001 needs 3 occurrences" in refused
    told = client.post(page, {**chosen, "action": "deprecate_chosen"}, follow=True).content.decode()
    assert "1 pattern changed." in told
    assert Pattern.objects.get().status == "deprecated"


def test_the_list_of_staff_takes_the_same_queries_for_one_row_and_for_many(runtime, signed_in, viewer):
    client = signed_in(viewer)

    def queries():
        with CaptureQueriesContext(connection) as caught:
            assert client.get("/admin/patterns/pattern/").status_code == 200
        return len(caught)

    made(runtime, name="<script>alert(1)</script>")
    assert "<script>alert(1)" not in client.get("/admin/patterns/pattern/").content.decode()
    one = queries()
    for number in range(4):
        made(runtime, name=f"n{number}")
    assert queries() == one
