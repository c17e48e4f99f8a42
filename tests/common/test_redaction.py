"""Secrets and personal data leave the text before it is stored; ordinary text stays."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common import redaction
from common.redaction import Redacted, redact, redact_value
from common.redaction_rules import RULES
from tests.common.secrets_corpus import CONTEXTS, NAMED, Maker, clean_lines, secrets

PEM = "-----BEGIN {0}PRIVATE KEY-----\nMIIEowIBAAKCAQEAx1Jy9uZf\nq0vB7kQm+Z/8=\n-----END {0}PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "redacted", "kinds"),
    [
        ("password=hunter2", "password=[REDACTED:password]", {"password": 1}),
        ("密码：Admin@123", "密码：[REDACTED:password]", {"password": 1}),
        ("DB_PASS=abc&x=1", "DB_PASS=[REDACTED:password]&x=1", {"password": 1}),
        ('{"password": "it\'s me"}', '{"password": "[REDACTED:password]"}', {"password": 1}),
        (r"{\"password\":\"a1\"}", r"{\"password\":\"[REDACTED:password]\"}", {"password": 1}),
        ("<password>letmein</password>", "<password>[REDACTED:password]</password>", {"password": 1}),
        (
            "Server=db;Password=abc;Database=x",
            "Server=db;Password=[REDACTED:password];Database=x",
            {"password": 1},
        ),
        ("password: letmein", "password: [REDACTED:password]", {"password": 1}),
        ("the password is s3cret99.", "the password is [REDACTED:password].", {"password": 1}),
        (
            "curl -u admin:s3cret https://x.cn",
            "curl -u admin:[REDACTED:password] https://x.cn",
            {"password": 1},
        ),
        (
            "Authorization: Basic dXNlcjpwYXNzd29yZA==",
            "Authorization: Basic [REDACTED:authorization]",
            {"authorization": 1},
        ),
        ("Set-Cookie: sid=abc123def; Path=/", "Set-Cookie: [REDACTED:cookie]", {"cookie": 1}),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=[REDACTED:password] psql", {"password": 1}),
        ("mysql -uroot -pHunter2 db", "mysql -uroot -p[REDACTED:password] db", {"password": 1}),
        ("密码改成 hunter2，已生效", "密码改成 [REDACTED:password]，已生效", {"password": 1}),
        ("初始密码为Abc@2024！", "初始密码为[REDACTED:password]！", {"password": 1}),
        ("password=kK1\u212a", "password=[REDACTED:password]\u212a", {"password": 1}),
        ("ssh://bob:pw@host/x", "ssh://[REDACTED:url_credentials]@host/x", {"url_credentials": 1}),
        ("https://u:p@ss@host/x", "https://[REDACTED:url_credentials]@host/x", {"url_credentials": 1}),
        ("写信给zhang.san@example.com谢谢", "写信给[REDACTED:email]谢谢", {"email": 1}),
        ("Co-authored-by: A <a@b.co>", "Co-authored-by: A <[REDACTED:email]>", {"email": 1}),
        ("/home/alice/.ssh", "/home/[REDACTED:home_path]/.ssh", {"home_path": 1}),
        ("file:///Users/张三/项目", "file:///Users/[REDACTED:home_path]/项目", {"home_path": 1}),
        (r"C:\Users\Zhang San\a", r"C:\Users\[REDACTED:home_path]\a", {"home_path": 1}),
        (r"C:\\Users\\bob\\a", r"C:\\Users\\[REDACTED:home_path]\\a", {"home_path": 1}),
        ("/mnt/c/Users/bob", "/mnt/c/Users/[REDACTED:home_path]", {"home_path": 1}),
        ("电话13812345678。", "电话[REDACTED:cn_mobile]。", {"cn_mobile": 1}),
        ("+86 138-1234-5678", "+86 [REDACTED:cn_mobile]", {"cn_mobile": 1}),
        ("身份证11010519491231002X", "身份证[REDACTED:cn_id]", {"cn_id": 1}),
        ("card 4111 1111 1111 1111!", "card [REDACTED:bank_card]!", {"bank_card": 1}),
        ("a@b.cn and c@d.cn", "[REDACTED:email] and [REDACTED:email]", {"email": 2}),
        (f"x\n{PEM.format('RSA ')}\ny", "x\n[REDACTED:private_key]\ny", {"private_key": 1}),
        (PEM.format("").replace("\n", r"\n"), "[REDACTED:private_key]", {"private_key": 1}),
        (PEM.format("OPENSSH ").rsplit("\n", 1)[0] + "\n以下省略", "[REDACTED:private_key]\n以下省略", None),
        (
            "https://hooks.slack.com/services/T0/B0/abcdefghijkl",
            "https://hooks.slack.com/services/[REDACTED:webhook_url]",
            {"webhook_url": 1},
        ),
        ("", "", {}),
        ("先查日志，再重启", "先查日志，再重启", {}),
    ],
)
def test_a_secret_becomes_its_kind(text, redacted, kinds):
    found = redact(text)
    assert found.text == redacted
    assert kinds is None or found.counts == kinds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("context", CONTEXTS)
def test_no_made_up_secret_survives_in_any_context(seed, context):
    missed = []
    for kind, secret in secrets(seed).items():
        shown = f"postgres://{secret}@db.internal/app" if kind == "database url" else secret
        left = redact(context.format(shown)).text
        pieces = [secret[start : start + 8] for start in range(len(secret) - 7)]
        if any(piece in left for piece in pieces):
            missed.append(f"{kind}: {context.format(shown)} -> {left}")
    assert missed == []


@pytest.mark.parametrize("seed", range(5))
def test_no_value_survives_behind_a_name_for_secrets(seed):
    make = Maker(seed)
    for template, kind in NAMED:
        value = make.take("abcdefghijkmnopqrstuvwxyzABCDEFGHQ23456789", 20)
        found = redact(template.format(value))
        assert value not in found.text, template
        assert found.counts == {kind: 1}, template


@pytest.mark.parametrize("seed", range(5))
def test_of_1000_clean_lines_at_most_one_in_a_hundred_is_touched(seed):
    touched = [line for line in clean_lines(seed) if redact(line).text != line]
    assert len(touched) <= 10, touched


@pytest.mark.parametrize(
    "line",
    [
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "550e8400-e29b-41d4-a716-446655440000",
        "v1.2.3-rc.4+build.567",
        "2026-06-12T08:00:00.000+08:00",
        "订单号 13812345678",
        "order no. 4111111111111111",
        "110105194912310021 不是身份证号",
        "password=${DB_PASSWORD} token=$TOKEN secret={{ secret }}",
        "password=None, passwd=******, pwd=<hidden>",
        "PWD=/srv/app",
        "password: str = Field(...)",
        "密码：必填，密码: 请输入",
        "token = self.next_token(3)",
        "const userToken = tokenResp.data!.access_token;",
        "appSecret: process.env.FEISHU_APP_SECRET!,",
        "private keys begin with `-----BEGIN RSA PRIVATE KEY-----`, see the manual",
        "task-driven-development-with-42-steps, disk-2026-06-12-snapshot-of-node",
        "git@github.com:a/b.git and logo@2x.png",
        "https://example.com:8443/@user/post",
        "C:\\Users\\Public\\x and /Users/Shared/x",
        "GET /api/users/123",
        "[REDACTED:password]",
    ],
)
def test_what_only_looks_like_a_secret_stays(line):
    assert redact(line) == Redacted(line, {})


_PARTS = st.sampled_from(
    [
        "password=",
        "密码：",
        "token: ",
        "bearer ",
        "Cookie: a=",
        "://",
        "@",
        "a@b.cn",
        "/home/",
        "C:\\Users\\",
        "[REDACTED:",
    ]
    + [
        "email]",
        "13812345678",
        "4111111111111111",
        "ghp_" + "a1" * 18,
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
        "hunter2",
    ]
    + [
        " ",
        "\n",
        '"',
        "'",
        "\\",
        ",",
        ".",
        "=",
        ":",
        "-",
        "_",
        "x",
        "字",
        "]",
        "<",
        ">",
        "is ",
        "Authorization: ",
    ]
)


@given(st.lists(_PARTS, max_size=14).map("".join))
@settings(max_examples=800, deadline=None)
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)
    assert redact(once.text) == Redacted(once.text, {})


@given(st.text())
def test_any_text_is_taken(text):
    assert redact(redact(text).text).counts == {}


@pytest.mark.parametrize(
    "text", ["\x00", "\ud800 password=\udfff", "\U0010ffff" * 9, "password=" + "\\" * 9, "﷽" * 9]
)
def test_odd_text_does_no_harm(text):
    assert isinstance(redact(text).text, str)


def test_values_inside_json_are_redacted_and_keys_stay():
    value = {
        "a@b.cn": "a@b.cn",
        "list": ["password=hunter2", ("13812345678", 5, None, True, 1.5)],
        "deep": {"er": {"note": "联系 c@d.cn"}},
    }
    found = redact_value(value)
    assert found.value == {
        "a@b.cn": "[REDACTED:email]",
        "list": ["password=[REDACTED:password]", ["[REDACTED:cn_mobile]", 5, None, True, 1.5]],
        "deep": {"er": {"note": "联系 [REDACTED:email]"}},
    }
    assert found.counts == {"email": 2, "password": 1, "cn_mobile": 1}
    assert value["deep"]["er"]["note"] == "联系 c@d.cn"
    assert redact_value(found.value).counts == {}


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("password", "correct horse battery", "password"),
        ("dbPassword", "hunter2", "password"),
        ("密码", "中文口令", "password"),
        ("api_key", "abcd1234efgh", "secret"),
        ("X-Auth-Token", "abcd1234efgh5678", "secret"),
        ("password", "required", None),
        ("password", "", None),
        ("token", "exp", None),
        ("max_tokens", "abcd1234efgh", None),
        ("note", "correct horse battery", None),
    ],
)
def test_the_key_in_json_tells_what_a_value_is(name, text, kind):
    found = redact_value({name: text})
    assert found.value == {name: f"[REDACTED:{kind}]" if kind else text}
    assert found.counts == ({kind: 1} if kind else {})


def test_any_json_value_is_taken():
    deep = value = []
    for _ in range(100_000):
        value.append([])
        value = value[0]
    assert redact_value(deep).counts == {}
    assert [redact_value(scalar).value for scalar in (None, 1, 1.5, True)] == [None, 1, 1.5, True]
    assert redact_value("password=hunter2").value == "password=[REDACTED:password]"


MEGABYTE = 1_000_000
_FRAGMENTS = [
    *("a", "1", "-", ".", " ", "\n", "@", "a@", "a@b.", "a.", "\\", "is ", "pass", "x_pass", "a_token"),
    *("password=", "password='", "password: ", "--password ", "密码：", "密码 ", "token=", "secret_"),
    *("bearer ", "Authorization: ", "cookie: a=", "://", "://a:", "://a@", "curl ", "curl -u a:"),
    *("sk-", "sk-a1", "ghp_", "xoxb-", "AKIA", "SG.a", "fb_", "M" * 24 + ".", "eyJ", "eyJa.", "eyJaaaaaaaa."),
    *("/home/", "/Users/", "C:\\Users\\", "C:\\Users\\a b", "[REDACTED:", "password=[REDACTED:email]"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + "A" * 64, "-----END PRIVATE KEY-----"),
    *("4111 ", "13812345678", "1381234567", "110105194912310021"),
]


@pytest.mark.parametrize("fragment", _FRAGMENTS)
def test_a_hostile_megabyte_takes_linear_time(fragment):
    text = (fragment * (MEGABYTE // len(fragment) + 1))[:MEGABYTE]
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 20


def test_every_rule_alone_is_linear_on_mixed_text():
    text = "".join(_FRAGMENTS) * (MEGABYTE // 10 // len("".join(_FRAGMENTS)))
    for rule in RULES:
        started = time.process_time()
        rule.pattern.sub("", text)
        assert time.process_time() - started < 5, rule


def test_without_the_rules_secrets_stay(monkeypatch):
    monkeypatch.setattr(redaction, "RULES", ())
    assert "hunter2" in redact("password=hunter2").text
