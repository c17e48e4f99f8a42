"""What a pattern alone cannot say about a possible secret: check digits, and "is this only prose or code?".

Each check takes a match with the group `secret` and says whether it is one. Pure; none looks further than a
few dozen characters from the match, so that redaction stays linear.
"""

from __future__ import annotations

import re
from datetime import date

_DIGIT_RE = re.compile(r"[0-9]")
_LETTER_RE = re.compile(r"[A-Za-z]")

# What stands for a value in documentation, configuration and code.
_NO_VALUE_RE = re.compile(
    r"""(?ix)
      none | null | nil | undefined | true | false | empty | required | optional | string | str | text
    | varchar | char | bytes | int | integer | number | bool | boolean | any | object | secretstr | hidden
    | redacted | masked | password | passwd | passphrase | pwd | pass | secret | token | tokens | value | key
    | n/?a | tbd | prompt | stdin | env | yes | no | on | off | missing | invalid | incorrect | wrong
    | expired | error | failed | 必填 | 可选 | 不能为空
    | [*•·.●?_-]+ | x{3,}[\w-]* | (?:your|example|placeholder|changeme|dummy|sample)[\w.-]*
    | \$\{.* | \$\(.* | \$[0-9@] | (?-i:\$[A-Z_][A-Z0-9_]*) | \$\w*pass\w* | \{+[^{}]*\}+.* | %\w+% | %s
    | %\(.* | <.* | [a-z_][\w.]*[(\[].*
    | (?:self|this|settings|config|conf|cfg|os|env|process|request|req|args|kwargs|params|options|opts|form
      |data|user|obj|ctx|app|secrets|response|resp|result|body|payload|credentials|creds|account|context
      |event|item|input|cls|db|client)\.[a-z_]\w*(?:\.\w+)*
    """
)
# `a.b`, `a?.b!`: the path of a member; a token with dots has digits at the start of a part.
_MEMBER_RE = re.compile(r"[A-Za-z_]\w*(?:[?!]?\.[A-Za-z_]\w*)+[!;]*")
_CONSTANT_NAME_RE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_NUMBER_RE = re.compile(r"[\d.:/+-]+")
_WORKING_DIRECTORY_RE = re.compile(r"[/~]|[A-Za-z]:[\\/]")
# Behind the value the line ends, or punctuation or another script begins: it is not the start of prose.
_ENDS_RE = re.compile(r"""\\?["'`]?[ \t]*(?:$|[\r\n,;.!?)\]}，。；、！？）】」#/<&\u4e00-\u9fff])""")

_PROVINCES = frozenset(
    [
        *range(11, 16),
        *range(21, 24),
        *range(31, 38),
        *range(41, 47),
        *range(50, 55),
        *range(61, 66),
        71,
        81,
        82,
        83,
    ]
)
_ORDER_BEFORE_RE = re.compile(
    r"(?i)(?:订单|单号|流水|编号|序列|order|invoice|tracking|serial|no\.|#)[^\w\n]{0,3}(?:号|id|number)?[^\w\n]{0,3}$"
)
_FILE_NAMES = tuple(
    f".{end}" for end in ("png", "jpg", "jpeg", "gif", "svg", "webp", "js", "css", "tgz", "py", "ts")
)


def looks_random(value: str) -> bool:
    """Letters with digits, long mixed case, or Base64 padding: what words do not have."""
    has_digit, has_letter = bool(_DIGIT_RE.search(value)), bool(_LETTER_RE.search(value))
    is_mixed = value[1:] != value[1:].lower() and value != value.upper()
    return (has_digit and has_letter) or (len(value) >= 12 and (is_mixed or value.endswith("=")))


def secret_looks_random(match: re.Match[str]) -> bool:
    """As `looks_random`, of the secret."""
    return looks_random(match["secret"])


def is_value(text: str) -> bool:
    """Whether a text under the name of a password can be one: no placeholder, type or reference of code."""
    return _NO_VALUE_RE.fullmatch(text.strip()) is None and re.search(r"\w", text) is not None


def is_secret_value(text: str) -> bool:
    """Whether a text under the name of a key or token can be one: long and random, no name and no number."""
    value = text.strip()
    if len(value) < 8 or not value.isascii() or " " in value or not is_value(value):
        return False
    if any(name.fullmatch(value) for name in (_MEMBER_RE, _CONSTANT_NAME_RE, _NUMBER_RE)):
        return False
    return looks_random(value) or len(value) >= 32


def is_password(match: re.Match[str]) -> bool:
    """Whether what follows a word for password (`key`, `sep`, `quote`) is one, and not prose, a type or code.

    Behind `=` or in quotes nearly everything is; behind a colon what does not read on as a sentence; behind a
    space or "is" only what has a digit.
    """
    value, sep = match["secret"], match["sep"]
    if not is_value(value):
        return False
    if "pwd" in match["key"].lower() and _WORKING_DIRECTORY_RE.match(value):
        return False
    if sep == ">":
        return match.string.startswith("<", match.end("secret"))
    if match["quote"] or sep in ("=", ":=", "=>", "＝"):
        return True
    if not value.isascii() or len(value) < 4:
        return False
    has_digit = _DIGIT_RE.search(value) is not None
    ends = _ENDS_RE.match(match.string, match.end("secret")) is not None
    if sep in (":", "："):
        return has_digit or looks_random(value) or ends
    return len(value) >= 6 and has_digit and (ends or looks_random(value))


def is_assigned_secret(match: re.Match[str]) -> bool:
    """Whether what is assigned to a word for key or token is a secret, and not the call of a function."""
    is_code = match.string.startswith(("(", "["), match.end("secret"))
    return not is_code and is_secret_value(match["secret"])


def is_url_user(match: re.Match[str]) -> bool:
    """Whether the user part of a URL holds a password, or is a token itself."""
    return ":" in match["secret"] or (len(match["secret"]) >= 20 and looks_random(match["secret"]))


def is_login(match: re.Match[str]) -> bool:
    """Whether `-u name:value` is a login: `-u 1000:1000` names a user and a group."""
    return not match["secret"].isdecimal()


def is_mail(match: re.Match[str]) -> bool:
    """Whether `local@domain` is an address, and not a Git remote, a picture file or a package version."""
    domain = match["domain"].lower()
    is_version = re.match(r"v?\d+\.\d+", domain) is not None
    return match["local"].lower() != "git" and not domain.endswith(_FILE_NAMES) and not is_version


def is_identity_number(match: re.Match[str]) -> bool:
    """Whether 18 digits are a Chinese identity number: province, date of birth, check digit (GB 11643)."""
    digits = re.sub(r"[ -]", "", match["secret"]).upper()
    try:
        date(int(digits[6:10]), int(digits[10:12]), int(digits[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * (2 ** (17 - index) % 11) for index, digit in enumerate(digits[:17]))
    return int(digits[:2]) in _PROVINCES and "10X98765432"[total % 11] == digits[17]


def is_bank_card(match: re.Match[str]) -> bool:
    """Whether the digits pass the Luhn check and are not called an order number."""
    digits = re.sub(r"[ -]", "", match["secret"])
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + index % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0 and len(set(digits)) > 1 and is_phone(match)


def is_phone(match: re.Match[str]) -> bool:
    """Whether the text before the number does not call it an order number."""
    start = match.start("secret")
    return _ORDER_BEFORE_RE.search(match.string[max(start - 20, 0) : start]) is None
