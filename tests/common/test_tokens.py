"""One tokeniser for Chinese and English text, identifiers and paths."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.text import CJK
from common.tokens import similarity, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("artifact-bus.js k8s EXP-001", "artifact-bus.js artifact bus js k8s exp-001 exp 001"),
        ("状态管理方案选择", "状态 态管 管理 理方 方案 案选 选择"),
        ("需要选择状态", "要选 选择 择状 状态"),
        ("修", "修"),
        ("在 的 我", ""),
        ("请帮我修复的问题", "修复 问题"),
        ("ログの確認", "ログ グの の確 確認"),
        ("서버 오류", "서버 오류"),
        ("カタカナ", "カタ タカ カナ"),
        ("ﾃｽﾄ", "テス スト"),
        ("C++ 与 c# 和 .NET", "c++ 与 c# .net net"),
        ("notepad++", "notepad++ notepad"),
        ("f# issue#12", "f# issue# issue 12"),
        ("a b c x1 5 42", "x1 5 42"),
        ("s3 k8s exp-001", "s3 k8s exp-001 exp 001"),
        ("v1.2.3", "v1.2.3 v1 2 3"),
        ("src/app/main.py", "src/app/main.py src app main py"),
        ("../src/a.js /etc/nginx", "src/a.js src js etc/nginx etc nginx"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml github workflows ci yml"),
        ("node_modules __init__ snake_case", "node_modules node modules init snake_case snake case"),
        ("DSL/中译英.yml", "dsl 中译 译英 yml"),
        ("使用React编写", "使用 react 编写"),
        ("C++程序", "c++ 程序"),
        ("https://example.com/x1", "https example.com/x1 example com x1"),
        ("user@host.io", "user host.io host io"),
        ("wait...what happened", "wait happened"),
        ("end.Next", "end.next end next"),
        ("The log is not in the catalog", "log not catalog"),
        ("Never, always", "never always"),
        ("don't", "don"),
        ("ＥＸＰ－００１　ｋ８ｓ", "exp-001 exp 001 k8s"),
        ("soft\u00adware zero\u200bwidth", "software zerowidth"),
        ("STRASSE straße", "strasse"),
        ("café cafe\u0301", "café"),
        ("Ⅷ ² ①", "viii 2 1"),
        ("привет мир я", "привет мир"),
        ("log log LOG", "log"),
        ("2026-06-12", "2026-06-12 2026 06 12"),
        ("a--b foo__bar", "foo bar"),
        ("", ""),
        (" \n\t", ""),
        ("。，！？…—— ++ -- ## . / _", ""),
        ("😀🎉👩‍❤️‍👩", ""),
        ("的了是在", ""),
        ("please, this is it", ""),
    ],
)
def test_a_text_has_these_tokens(text, expected):
    assert tokens(text) == expected.split()


@pytest.mark.parametrize(
    ("one", "other", "least", "most"),
    [
        ("需要选择状态管理方案", "状态管理方案选择", 0.6, 1),
        ("选择数据库", "选择数据库", 1, 1),
        ("choose a database", "Choose the database!", 1, 1),
        ("修复登录接口返回 500 的问题，检查 nginx 和 redis 配置", "请帮我修改首页标题的颜色", 0, 0),
        ("log rotation", "catalog", 0, 0),
        ("a.js", "data.js", 0, 0.5),
        ("", "数据库", 0, 0),
        ("的", "的", 0, 0),
    ],
)
def test_similarity_is_the_shared_part_of_the_longer_list(one, other, least, most):
    value = similarity(tokens(one), tokens(other))
    assert least <= value <= most
    assert value == similarity(tokens(other), tokens(one))


def test_similarity_counts_each_token_once():
    assert similarity(["a", "a", "b"], ["a", "c"]) == 0.5
    assert similarity([], []) == 0.0


@given(st.text())
def test_any_text_gives_unique_folded_tokens(text):
    found = tokens(text)
    assert len(found) == len(set(found))
    assert all(token == token.casefold() and not any(char.isspace() for char in token) for token in found)
    # Han of a later Unicode than Python's tables counts as a letter too.
    assert any(char.isalnum() or re.match(f"[{CJK}]", char) for char in text) or not found


@given(st.text(alphabet="ab1.-_/+#中文 "))
def test_similarity_lies_between_zero_and_one(text):
    assert similarity(tokens(text), tokens(text)) == (1.0 if tokens(text) else 0.0)


HOSTILE_MEGABYTES = {
    "one word": "a" * 1_000_000,
    "joints": "a-" * 500_000,
    "identifier": "aa.bb_" * 170_000,
    "dots": "." * 1_000_000,
    "plus": "a" + "+" * 1_000_000,
    "han": "状态管理方案选择" * 125_000,
    "mixed": "a中" * 500_000,
    "marks": "a" + "\u0300\u0316" * 500_000,
    "format": "\u200b" * 1_000_000,
    "digits": " ".join(map(str, range(150_000))),
    "leading dots": " .a" * 330_000,
}


@pytest.mark.parametrize("name", HOSTILE_MEGABYTES)
def test_a_megabyte_takes_linear_time(name):
    started = time.process_time()
    tokens(HOSTILE_MEGABYTES[name])
    assert time.process_time() - started < 10
