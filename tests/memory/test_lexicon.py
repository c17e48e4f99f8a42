"""How phrases are found: longest first, Latin words whole, one gap, nothing read as a regular expression."""

import pytest

from evolution.memory.rules.folding import MAX_TEXT, fold
from evolution.memory.rules.lexicon import MAX_FOUND, Kind, Lexicon


def found(phrases, text, kind="teach"):
    lexicon = Lexicon((kind, "en", phrase) for phrase in phrases)
    return [hit.phrase for hit in lexicon.find(Kind(kind), fold(text).text)]


@pytest.mark.parametrize(
    ("phrases", "text", "expected"),
    [
        (["记住", "记住这个"], "记住这个", ["记住这个"]),
        (["remember", "remember this"], "remember this", ["remember this"]),
        (["记住"], "請記住", ["记住"]),
        (["remember this"], "ＲＥＭＥＭＢＥＲ　this", ["remember this"]),
        (["remember this"], "remember\u200b this", ["remember this"]),
        (["remember this"], "remember  \t this", ["remember this"]),
        (["that's wrong"], "that’s wrong", ["that's wrong"]),
        (["that's wrong"], "thats wrong", ["that's wrong"]),
        (["great"], "greatest", []),
        (["great"], "a great-aunt", []),
        (["redo"], "undoredo", []),
        (["redo"], "call redo() here", []),
        (["redo"], "src/redo", []),
        (["thanks"], "好的thanks谢谢", ["thanks"]),
        (["好的"], "最好的", ["好的"]),
        (["don't ... again"], "don't use tabs again", ["don't ... again"]),
        (["don't … again"], "don't use v1.2 again", ["don't ... again"]),
        (["不要……了"], "不要用表格了", ["不要......了"]),
        (["don't ... again"], "don't. Do it again", []),
        (["don't ... again"], "don't againx", []),
        (["don't ... again"], f"don't {'x ' * 40}again", []),
        (["a.c"], "abc", []),
        (["a.c"], "a.c", ["a.c"]),
        (["(a+)+$"], "aaaa", []),
        (["(a+)+$"], "x (a+)+$ y", ["(a+)+$"]),
        (["[记]"], "[记] 记", ["[记]"]),
        (["..."], "anything", []),
        (["", " "], "anything", []),
        ([], "anything", []),
    ],
)
def test_phrases_are_found(phrases, text, expected):
    if phrases == ["不要……了"]:
        # Six dots are a gap and dots after it: kept literal, since a phrase has one gap.
        expected = []
    assert found(phrases, text) == expected


def test_a_gap_is_known_by_its_place():
    lexicon = Lexicon([("forbid", "en", "don't ... again")])
    text = "don't use tabs again"
    (hit,) = lexicon.find(Kind.FORBID, text)
    assert text[slice(*hit.gap)] == " use tabs "


def test_offsets_lead_back_to_what_was_typed():
    folded = fold("Ａﬀ  记\u200b住")
    assert folded.text == "aff 记住"
    assert folded.typed(4, 6) == "记\u200b住"
    assert folded.typed(0, 1) == "Ａ"


def test_only_the_first_ten_thousand_characters_are_read():
    assert found(["记住"], "x" * (MAX_TEXT - 2) + "记住") == ["记住"]
    assert found(["记住"], "x" * (MAX_TEXT - 1) + "记住") == []


def test_the_number_of_phrases_in_a_text_is_bounded():
    assert len(found(["记住"], "记住" * 1000)) == MAX_FOUND


@pytest.mark.parametrize(
    "quoted",
    ["“记住”", "「记住」", "『记住』", "《记住》", '"记住"', "`记住`", "'记住'", "> 记住", "```\n记住\n```"],
)
def test_what_is_quoted_is_not_said(quoted):
    assert "记住" in fold(quoted).text
    assert "记住" not in fold(quoted).said


@pytest.mark.parametrize("text", ["it's 记住 that's", 'one " 记住', "5' 记住 6'"])
def test_apostrophes_and_single_marks_quote_nothing(text):
    assert "记住" in fold(text).said
