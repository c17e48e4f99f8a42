"""`make test` counts what ran and never hides what did not."""

import pytest

from tests.house.scripts import load_script

runner = load_script("test")
PASS = '<testcase classname="t" name="{}"/>'
FAIL = '<testcase classname="t" name="{}"><failure message="no"/></testcase>'
ERROR = '<testcase classname="t" name="{}"><error message="no"/></testcase>'
SKIP = '<testcase classname="t" name="{}"><skipped type="pytest.skip" message="needs PostgreSQL"/></testcase>'
XFAIL = '<testcase classname="t" name="{}"><skipped type="pytest.xfail" message=""/></testcase>'


@pytest.fixture
def outcome(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)

    def make(name, *cases, code=0):
        suite = runner.Suite(name, [], {})
        suite.log.write_text("the log")
        if cases:
            text = "".join(case.format(f"test_{number}") for number, case in enumerate(cases))
            suite.junit.write_text(f"<testsuites><testsuite>{text}</testsuite></testsuites>")
        return runner.read_outcome(suite, code, 1.0)

    return make


@pytest.mark.parametrize(
    ("cases", "code", "passed", "failed"),
    [
        ([PASS, PASS], 0, 2, 0),
        ([PASS, FAIL, ERROR], 1, 1, 2),
        ([PASS, SKIP], 0, 1, 0),
        ([PASS, XFAIL], 0, 2, 0),
        ([PASS], 3, 1, 1),
        ([SKIP], 0, 0, 1),
        ([], 5, 0, 1),
        ([], 0, 0, 1),
    ],
)
def test_a_suite_is_counted_from_its_cases_and_its_exit_code(outcome, cases, code, passed, failed):
    result = outcome("sqlite", *cases, code=code)
    assert (result.passed, result.failed) == (passed, failed)


def test_a_test_that_fails_twice_is_one_failure(outcome):
    twice = FAIL.replace("{}", "same") + ERROR.replace("{}", "same")
    assert outcome("sqlite", twice, code=1).failed == 1


def test_a_test_skipped_on_one_database_only_was_run(outcome):
    outcomes = [outcome("sqlite", PASS, SKIP), outcome("postgresql", PASS, PASS)]
    assert runner.skipped_everywhere(outcomes) == []


def test_tests_skipped_everywhere_are_left_out_with_their_reason(outcome):
    outcomes = [outcome("sqlite", PASS, SKIP, SKIP), outcome("postgresql", PASS, SKIP, SKIP)]
    assert runner.skipped_everywhere(outcomes) == ["2 tests (needs PostgreSQL)"]


def test_the_last_line_sums_over_the_suites(outcome, capsys):
    runner.report([outcome("sqlite", PASS, FAIL, code=1), outcome("lint", PASS)], ["browser tests (none)"], 7)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "2 passed, 1 failed"
    assert "not run: browser tests (none)" in lines
    assert any("random seed 7" in line for line in lines)


def test_a_failed_suite_shows_its_log_from_the_first_failure_on(outcome, capsys):
    result = outcome("sqlite", FAIL, code=1)
    result.suite.log.write_text("F..\n==== FAILURES ====\nassert 1 == 2\n")
    runner.show(result)
    shown = capsys.readouterr().out
    assert "assert 1 == 2" in shown
    assert "F.." not in shown


def plan(monkeypatch, environment, postgres="", redis="", browser="/usr/bin/chromium"):
    monkeypatch.setattr(runner, "reachable_postgres", lambda url: postgres)
    monkeypatch.setattr(runner, "reachable_redis", lambda url: redis)
    monkeypatch.setattr(runner, "find_browser", lambda env: browser)
    suites, missing = runner.plan(environment, seed=1)
    return {suite.name: suite for suite in suites}, missing


def test_nothing_is_missing_where_everything_is_there(monkeypatch):
    suites, missing = plan(monkeypatch, {"FIELDBOOK_SHARED_DATA": "/data", "DATABASE_URL": "sqlite:///mine"})
    assert list(suites) == ["sqlite", "postgresql", "browser", "lint"]
    assert missing == []
    assert "DATABASE_URL" not in suites["sqlite"].environment
    assert suites["postgresql"].environment["DATABASE_URL"].startswith("postgres://")
    assert suites["sqlite"].command[-1] == "not browser"


def test_each_thing_that_is_missing_is_named(monkeypatch):
    suites, missing = plan(monkeypatch, {}, postgres="refused", redis="refused", browser=None)
    assert list(suites) == ["sqlite", "lint"]
    assert suites["sqlite"].command[-1] == "not browser and not shared_data and not redis"
    assert [line.split(" (")[0] for line in missing] == [
        "tests on the shared collections",
        "tests that need Redis",
        "the suite on PostgreSQL",
        "browser tests",
    ]


def test_a_suite_that_hangs_is_ended_and_counted_as_failed(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    suite = runner.Suite("sqlite", [runner.sys.executable, "-c", "import signal; signal.pause()"], {})
    (result,) = runner.run_together([suite], limit_seconds=0.1)
    assert result.failed == 1
    assert result.code == -15


def test_two_suites_run_at_a_time_and_the_others_follow(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    waits = [runner.sys.executable, "-c", "input()"]
    suites = [runner.Suite(name, waits, {}) for name in ("one", "two", "three")]
    results = runner.run_together(suites, limit_seconds=60)
    shown = [line for line in capsys.readouterr().out.splitlines() if line.endswith("started")]
    assert shown == ["one: started", "two: started", "three: started"]
    assert sorted(result.suite.name for result in results) == ["one", "three", "two"]


@pytest.mark.parametrize(("missing", "code"), [([], 0), (["browser tests (none)"], 1)])
def test_require_all_fails_on_anything_left_out(monkeypatch, tmp_path, outcome, missing, code):
    results = [outcome("sqlite", PASS)]
    monkeypatch.setattr(runner, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(runner, "plan", lambda environment, seed: ([results[0].suite], list(missing)))
    monkeypatch.setattr(runner, "run_together", lambda suites, limit: results)
    monkeypatch.setattr(runner.sys, "argv", ["bin/test", "--require-all"])
    monkeypatch.setattr(runner.signal, "signal", lambda *args: None)
    assert runner.main() == code
