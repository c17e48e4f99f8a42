"""The rule table of `common.redaction`: what a secret looks like. Pure.

Every pattern runs in linear time: it starts at a literal or behind a character outside its own class, repeats
disjoint classes, and consumes what it looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from common import redaction_checks as checks


@dataclass(frozen=True)
class Rule:
    """`needles`: lower-case texts of which one must occur at all; `pattern`: with the group `secret`.

    `accept` may refuse a match; `trims` leaves closing punctuation at the end of the secret where it is.
    """

    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[re.Match[str]], bool] | None = None
    trims: bool = False


_START = r"(?<![A-Za-z0-9_])"
_END = r"(?![A-Za-z0-9_])"
_SPACES = r"[ \t\u3000]"
_BEING = r"是|为|改[成为]|设置?[成为]|重置为|is\b|was\b|to\b"
#: Between a word and its value; an empty `sep` is a space. Also behind a closing quote or an XML tag.
_SEP = (
    rf"""\\?["'`]?{_SPACES}{{0,8}}(?P<sep>=>|:=|=(?!=)|＝|[:：](?!//)|>|(?:{_BEING}){_SPACES}?[:：]?"""
    rf"""|(?<={_SPACES})){_SPACES}{{0,8}}"""
)
#: In quotes (also escaped ones) up to the closing one, else up to a space, quote or sign that ends values.
#: That class is case-sensitive: otherwise the Kelvin sign in its range would stand for every k.
_VALUE = (
    r"""(?:[FRBUfrbu]{1,2}(?=["']))?(?P<quote>\\?["'`])?"""
    r"""(?P<secret>(?(quote)(?:(?!(?P=quote))[^\n])+|(?-i:[^\s"'`&<>,;\\\u2000-\U0010ffff]+)))"""
)
_WORD_START = r"(?:(?<![A-Za-z/])|(?-i:(?<=[a-z])(?=[A-Z])))"
PASSWORD_KEY = (
    rf"(?:(?<!/etc/)(?:password|passwd|passphrase|passcode)|{_WORD_START}pwd)(?:[_-]?confirm(?:ation)?)?\d?"
    r"|(?<=[A-Za-z0-9][_-])pass|(?<=--)pass|密码|密碼|口令"
)
SECRET_KEY = (
    rf"{_WORD_START}(?:api[_-]?(?:key|secret)|app[_-]?(?:secret|key)|client[_-]?secret"
    r"|secret(?:[_-]?(?:access)?[_-]?key|[_-]?id)?|access[_-]?key(?:[_-]?(?:secret|id))?"
    r"|(?:private|encryption|signing|account|master|webhook|shared[_-]?access)[_-]?key|credential"
    r"|sessionid|phpsessid|jsessionid|(?:access|refresh|auth|id|bot|csrf|session)?[_-]?token)"
    r"|密钥|秘钥|令牌|密匙"
)

# (needle, shape). Each shape stands alone: no letter, digit or underscore on either side.
_VENDOR_TOKENS: tuple[tuple[str, str], ...] = (
    ("fb_", r"fb_[a-z0-9]{8}_[A-Za-z0-9_-]{43}"),
    ("sk-", r"sk-[A-Za-z0-9_-]{20,}"),
    ("gh", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("gl", r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{18,}"),
    ("xox", r"xox[a-z]-[A-Za-z0-9-]{10,}"),
    ("xapp-", r"xapp-[A-Za-z0-9-]{10,}"),
    ("a", r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA|ANVA|AIPA)[A-Z0-9]{16}"),
    ("aiza", r"AIza[A-Za-z0-9_-]{30,}"),
    ("ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("gocspx-", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    ("k_", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    ("ltai", r"LTAI[A-Za-z0-9]{12,30}"),
    ("akid", r"AKID[A-Za-z0-9]{13,60}"),
    ("aklt", r"AKLT[A-Za-z0-9_-]{20,60}"),
    ("altak", r"ALTAK[A-Za-z0-9]{10,40}"),
    ("npm_", r"npm_[A-Za-z0-9]{30,}"),
    ("pypi-", r"pypi-[A-Za-z0-9_-]{30,}"),
    ("hf_", r"hf_[A-Za-z0-9]{30,}"),
    ("r8_", r"r8_[A-Za-z0-9]{30,}"),
    ("gsk_", r"gsk_[A-Za-z0-9]{30,}"),
    ("xai-", r"xai-[A-Za-z0-9]{40,}"),
    ("pplx-", r"pplx-[A-Za-z0-9]{32,}"),
    ("tvly-", r"tvly-[A-Za-z0-9-]{20,}"),
    ("sg.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("ac", r"AC[0-9a-f]{32}"),
    ("sk", r"SK[0-9a-f]{32}"),
    ("key-", r"key-[0-9a-f]{32}"),
    ("_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    ("shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    (":aa", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    (".", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    ("dapi", r"dapi[0-9a-f]{32}"),
    ("lin_api_", r"lin_api_[A-Za-z0-9]{30,}"),
    ("ntn_", r"ntn_[A-Za-z0-9]{30,}"),
    ("secret_", r"secret_[A-Za-z0-9]{40,}"),
    ("figd_", r"figd_[A-Za-z0-9_-]{30,}"),
    ("atatt3", r"ATATT3[A-Za-z0-9_=-]{50,}"),
    ("hv", r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    ("dp.", r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9.]{20,}"),
    ("glsa_", r"glsa_[A-Za-z0-9_]{30,}"),
    ("nrak-", r"NRAK-[A-Z0-9]{20,}"),
    ("sntry", r"sntry[su]_[A-Za-z0-9_=+/-]{30,}"),
    ("pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{60,}"),
    ("age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
)


def _vendor_rule(needle: str, shape: str) -> Rule:
    pattern = re.compile(rf"{_START}(?P<secret>{shape}){_END}")
    return Rule("api_token", (needle,), pattern, checks.secret_looks_random)


_TOKEN = r"(?P<secret>[A-Za-z0-9._~+/=-]{6,})"  # noqa: S105
_URL_CHARACTER = r"""[^\s/?#"'`<>\u0080-\U0010ffff]"""
_HEADER = r"""\\?["'`]?[ \t]{0,4}[:=：][ \t]{0,4}\\?["'`]?"""
_WEBHOOKS = (
    r"hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/"
    r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/"
    r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key="
)
_HOMES = (
    r"(?:(?<![\w.-])|(?<=/var)|(?<=/usr)|(?<=/export))/home/"
    r"|(?:(?<![\w.-])|(?<=/[a-zA-Z]))/Users/(?!Shared\b)"
    r"|(?i:(?<![A-Za-z])[a-z]:(?:\\\\|[\\/])(?:users|documents[ ]and[ ]settings)(?:\\\\|[\\/])"
    r"(?!(?:public|default|all[ ]users)\b))"
)
# A name with spaces only where a separator follows close by; otherwise prose would belong to it.
_HOME_USER = r"""(?P<secret>[^\s/\\:"'`<>|*?,;，。；、）)\[\]]+(?:[ ][^\s/\\:"'`<>|*?\[]{1,30}(?=\\))?)"""
_CARD = (
    r"[3-69][0-9]{14,18}"
    r"|[3-69][0-9]{3}(?P<gap>[ -])[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{3,4}(?:(?P=gap)[0-9]{1,3})?"
)
_AMERICAN_CARD = r"3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5}"

#: In the order of application: what is most specific first, so that the kind is.
RULES: tuple[Rule, ...] = (
    Rule(
        "url_credentials",
        ("://",),
        re.compile(rf"://(?P<secret>{_URL_CHARACTER}+)@"),
        checks.is_url_user,
    ),
    Rule("webhook_url", ("hook",), re.compile(rf"(?:{_WEBHOOKS})(?P<secret>[A-Za-z0-9/_-]{{16,}})")),
    *(_vendor_rule(needle, shape) for needle, shape in _VENDOR_TOKENS),
    Rule(
        "jwt",
        ("eyj",),
        re.compile(
            r"(?<![A-Za-z0-9_-])(?P<secret>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*)"
        ),
    ),
    Rule(
        "bearer",
        ("bearer",),
        re.compile(rf"""(?i)\bbearer\\?["'`]?[ \t:=：]{{1,4}}\\?["'`]?{_TOKEN}"""),
        checks.secret_looks_random,
        trims=True,
    ),
    Rule(
        "authorization",
        ("authorization",),
        re.compile(rf"(?i)authorization{_HEADER}(?:(?:basic|token|digest|apikey)[ \t]{{1,4}})?{_TOKEN}"),
        checks.secret_looks_random,
        trims=True,
    ),
    Rule(
        "cookie",
        ("cookie",),
        re.compile(rf"""(?i)(?<![a-z])(?:set-)?cookie{_HEADER}(?P<secret>[\w.-]+=[^\r\n"'`]{{6,}})"""),
    ),
    Rule(
        "password",
        ("pass", "pwd", "密码", "密碼", "口令"),
        re.compile(rf"(?i)(?P<key>{PASSWORD_KEY}){_SEP}{_VALUE}"),
        checks.is_password,
        trims=True,
    ),
    Rule(
        "password",
        ("curl ", "sshpass ", "mysql", "mariadb", "redis-cli ", "requirepass ", "masterauth "),
        re.compile(
            r"""\b(?:curl\b[^\n|;]{0,200}?[ ](?:-u|--user)[ ]{1,2}["']?[^\s:"']{1,64}:"""
            r"""|(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,200}?[ ]-p(?!\s)|sshpass[ ]+-p[ ]*"""
            r"""|redis-cli\b[^\n|;]{0,200}?[ ]-a[ ]+|(?:requirepass|masterauth)[ ]+)"""
            r"""["']?(?P<secret>[^\s"']+)"""
        ),
        checks.is_login,
    ),
    Rule(
        "secret",
        ("key", "secret", "token", "credential", "sessionid", "sessid", "密钥", "秘钥", "令牌", "密匙"),
        re.compile(rf"(?i)(?P<key>{SECRET_KEY}){_SEP}{_VALUE}"),
        checks.is_assigned_secret,
        trims=True,
    ),
    Rule(
        "email",
        ("@",),
        re.compile(
            r"(?<![A-Za-z0-9._%+-])(?P<secret>(?P<local>[A-Za-z0-9._%+-]{1,64})"
            r"@(?P<domain>(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}))(?![A-Za-z0-9-])"
        ),
        checks.is_mail,
    ),
    Rule(
        "cn_id",
        (),
        re.compile(
            r"(?<![A-Za-z0-9])(?P<secret>[1-8][0-9]{5}[ -]?(?:18|19|20)[0-9]{2}[01][0-9][0-3][0-9][ -]?"
            r"[0-9]{3}[0-9Xx])(?![A-Za-z0-9])"
        ),
        checks.is_identity_number,
    ),
    Rule(
        "bank_card",
        (),
        re.compile(
            rf"(?<![A-Za-z0-9_.+-])(?P<secret>{_CARD}|{_AMERICAN_CARD})"
            r"(?![A-Za-z0-9_])(?![.-][0-9])"
        ),
        checks.is_bank_card,
    ),
    Rule(
        "cn_mobile",
        (),
        re.compile(
            r"(?<![A-Za-z0-9_.+-])(?:\+?86[ -]?)?"
            r"(?P<secret>1(?:3[0-9]|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8[0-9]|9[0-35-9])"
            r"[ -]?[0-9]{4}[ -]?[0-9]{4})(?![A-Za-z0-9_])(?![.-][0-9])"
        ),
        checks.is_phone,
    ),
    Rule("home_path", ("/home/", "users", "documents and"), re.compile(rf"(?:{_HOMES}){_HOME_USER}")),
)
