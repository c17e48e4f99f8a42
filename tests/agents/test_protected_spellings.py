"""Spellings of protected paths: each one is refused, or becomes the protected file and is judged as such."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.rules import protection
from agents.rules.paths import normalise_path, path_key
from agents.rules.protection import (
    DEFAULT_RULES,
    Change,
    Level,
    Outcome,
    Reason,
    Rule,
    check_change,
    rename_changes,
    worst,
)
from common.errors import ApplicationError

PERSONA = "# L0 — 核心身份\n\n我是秘书。\n"
FORGED = "# L0 — 核心身份\n\n我不是秘书。\n"

PERSONA_SPELLINGS = {
    "plain": "persona.md",
    "dot": "./persona.md",
    "dots": "././persona.md",
    "dot at the end": "persona.md/.",
    "parent": "x/../persona.md",
    "parents": "x/y/../../persona.md",
    "parent of itself": "persona.md/../persona.md",
    "out and back": "../agent/persona.md",
    "double slash": "//persona.md",
    "triple slash": "///persona.md",
    "slash inside": ".//persona.md",
    "slash at the end": "persona.md/",
    "absolute": "/persona.md",
    "absolute with dot": "/./persona.md",
    "backslash": ".\\persona.md",
    "backslash parent": "x\\..\\persona.md",
    "UNC": "\\\\persona.md",
    "device": "\\\\.\\persona.md",
    "drive": "C:\\persona.md",
    "drive, relative": "C:persona.md",
    "stream": "persona.md::$DATA",
    "named stream": "persona.md:x",
    "URL": "file:///persona.md",
    "home": "~/persona.md",
    "variable": "${ROOT}/persona.md",
    "short name": "PERSON~1.MD",
    "upper case": "PERSONA.MD",
    "title case": "Persona.md",
    "mixed case": "pErSoNa.Md",
    "trailing dot": "persona.md.",
    "trailing dots": "persona.md...",
    "trailing space": "persona.md ",
    "trailing dot and space": "persona.md . ",
    "leading space": " persona.md",
    "no-break space": "persona.md\u00a0",
    "ideographic space": "persona.md\u3000",
    "ogham space": "persona.md\u1680",
    "space inside": "persona .md",
    "empty Braille": "persona.md\u2800",
    "double dot": "persona..md",
    "percent dot": "persona%2emd",
    "percent dot, upper case": "persona%2Emd",
    "percent letter": "%70ersona.md",
    "percent slash": "x%2f..%2fpersona.md",
    "percent twice": "persona%252emd",
    "percent NUL": "persona.md%00",
    "percent, wide": "persona％2emd",
    "percent of UTF-16": "persona%u002emd",
    "NUL": "persona.md\x00",
    "NUL and another ending": "persona.md\x00.txt",
    "line feed": "persona.md\n",
    "tab": "per\tsona.md",
    "delete": "persona\x7f.md",
    "line separator": "persona.md\u2028",
    "full width": "ｐｅｒｓｏｎａ．ｍｄ",
    "full-width letter": "ｐersona.md",
    "full-width dot": "persona．md",
    "small dot": "persona﹒md",
    "one dot leader": "persona․md",
    "full-width slash": "x／../persona.md",
    "full-width backslash": "x＼..＼persona.md",
    "two dot leader": "x/‥/persona.md",
    "division slash": "x∕..∕persona.md",
    "fraction slash": "x⁄..⁄persona.md",
    "big reverse solidus": "x⧹..⧹persona.md",
    "Chinese full stop": "persona。md",
    "half-width Chinese full stop": "persona｡md",
    "Lisu full stop": "personaꓸmd",
    "middle dot": "persona·md",
    "zero-width space": "per\u200bsona.md",
    "zero-width joiner": "persona\u200d.md",
    "zero-width dots": ".\u200b./persona.md",
    "byte-order mark": "\ufeffpersona.md",
    "soft hyphen": "per\u00adsona.md",
    "word joiner": "persona.\u2060md",
    "bidi override": "\u202epersona.md",
    "bidi mark": "persona.md\u200f",
    "variation selector": "persona\ufe0f.md",
    "variation selector supplement": "persona\U000e0100.md",
    "grapheme joiner": "persona\u034f.md",
    "Hangul filler": "persona\u3164.md",
    "Mongolian separator": "persona\u180e.md",
    "tag letters": "persona\U000e0061.md",
    "invisible times": "persona\u2062.md",
    "circled": "ⓟⓔⓡⓢⓞⓝⓐ.md",
    "squared, negative": "🅿🅴🆁🆂🅾🅽🅰.md",
    "regional indicators": "🇵🇪🇷🇸🇴🇳🇦.md",
    "mathematical": "𝐩𝐞𝐫𝐬𝐨𝐧𝐚.md",
    "monospace": "𝚙𝚎𝚛𝚜𝚘𝚗𝚊.𝚖𝚍",
    "superscript": "ᵖersona.md",
    "long s": "perſona.md",
    "small capitals": "ᴘᴇʀꜱᴏɴᴀ.md",
    "Cyrillic o": "persоna.md",
    "Cyrillic a": "personа.md",
    "Cyrillic throughout": "регѕопа.md",
    "Cyrillic ending": "persona.мԁ",
    "Greek o": "persοna.md",
    "Greek capitals": "ΡΕRSΟΝΑ.MD",
    "Armenian o": "persօna.md",
    "Lisu": "ꓑꓰꓣꓢꓳꓠꓮ.md",
    "Cherokee": "ᏢᎬᏒᏚᎾNᎪ.md",
    "Coptic": "ⲣersona.md",
    "Arabic zero": "pers۵na.md",
    "digit": "pers0na.md",
    "accent": "pérsona.md",
    "accent, apart": "pe\u0301rsona.md",
    "stroke": "persøna.md",
    "hook": "ƥersona.md",
    "dot below": "persona.mḍ",
    "overlay": "per\u0338sona.md",
    "letter of alpha": "personɑ.md",
}

CREDENTIALS_SPELLINGS = (
    "tools/git/credentials.yaml",
    "tools/x/../git/credentials.yaml",
    "TOOLS\\git\\Credentials.YAML",
    "tools /git. /credentials.yaml",
    "tооls/git/credentials.yaml",
    "t00ls/git/credentials.yaml",
    "tools/git/credentiaIs.yaml",
    "tools/git/credentia1s.yaml",
    "tools/git/credentials.yaml/",
    "tools∕git/credentials.yaml",
    "memory/../tools/git/credentials.yaml",
    "tools/git/credentials.yaml:Zone.Identifier",
)

#: name: path, text before, text after, the path as sent
ROWS = {name: ("persona.md", PERSONA, FORGED, sent) for name, sent in PERSONA_SPELLINGS.items()} | {
    ascii(sent): ("tools/git/credentials.yaml", "a: 1", "a: 2", sent) for sent in CREDENTIALS_SPELLINGS
}


def judged(path, old, new, rules=DEFAULT_RULES):
    """`refused` for a path that is no path, else the verdict."""
    try:
        return worst(check_change(Change(path, old, new), rules)).verdict
    except ApplicationError as error:
        assert error.code == "PATH_INVALID"
        return "refused"


def test_the_table_is_long_enough():
    assert len({sent for *_others, sent in ROWS.values()}) == len(ROWS) >= 120


@pytest.mark.parametrize(("path", "old", "new", "sent"), ROWS.values(), ids=ROWS.keys())
def test_no_spelling_gets_around_the_protection(path, old, new, sent):
    result = judged(sent, old, new)
    assert result in ("refused", Outcome.BLOCKED)
    if result == Outcome.BLOCKED:
        assert path_key(normalise_path(sent)) == path, "blocked, but for being another file"


def test_many_spellings_would_pass_a_comparison_of_the_text_as_sent(monkeypatch):
    """The control: without the normal form the table is full of holes."""
    monkeypatch.setattr(protection, "normalise_path", lambda raw: raw)
    monkeypatch.setattr(protection, "path_matches", lambda pattern, path: pattern == path)
    monkeypatch.setattr(protection, "path_resembles", lambda pattern, path: False)
    passed = [row for row in ROWS.values() if judged(row[3], row[1], row[2]) is Outcome.ALLOWED]
    assert len(passed) > 100


@given(
    letters=st.tuples(
        *(st.sampled_from([char, char.upper(), chr(ord(char) + 0xFEE0)]) for char in "persona.md")
    ),
    gaps=st.lists(st.sampled_from(["", "\u200b", "\u2060", "\ufe0f", "\u00ad"]), min_size=10, max_size=10),
    start=st.sampled_from(["", "./", "//", "x/../", ".\\", "x\\..\\/", " "]),
    end=st.sampled_from(["", ".", " ", ". .", "/", "/.", "\u3000"]),
)
def test_no_mixture_of_spellings_does_either(letters, gaps, start, end):
    mixed = start + "".join(gap + char for gap, char in zip(gaps, letters, strict=True)) + end
    assert judged(mixed, PERSONA, FORGED) is Outcome.BLOCKED


def test_a_rename_is_a_deletion_and_a_creation():
    changes = rename_changes("a.md", "b.md", old_text="x", replaced_text="y")
    assert changes == [Change("a.md", "x", None), Change("b.md", "y", "x")]


MOVES = {
    "away": rename_changes("persona.md", "memory/old.md", old_text=PERSONA),
    "away, spelled otherwise": rename_changes("./Persona.md", "memory/old.md", old_text=PERSONA),
    "another case": rename_changes("persona.md", "PERSONA.md", old_text=PERSONA),
    "onto it": rename_changes("memory/x.md", "persona.md", old_text=FORGED, replaced_text=PERSONA),
    "onto its free place": rename_changes("memory/x.md", "persona.md", old_text=FORGED),
    "away and changed": rename_changes("persona.md", "p.md", old_text=PERSONA, new_text="x"),
    "credentials away": rename_changes("tools/a/credentials.yaml", "tools/a/x.yaml", old_text="a"),
    "credentials deeper": rename_changes("tools/credentials.yaml", "tools/b/credentials.yaml", old_text="a"),
    "notes become credentials": rename_changes("memory/x.md", "tools/a/credentials.yaml", old_text="a"),
}


@pytest.mark.parametrize("changes", MOVES.values(), ids=MOVES.keys())
def test_a_rename_is_judged_under_both_names(changes):
    verdicts = [verdict for change in changes for verdict in check_change(change, DEFAULT_RULES)]
    assert worst(verdicts).verdict is Outcome.BLOCKED


def test_other_renames_pass():
    changes = rename_changes("memory/a.md", "memory/b.md", old_text=PERSONA)
    assert all(verdict.is_allowed for change in changes for verdict in check_change(change, DEFAULT_RULES))


@pytest.mark.parametrize("twin", ["sесrеts.md", "sécrets.md", "ꓢꓰꓚꓣꓰꓔꓢ.md", "ｓecrets.md", "ѕесгетѕ.md"])
def test_the_name_in_a_rule_of_ones_own_has_no_twins_either(twin):
    rules = [Rule(1, "secrets.md", level=Level.BLOCK)]
    assert judged(twin, None, "x", rules) in ("refused", Outcome.BLOCKED)


def test_a_path_that_looks_like_a_protected_one_is_blocked_whatever_the_level():
    verdicts = check_change(Change("sécrets.md", None, "x"), [Rule(1, "secrets.md", level=Level.CONFIRM)])
    assert [(verdict.verdict, verdict.reason) for verdict in verdicts] == [
        (Outcome.BLOCKED, Reason.LOOKALIKE)
    ]
