"""What a reader cannot see, or cannot tell apart: characters that show nothing, letters that look alike."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from common.text import nfkc

# Letters, marks and selectors that show nothing, though they are not of category Cf (which counts as well).
_EMPTY_RE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)

# Each ASCII letter with signs of other alphabets that are drawn like it. Accented, small-capital, turned and
# enclosed Latin letters are not listed: their Unicode names tell the letter.
_TWINS_OF = {
    "a": "αаɑ⍺АΑᎪᗅꓮ𐊠",
    "b": "ΒВЬƄᏏᏴᗷꓐꞴβв𐊂𐊡𐌁",
    "c": "сςᴄⲥꮯСᏟⲤꓚ𐐽𐊢𐌂𐐕𐔜🝌",
    "d": "ԁᏧᑯꓒᎠᗞᗪꓓ",
    "e": "еєεҽ℮ꬲΕЕᎬ⋿ⴹꓰƐɛ𐊆",
    "f": "քꞙꬵϜᖴꓝꞘ𐊇𐊥𐔥",
    "g": "ƍɡցԌᏀᏳꓖ",
    "h": "һհᏂΗНᎻᕼⲎꓧ𐋏",
    "i": "ıɩɪιіӏᎥ⍳ꙇꭵΙІӀⲒⲓꓲ",
    "j": "јϳͿЈᎫᒍꓙ",
    "k": "кκΚКᏦᛕⲔⲕꓗ𐔘",
    "l": "ǀ∣⏽|ᏞᒪⳐⳑꓡƖ𐐛𐔦𝈪│",
    "m": "мΜϺМᎷᗰᛖⲘⲙꓟ𐊰𐌑",
    "n": "ոռпηΝⲚⲛꓠƝ𐔓",
    "o": "οσоօᴏᴑⲟꬽΟОՕⲞⵔ〇ꓳ0ଠഠဝ०੦૦೦൦๐໐၀০୦౦𐐬𐓪𐊒𐊫𐐄𐓂𐔖",
    "p": "ρр⍴ⲣΡРᏢᑭⲢꓑ𐊕",
    "q": "ԛգզⵕ",
    "r": "гᴦⲅꭇꭈꮁƦᎡᏒᖇꓣ𐒴𝈖",
    "s": "ѕꜱꮪЅՏᏕᏚꓢƽ𐊖𐐠𐑈",
    "t": "тτΤТᎢ⊤⟙ⲦⲧꓔŦ𐊗𐊱𐌕🝨",
    "u": "υսʋᴜꞟꭎꭒՍᑌ∪⋃ꓴ𐓎𐓶",
    "v": "νѵᴠ∨⋁ꮩѴᏙᐯⴸꓦꛟ𐔝𝈍",
    "w": "ɯѡԝաᴡꮃωԜᎳᏔꓪ",
    "x": "хχ×ᕁ᙮⨯ΧХ᙭ᚷ╳ⲬⵝꓫᎣꭓ𐊐𐊴𐌗",
    "y": "γуүყʏỿꭚΥУҮᎩᎽⲨꓬʎ𐊲ɣᶌ",
    "z": "ᴢꮓΖᏃꓜ",
    ".": "·•‧∙⋅・。٠۰܁܂۔ꓸ꘎𐩐𝅭",
}
_TWINS = {sign: letter for letter, signs in _TWINS_OF.items() for sign in signs}
# `LATIN SMALL LETTER P WITH HOOK`, `LATIN LETTER SMALL CAPITAL P`, `NEGATIVE SQUARED LATIN CAPITAL LETTER P`
_LATIN_NAME_RE = re.compile(
    r"(?:LATIN|INDICATOR SYMBOL) (?:[A-Z]+ )*?LETTER (?:[A-Z]+ )*?([A-Z])(?: WITH .+)?$"
)

# Writings that stand beside Latin letters without a gap in ordinary names (`API网关`, `Tシャツ`).
_NEIGHBOURLY = frozenset(
    {"CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}
)
_COMMON = frozenset({"MODIFIER", "COMBINING", "VARIATION"})
# Signs of measure and mathematics; no Latin letter looks like them.
_GREEK_SIGNS = frozenset("ΓΔΘΛΞΠΣΦΨΩδθλμξπφψ")


def without_invisible(text: str) -> str:
    """The text without format characters, fillers and variation selectors: what shows nothing by itself."""
    if text.isascii():
        return text
    kept = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return _EMPTY_RE.sub("", kept)


def skeleton(text: str) -> str:
    """What the text looks like in plain lower-case letters: accents gone, look-alikes replaced.

    Only for comparing; two texts with one skeleton may be mistaken for each other.
    """
    if text.isascii():
        return text.casefold()
    # NFKC first, because it is the one that bounds runs of marks (sorting them is quadratic).
    plain = unicodedata.normalize("NFKD", nfkc(without_invisible(text)))
    return "".join(_twin(char) for char in plain).casefold()


@lru_cache(maxsize=8192)
def _twin(char: str) -> str:
    if char.isascii():
        return char
    name = unicodedata.name(char, "")
    if unicodedata.category(char).startswith("M") or name.startswith("MODIFIER LETTER"):
        return ""
    if char in _TWINS:
        return _TWINS[char]
    latin = _LATIN_NAME_RE.search(name)
    return latin[1].lower() if latin else char


def mixes_alphabets(text: str) -> bool:
    """Whether one run of letters takes them from several alphabets (Latin and Cyrillic), as no word does.

    Han, kana, Hangul, Bopomofo and the Greek signs of measure may stand beside any alphabet.
    """
    if text.isascii():
        return False
    seen: set[str] = set()
    for char in text:
        # A year may follow a word of any alphabet: ASCII digits part the runs, other digits belong to them.
        if (char.isascii() and not char.isalpha()) or unicodedata.category(char)[0] not in "LMN":
            seen = set()
            continue
        seen |= _alphabet(char)
        if len(seen) > 1:
            return True
    return False


@lru_cache(maxsize=8192)
def _alphabet(char: str) -> frozenset[str]:
    first = unicodedata.name(char, "UNNAMED").split()[0]
    neutral = first in _NEIGHBOURLY or first in _COMMON or char in _GREEK_SIGNS
    return frozenset() if neutral else frozenset({first})
