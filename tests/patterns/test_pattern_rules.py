"""Reading diffs, expressions, structures, promotion, similarity, scaffolding, libraries: rules alone."""

import time
from decimal import Decimal

import pytest

from common.errors import ApplicationError
from evolution.patterns.choices import PatternCategory, PatternStatus
from evolution.patterns.rules.diffs import read_diff
from evolution.patterns.rules.expressions import expression_fault, is_found
from evolution.patterns.rules.library import read_library
from evolution.patterns.rules.matching import Candidate, Sought, find_hits, status_after, suggested
from evolution.patterns.rules.scaffold import MAX_RESULT, scaffold
from evolution.patterns.rules.structures import find_structures, fingerprints_of, neutral
from evolution.patterns.rules.values import CATEGORIES, checked_values
from tests.patterns.diffs import HANDLERS, added, three_places


def texts(diff, most=100):
    return {file.path: file.text for file in read_diff(diff, most).files}


def test_only_added_lines_count_and_each_file_by_itself():
    diff = added("a.py", "one", "two", removed=["gone"]) + added("b.py", "three")
    assert texts(diff) == {"a.py": "one\ntwo", "b.py": "three"}


@pytest.mark.parametrize(
    ("diff", "expected"),
    [
        ("", {}),
        ("no diff at all\n+++\n@@ -1 +1 @@\n+x", {}),
        ("+++ b/a\n@@ -0,0 +1,1 @@\n+++ b/trick\n", {"a": "++ b/trick"}),
        ("+++ b/a\n@@ -0,0 +1,2 @@\n+x", {"a": "x"}),
        ("+++ b/a\n@@ -0,0 +1 @@\n+x\n+outside\n", {"a": "x"}),
        ("--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n", {}),
        ("+++ b/a b\t2026-01-01\n@@ -0,0 +1 @@\n+x\n", {"a b": "x"}),
        ('+++ "b/\\346\\226\\207\\t.md"\n@@ -0,0 +1 @@\n+x\n', {"文 .md": "x"}),
        ("+++ b/../../etc/passwd\n@@ -0,0 +1 @@\n+x\n", {"../../etc/passwd": "x"}),
        ("+++ b/a\r\n@@ -1 +1 @@\r\n-y\r\n+x\r\n\\ No newline at end of file\r\n", {"a": "x"}),
        ("+++ b/a\n@@ -999999999,999999999 +1,999999999 @@\n+x\n", {"a": "x"}),
        ("+++ b/a\n@@ -9999999999999 +1 @@\n+x\n", {}),
        ("+++ b/" + "x" * 900 + "\n@@ -0,0 +1 @@\n+y\n", {"x" * 500: "y"}),
    ],
)
def test_odd_and_hostile_diffs_are_read_as_far_as_they_are_diffs(diff, expected):
    assert texts(diff) == expected


def test_files_beyond_the_limit_are_counted():
    diff = "".join(added(f"{number}.py", "x") for number in range(5))
    read = read_diff(diff, 2)
    assert ([file.path for file in read.files], read.left_out) == (["0.py", "1.py"], 3)


@pytest.mark.parametrize(
    ("expression", "is_good"),
    [
        (r"class \w+Repository", True),
        ("仓库|Repository", True),
        ("(a+)+$", True),
        ("[", False),
        (r"(a)\1", False),
        ("(?=x)y", False),
        ("((a{200}){200})", False),
        ("(" * 100 + "a" + ")" * 100, True),
        ("a*", False),
        ("", False),
    ],
)
def test_an_expression_that_cannot_be_used_is_known_before(expression, is_good):
    assert (expression_fault(expression) == "") == is_good


@pytest.mark.parametrize("expression", ["(a+)+$", "(a|a)*b", "(.*a){20}c", r"(\w+\s?)*!", "(x+x+)+y"])
def test_no_expression_takes_long(expression):
    started = time.process_time()
    assert not is_found(expression, "a" * 100_000 + "-")
    assert time.process_time() - started < 5


FILES = read_diff(
    added("a.py", "class UserRepository:", "    session: Session", removed=["cache = 1"]), 9
).files


@pytest.mark.parametrize(
    ("sought", "expected"),
    [
        (Sought(1, ["repository", "SESSION"]), [("a.py", False)]),
        (Sought(1, ["repository", "cache"]), []),
        (Sought(1, ["repository"]), []),
        (Sought(1, [], r"class \w+Repository"), [("a.py", True)]),
        (Sought(1, [], "cache"), []),
        (Sought(1, [], "["), []),
        (Sought(1, []), []),
    ],
)
def test_what_shows_a_pattern(sought, expected):
    assert [(hit.path, hit.by_regex) for hit in find_hits(FILES, [sought])] == expected


def test_keywords_of_two_files_do_not_add_up():
    files = read_diff(added("a.py", "repository") + added("b.py", "session"), 9).files
    assert find_hits(files, [Sought(1, ["repository", "session"])]) == []


@pytest.mark.parametrize(
    ("status", "occurrences", "confidence", "after"),
    [
        ("pending", 3, "0.7", "active"),
        ("pending", 3, "0.699", "pending"),
        ("pending", 3, "0.6", "pending"),
        ("pending", 2, "1", "pending"),
        ("active", 2, "1", "pending"),
        ("active", 3, "0.6", "active"),
        ("deprecated", 9, "1", "deprecated"),
    ],
)
def test_promotion(status, occurrences, confidence, after):
    assert status_after(status, occurrences, Decimal(confidence)) == after


# -- structures


def test_the_same_lines_with_other_names_are_one_structure():
    found = find_structures(read_diff(three_places(), 9).files)
    assert [len(structure.places) for structure in found] == [3]
    assert [place.path for place in found[0].places] == ["app/0.py", "app/1.py", "app/2.py"]
    assert found[0].places[0].lines == tuple(HANDLERS[0])
    assert all(found[0].fingerprint in fingerprints_of(file) for file in read_diff(three_places(), 9).files)
    assert find_structures(read_diff(three_places(), 9).files, frozenset({found[0].fingerprint})) == []


def test_three_places_of_one_file_count_and_two_do_not():
    assert len(find_structures(read_diff(three_places(one_file=True), 9).files)) == 1
    two = "".join(added(f"{number}.py", *HANDLERS[number]) for number in range(2))
    assert find_structures(read_diff(two, 9).files) == []


def test_four_lines_are_no_block_and_a_list_is_no_structure():
    short = "".join(added(f"{number}.py", *block[:4]) for number, block in enumerate(HANDLERS))
    assert find_structures(read_diff(short, 9).files) == []
    constants = added("a.py", *[f"NAME_{number} = {number}" for number in range(60)])
    assert find_structures(read_diff(constants, 9).files) == []


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("x = 1", "total = 0xff"),
        ('call("a \\" b")', "call('z')"),
        ("    if  (a) {", "if(b){"),
        ("用户 = 查询(1)", "book = find(2.5)"),
    ],
)
def test_what_may_differ_is_taken_out(line, other):
    assert neutral(line) == neutral(other)
    assert neutral("if a:") != neutral("while a:")


@pytest.mark.parametrize("piece", ['"\\', "'", "`a", '"a" ', "a.", "1e", "\\'", "é"])
def test_no_line_takes_long(piece):
    diff = added("a.py", *[piece * 20_000] * 6)
    started = time.process_time()
    find_structures(read_diff(diff, 9).files)
    assert time.process_time() - started < 5


# -- reuse


def test_suggestions_are_active_first_then_the_most_similar():
    candidates = [
        Candidate(1, "repository for users", False),
        Candidate(2, "repository layer", True),
        Candidate(3, "repository for users and books", False),
        Candidate(4, "colour picker", True),
        Candidate(5, "用户仓库 repository", True),
    ]
    assert [number for number, _score in suggested("repository users", candidates)] == [2, 5, 1, 3]
    assert suggested("", candidates) == []


@pytest.mark.parametrize(
    ("template", "values", "text", "missing"),
    [
        ("class {{name}} ${kind}", {"name": "A", "kind": "B"}, "class A B", []),
        ("{{a}} {{b}} ${c} {{a}}", {"b": "1"}, "{{a}} 1 ${c} {{a}}", ["a", "c"]),
        ("{{x}}", {"x": "{{x}}"}, "{{x}}", []),
        ("{{x}}{{y}}", {"x": "{{y}} ${y}", "y": "v"}, "{{y}} ${y}v", []),
        ("{{ name }} {{名字}} {{a-b}}", {"name": "1", "名字": "二", "a-b": "3"}, "1 二 3", []),
        (
            "{0.__class__} %s {{ settings.KEY }} $x {{}}",
            {"x": "1"},
            "{0.__class__} %s {{ settings.KEY }} $x {{}}",
            [],
        ),
        ("a\\g<0>{{x}}", {"x": "\\1\\g<0>"}, "a\\g<0>\\1\\g<0>", []),
    ],
)
def test_a_template_is_filled_in_one_pass(template, values, text, missing):
    made = scaffold(template, values)
    assert (made.text, made.missing) == (text, missing)


def test_a_template_does_not_swell_without_end():
    with pytest.raises(ApplicationError):
        scaffold("{{a}}" * 1000, {"a": "x" * (MAX_RESULT // 900)})


# -- fields and files


def test_words_of_rules_and_of_columns_are_the_same():
    assert list(CATEGORIES) == PatternCategory.values
    assert {"pending", "active", "deprecated"} == set(PatternStatus.values)


@pytest.mark.parametrize(
    ("values", "pointers"),
    [
        ({"name": " "}, ["/name"]),
        ({"name": "x" * 101, "category": "x"}, ["/name", "/category"]),
        ({"name": "a", "keywords": ["x" * 61, 7]}, ["/keywords/0", "/keywords/1"]),
        ({"name": "a", "keywords": [str(n) for n in range(21)]}, ["/keywords"]),
        ({"name": "a", "regex": "[", "template": "x" * 20_001}, ["/regex", "/template"]),
        ({"name": "a", "regex": "a" * 201}, ["/regex"]),
        (
            {"name": "a", "confidence": 1.5, "imported_occurrences": -1},
            ["/confidence", "/imported_occurrences"],
        ),
        ({"name": "a", "confidence": "0.7"}, ["/confidence"]),
        ({"name": "a\x00", "description": 3}, ["/name", "/description"]),
    ],
)
def test_every_fault_is_told(values, pointers):
    with pytest.raises(ApplicationError) as raised:
        checked_values(values)
    assert [fault.pointer for fault in raised.value.errors] == pointers


LIBRARY = """# Library

## P-007: Repository Pattern
- **Category**: data-layer
- **Keywords**: repository, session
- **Regex**: `class \\w+Repository`
- **Confidence**: 0.8
- **Occurrences**: 4

Keeps queries in one place.

```python
class {{name}}Repository:
    # ## P-009: not a heading
    pass
```

## 名为加载的模式
- 分类：ui-layer
- 关键词：加载、loading
- 状态: DEPRECATED

## Notes
Nothing to see.
"""


def test_a_library_is_read():
    first, second = read_library(LIBRARY, "pattern_library.md")
    assert (first.number, first.source) == (7, "pattern_library.md:3")
    assert first.values["template"].startswith("class {{name}}Repository:\n    # ##")
    assert first.values | {"template": ""} == {
        "name": "Repository Pattern",
        "category": "data-layer",
        "keywords": ["repository", "session"],
        "regex": r"class \w+Repository",
        "confidence": Decimal("0.8"),
        "imported_occurrences": 4,
        "template": "",
        "template_language": "python",
        "description": "Keeps queries in one place.",
    }
    assert (second.values["keywords"], second.is_deprecated) == (["加载", "loading"], True)
    listed = read_library('[{"id": "P-003", "name": "a", "keywords": ["x"]}, 7]', "a.json")
    assert [(entry.number, entry.values) for entry in listed] == [
        (3, {"name": "a", "keywords": ["x"]}),
        (None, {}),
    ]
