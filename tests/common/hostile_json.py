"""JSON bodies that every endpoint must refuse with 400, and odd ones that are JSON all the same.

`HOSTILE_BODIES` and `ODD_BODIES` are lists of (name, body), for tests of the parser and of every endpoint.
"""

#: 40 bodies that are refused before any field is looked at.
HOSTILE_BODIES: list[tuple[str, bytes]] = [
    ("NUL in a value", b'{"name": "abc\\u0000def"}'),
    ("NUL in a key", b'{"na\\u0000me": 1}'),
    ("NUL deep in a list", b'{"a": [[{"b": "x\\u0000"}]]}'),
    ("raw NUL in a value", b'{"name": "abc\x00def"}'),
    ("raw NUL behind the document", b'{"name": "abc"}\x00'),
    ("lone high surrogate", b'{"name": "\\ud800"}'),
    ("lone low surrogate", b'{"name": "\\udfff"}'),
    ("surrogates the wrong way round", b'{"name": "\\ude00\\ud83d"}'),
    ("lone surrogate in a key", b'{"\\udabc": "x"}'),
    ("surrogate in UTF-8", b'{"name": "\xed\xa0\x80"}'),
    ("100,000 open brackets", b"[" * 100_000),
    ("100,000 nested lists", b"[" * 100_000 + b"]" * 100_000),
    ("100,000 nested objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    ("33 levels", b"[" * 33 + b"]" * 33),
    ("33 levels of both kinds", b'[{"a":' * 16 + b"[]" + b"}]" * 16),
    ("deep behind a quoted bracket", b'{"a": "]]]]\\"", "b": ' + b"[" * 40 + b"]" * 40 + b"}"),
    ("key twice", b'{"name": "a", "name": "b"}'),
    ("key twice in an inner object", b'{"a": [{"x": 1, "y": 2, "x": 1}]}'),
    ("key twice in two spellings", b'{"name": 1, "n\\u0061me": 2}'),
    ("NaN", b'{"value": NaN}'),
    ("Infinity", b'{"value": Infinity}'),
    ("minus Infinity", b"[-Infinity]"),
    ("overflowing float", b'{"value": 1e999}'),
    ("overflowing negative float", b'{"value": -1e400}'),
    ("whole number beyond 64 bits", b'{"id": 9223372036854775808}'),
    ("negative number beyond 64 bits", b'{"id": -9223372036854775809}'),
    ("number of 5,000 digits", b'{"id": ' + b"9" * 5000 + b"}"),
    ("number of 500,000 digits", b"[" + b"1" * 500_000 + b"]"),
    ("empty body", b""),
    ("spaces only", b" \r\n\t "),
    ("byte-order mark only", b"\xef\xbb\xbf"),
    ("UTF-16", '{"name": "运维"}'.encode("utf-16")),
    ("GBK", '{"name": "运维"}'.encode("gbk")),
    ("overlong UTF-8", b'{"name": "\xc0\xaf"}'),
    ("cut in the middle", b'{"name": "ab'),
    ("unterminated with many quotes", b'{"a": "' + b'\\"' * 200_000),
    ("two documents", b'{"a": 1}{"b": 2}'),
    ("trailing comma", b'{"a": 1,}'),
    ("single quotes", b"{'a': 1}"),
    ("raw line break in a text", b'{"name": "a\nb"}'),
]

#: Bodies that are valid JSON but no object with fields; an endpoint refuses them, the parser does not.
ODD_BODIES: list[tuple[str, bytes]] = [
    ("null", b"null"),
    ("true", b"true"),
    ("number", b"42"),
    ("text", b'"name"'),
    ("empty list", b"[]"),
    ("list of lists", b"[[], [[]]]"),
    ("list of numbers", b"[1, 2.5, -0]"),
    ("32 levels", b"[" * 32 + b"]" * 32),
    ("100,000 zeros", b"[" + b"0," * 99_999 + b"0]"),
]
