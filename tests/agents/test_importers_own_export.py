"""The own JSON export comes back as it was; a market description gives a role put together from its texts."""

import copy
import json

import pytest

from agents.importers.items import FailedItem, ImportedAgent, SkippedItem
from agents.importers.json_agents import read_json_agents

EXPORT = {
    "format": "fieldbook.agent",
    "version": 1,
    "agent": {
        "name": "运维助手",
        "description": "d",
        "system_prompt": "你是运维助手。",
        "language": "en",
        "enabled": False,
        "inject_session_recaps": True,
        "introspection_enabled": False,
        "tags": ["a"],
        "skill_names": ["s"],
    },
    "experiences": [
        {"content": "second", "enabled": False, "sort_order": 1},
        {"content": " 先查日志\r\n再重启 ", "enabled": True, "sort_order": 0},
    ],
    "documents": [
        {"path": "principles.md", "text": "# 准则\r\n\r\n不变 "},
        {"path": "memory/空.md", "text": ""},
    ],
}


def read(value):
    return read_json_agents(json.dumps(value, ensure_ascii=False, indent=1), "e.json")


def changed(**changes):
    export = copy.deepcopy(EXPORT)
    for path, value in changes.items():
        place = export
        *parents, last = [int(part) if part.isdigit() else part for part in path.split("__")]
        for part in parents:
            place = place[part]
        place[last] = value
    return export


def test_an_export_comes_back_equal():
    (item,) = read(EXPORT)
    assert isinstance(item, ImportedAgent)
    assert (item.name, item.description, item.system_prompt) == ("运维助手", "d", "你是运维助手。")
    assert (item.language, item.language_guessed) == ("en", False)
    assert item.settings == {"enabled": False, "inject_session_recaps": True, "introspection_enabled": False}
    assert (item.tags, item.skill_names) == (("a",), ("s",))
    assert [(row.content, row.enabled) for row in item.experiences] == [
        ("先查日志\n再重启", True),
        ("second", False),
    ]
    assert [(document.path, document.text) for document in item.documents] == [
        ("principles.md", "# 准则\r\n\r\n不变 "),
        ("memory/空.md", ""),
    ]
    assert item.warnings == ()


def test_many_agents_have_their_own_lines():
    items = read(
        {"format": "fieldbook.agents", "version": 1, "agents": [EXPORT, {"agent": {"name": "乙"}}, 5]}
    )
    assert [type(item) for item in items] == [ImportedAgent, FailedItem, FailedItem]
    assert items[0].line == 5
    assert items[0].line < items[1].line < items[2].line
    assert items[1].name == "乙"


def test_what_the_export_leaves_out_takes_its_default():
    (item,) = read(
        {"format": "fieldbook.agent", "version": 1, "agent": {"name": "甲", "system_prompt": "你是甲"}}
    )
    assert (item.settings, item.experiences, item.documents, item.tags) == ({}, (), (), ())
    assert (item.language, item.language_guessed) == ("zh", True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, ("version 2",)),
        ({"version": True}, ("version",)),
        ({"agent": None}, ("agent",)),
        ({"agent__system_prompt": " "}, ("role definition",)),
        ({"agent__enabled": "yes"}, ("enabled",)),
        ({"agent__language": "ja"}, ("language",)),
        ({"agent__tags": ["t" * 31]}, ("tags", "30", "31")),
        ({"agent__tags": "a,b"}, ("tags",)),
        ({"experiences": {"a": 1}}, ("experiences",)),
        ({"experiences__0__content": "字" * 301}, ("experiences", "300", "301", "remove 1")),
        ({"experiences__0__content": "\u200b"}, ("experiences",)),
        ({"experiences__0__content": None}, ("experiences",)),
        ({"experiences__0__enabled": 1}, ("enabled",)),
        ({"experiences__0__sort_order": "1"}, ("sort_order",)),
        ({"documents__0__text": "x" * 200_001}, ("documents", "200000", "200001")),
        ({"documents__0__text": None}, ("documents",)),
        ({"documents__0__path": ""}, ("documents",)),
        ({"documents__0__path": "p" * 256}, ("documents", "255", "256")),
        ({"documents__0__text": "a\0b"}, ("documents",)),
    ],
)
def test_a_faulty_export_fails_as_a_whole_and_says_where(change, words):
    (item,) = read(changed(**change))
    assert isinstance(item, FailedItem)
    assert all(word in item.reason for word in words)


def test_an_experience_of_exactly_three_hundred_is_kept_whole():
    (item,) = read(changed(experiences__0__content="😀" * 300))
    assert len(item.experiences[1].content) == 300


MARKET = {
    "name": "D",
    "i18n": {
        "source_locale": "zh-CN",
        "default_locale": "en-US",
        "zh-CN": {
            "shortDesc": "短",
            "fullDesc": "全文",
            "tags": ["系统"],
            "persona": {"role": "调度器", "traits": ["协调"]},
        },
        "en-US": {"fullDesc": "full"},
    },
}


def test_a_market_description_gives_the_role_of_its_source_language():
    (item,) = read(MARKET)
    assert (item.name, item.description, item.language, item.tags) == ("D", "短", "zh", ("系统",))
    assert item.system_prompt == "调度器\n\n- 协调\n\n全文"
    assert "zh-CN" in item.warnings[0]


def test_a_market_description_without_a_role_is_skipped():
    (item,) = read({"name": "D", "i18n": {"zh-CN": {"tags": []}}})
    assert isinstance(item, SkippedItem)
    assert "no text about the role" in item.reason
