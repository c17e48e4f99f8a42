"""`rebuild_search`: the index is derived, so it can be compared with what it was made of, and made again."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from common.search import sources
from common.search.models import SearchDocument, SearchGeneration
from common.search.rules.query import Entry
from tests.search.asking import found, put

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def notes(monkeypatch, acme):
    """The objects of the one registered kind: those of acme are kept here."""
    texts = {1: "lock lease", 2: "断线", 3: "lock"}

    def ids(company):
        return texts if company == acme else []

    def entries(company, wanted):
        own = ids(company)
        return (Entry(key, {"text": own[key].split()}) for key in wanted if key in own)

    monkeypatch.setattr(sources, "_SOURCES", {})
    sources.register("note", sources.Source(ids, entries))
    return texts


def run(*arguments):
    out = StringIO()
    try:
        call_command("rebuild_search", *arguments, stdout=out)
    except CommandError as error:
        return 1, out.getvalue() + str(error)
    return 0, out.getvalue()


def test_an_empty_index_is_filled_and_a_second_run_changes_nothing(acme, rival, notes):
    code, told = run()
    assert code == 0
    assert "acme note: missing 3 outdated 0 superfluous 0" in told
    assert found(acme, "lock") == [3, 1]
    generation = SearchGeneration.objects.get(company=acme).generation
    assert run("--company", "acme")[1].splitlines()[-1] == "indexes 1 documents 3 differences 0"
    assert SearchGeneration.objects.get(company=acme).generation == generation


@pytest.mark.parametrize("option", ["--dry-run", "--verify"])
def test_what_differs_is_told_and_nothing_is_written(acme, notes, option):
    run()
    put(acme, 9, "nobody's")
    put(acme, 2, "断线 重连")
    SearchDocument.objects.filter(object_id=3).delete()
    code, told = run(option)
    assert code == (option == "--verify")
    assert "acme note: missing 1 outdated 1 superfluous 1 wrong counts" in told
    assert found(acme, "nobody's") == [9]
    assert run()[0] == 0
    assert found(acme, "nobody's") == []
    assert found(acme, "重连") == []
    assert found(acme, "lock") == [3, 1]
    assert run("--verify")[0] == 0


def test_the_database_s_own_words_are_written_anew(acme, notes, settings):
    run()
    settings.SEARCH_MAX_IN_MEMORY = 0
    run()
    assert found(acme, "lock") == [3, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--kind", "x"], "No kind “x” is indexed. There are: note."), (["--company", "x"], "No company “x”")],
)
def test_an_unknown_kind_or_company_is_named(arguments, message):
    code, told = run(*arguments)
    assert code == 1
    assert message in told
