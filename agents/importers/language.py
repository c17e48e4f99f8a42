"""Which of the two prompt languages a text is written in."""

from __future__ import annotations

import re

from common.text import HAN

#: The start of a text tells its language; what follows may be an example in another one.
SAMPLE = 600

_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[A-Za-z]{2,}")


def guessed_language(text: str) -> str:
    """`en` when the first characters hold more English words than Chinese characters, else `zh`.

    docs/rules.md: Language of an imported agent.
    """
    sample = text[:SAMPLE]
    return "en" if len(_WORD.findall(sample)) > len(_HAN.findall(sample)) else "zh"
