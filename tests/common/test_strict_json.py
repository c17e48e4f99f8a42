"""JSON is read strictly and written in one form."""

import json
import time
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from common.errors import ApplicationError
from common.strict_json import canonical, loads
from tests.common.hostile_json import HOSTILE_BODIES, ODD_BODIES


def refusal(body, **options):
    with pytest.raises(ApplicationError) as caught, translation.override("en"):
        loads(body, **options)
    return caught.value


def test_there_are_forty_hostile_bodies_with_different_names():
    assert len(HOSTILE_BODIES) == len({name for name, _ in HOSTILE_BODIES}) == 40


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in HOSTILE_BODIES])
def test_a_hostile_body_is_refused_at_once(body):
    started = time.process_time()
    error = refusal(body)
    assert time.process_time() - started < 20
    assert (error.code, error.status) == ("VALIDATION_ERROR", 400)
    # What is told about the fault can be written into an answer.
    assert f"{error.message}{error.errors[0].pointer}".encode()
    assert len(str(error.message)) < 400


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in ODD_BODIES])
def test_an_odd_but_valid_body_is_read(body):
    assert loads(body) == json.loads(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ('{"名称": "运维助手 😀", "n": 1}', {"名称": "运维助手 😀", "n": 1}),
        ('\ufeff{"a": 1}', {"a": 1}),
        (r'{"emoji": "\ud83d\ude00"}', {"emoji": "😀"}),
        ("[9223372036854775807, -9223372036854775808]", [2**63 - 1, -(2**63)]),
        ("[1e308, 0.1, 1e-999, -0.0]", [1e308, 0.1, 0.0, 0.0]),
        (r'{"a": "[[[[{{{{\\", "b": "\""}', {"a": "[[[[{{{{\\", "b": '"'}),
        ('{"a": null, "b": true, "": []}', {"a": None, "b": True, "": []}),
    ],
)
def test_ordinary_json_is_read(body, value):
    assert loads(body.encode()) == value


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b'{"a": {"b": ["ok", "x\\u0000"]}}', "/a/b/1"),
        (b'{"a/b": {"c~d": NaN}}', "/a~1b/c~0d"),
        (b'{"a": [{"x": 1, "x": 2}]}', "/a/0/x"),
        (b'{"a": {"k\\u0000": 1}}', "/a"),
        (b'{"\\ud800": 1, "\\ud800": 2}', ""),
        (b'{"n": [0, 1e999]}', "/n/1"),
        (b"{", ""),
    ],
)
def test_the_error_points_to_the_fault(body, pointer):
    assert [fault.pointer for fault in refusal(body).errors] == [pointer]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[" * 40 + b"]" * 40, ["40", "32", "remove 8"]),
        (b'{"a": 1, "a": 2, "a": 3}', ["a", "3 times", "limit is 1", "keep one"]),
        (b"[99999999999999999999]", ["99999999999999999999", "9223372036854775807", "send"]),
        (b"[1e999]", ["1e999", "1.7976931348623157e308", "smaller"]),
        (b"[NaN]", ["NaN", "null"]),
        (b'["\\u0000"]', ["U+0000", "remove"]),
        (b'{"a":\n x}', ["line 2", "column 2"]),
        (b'"\xff"', ["byte 1", "0xff", "UTF-8"]),
        (b"", ["empty", "send"]),
    ],
)
def test_the_error_says_what_is_wrong_and_what_to_do(body, words):
    message = str(refusal(body).message)
    assert [word for word in words if word not in message] == []


def test_the_depth_limit_can_be_set():
    assert loads(b"[[]]", max_depth=2) == [[]]
    error = refusal(b"[[]]", max_depth=1)
    assert (error.extra["limit"], error.extra["actual"]) == (1, 2)


def test_without_the_depth_guard_the_parser_recurses():
    with pytest.raises(RecursionError):
        json.loads(b"[" * 100_000 + b"]" * 100_000)


def test_without_the_guards_python_takes_what_is_no_json():
    assert json.loads('{"a": 1, "a": NaN}')["a"] != 1
    assert json.loads(r'"\ud800"') == "\ud800"


_TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(_JSON)
def test_whatever_json_can_say_is_read(value):
    assert loads(json.dumps(value).encode()) == value
    assert loads(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=60) | st.text(alphabet='[]{}":,\\u0d8 1e9\n', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_with_the_one_error(body):
    try:
        loads(body)
    except ApplicationError as error:
        assert error.status == 400


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None, "中文 😀"]}, '{"a":[true,null,"中文 😀"],"b":1}'),
        ({"é": 1, "z": 2, "Z": 3}, '{"Z":3,"z":2,"é":1}'),
        ([Decimal("0.500"), Decimal("1E+2"), Decimal("-0.0"), Decimal("10")], '["0.5","100","0","10"]'),
        (Decimal("12345678901234567890123456789.10"), '"12345678901234567890123456789.1"'),
        (datetime(2026, 6, 12, 8, tzinfo=timezone(timedelta(hours=8))), '"2026-06-12T00:00:00.000000+00:00"'),
        (datetime(2026, 6, 12, 0, 0, 0, 7, tzinfo=UTC), '"2026-06-12T00:00:00.000007+00:00"'),
        (date(2026, 6, 12), '"2026-06-12"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ((1, (2,)), "[1,[2]]"),
        (Colour.RED, '"red"'),
        ('line\n\u2028\x7f"', '"line\\n\u2028\x7f\\""'),
        ({}, "{}"),
    ],
)
def test_a_value_has_one_canonical_text(value, text):
    assert canonical(value) == text.encode()


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        {"a": [0.1]},
        float("nan"),
        Decimal("NaN"),
        Decimal("Infinity"),
        {1: "a"},
        {None: 1},
        b"bytes",
        {1, 2},
        datetime(2026, 6, 12),
        object(),
    ],
)
def test_what_has_no_canonical_text_is_a_type_error(value):
    with pytest.raises(TypeError):
        canonical(value)


@given(st.dictionaries(_TEXT, st.integers() | _TEXT))
def test_the_order_of_keys_does_not_matter(value):
    assert canonical(value) == canonical(dict(reversed(value.items())))
    assert json.loads(canonical(value)) == value
