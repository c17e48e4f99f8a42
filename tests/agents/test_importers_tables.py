"""CSV and JSON lists of act and prompt: a row, an agent, a line."""

import json

import pytest

from agents.importers.items import FailedItem, ImportedAgent, SkippedItem
from agents.importers.json_agents import read_json_agents
from agents.importers.json_values import element_lines, load_json
from agents.importers.table import read_csv_agents, read_table
from common.errors import ApplicationError


def csv_items(text):
    return read_csv_agents(text, "p.csv")


def json_items(value):
    return read_json_agents(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), "p.json"
    )


def test_each_row_is_an_agent_with_its_line():
    text = (
        'act,prompt,for_devs\r\n"运维","你是""运维""，\r\n第二行",TRUE\r\n'
        '\r\nTester,"I want you, to test",x\r\n'
    )
    first, second = csv_items(text)
    assert (first.name, first.system_prompt, first.line) == ("运维", '你是"运维"，\n第二行', 2)
    assert (second.name, second.system_prompt, second.line) == ("Tester", "I want you, to test", 5)
    assert (first.language, second.language) == ("zh", "en")


@pytest.mark.parametrize(
    "header",
    [
        "act,prompt",
        "\ufeffact,prompt",
        "prompt,extra,act",
        "Act , Prompt",
        "act;prompt",
        "act\tprompt",
        "名称,提示词",
    ],
)
def test_headers_of_common_tools_are_understood(header):
    delimiter = next(sign for sign in "\t;," if sign in header)
    cells = {"act": "甲", "prompt": "你是甲", "名称": "甲", "提示词": "你是甲"}
    names = [name.strip("\ufeff ").lower() for name in header.split(delimiter)]
    (item,) = csv_items(header + "\n" + delimiter.join(cells.get(name, "-") for name in names))
    assert (item.name, item.system_prompt) == ("甲", "你是甲")


def test_cells_come_back_un_escaped():
    (item,) = csv_items("act,prompt\n'=甲,'- first rule")
    assert (item.name, item.system_prompt) == ("=甲", "- first rule")


def test_empty_lines_above_the_header_and_nameless_columns_do_not_matter():
    (item,) = csv_items("\n\nact,prompt,,\n甲,你是甲,x,y\n")
    assert (item.name, item.description, item.line) == ("甲", "", 4)


def test_a_table_without_the_columns_is_skipped():
    (item,) = csv_items("a,b\n1,2")
    assert isinstance(item, SkippedItem)


def test_faulty_rows_fail_with_their_line_and_the_rest_goes_on():
    text = f"act,prompt\n,blank name\nname only\n甲,未加引号, 逗号\n{'n' * 101},x\n乙,你是乙\n"
    items = csv_items(text)
    assert [type(item) for item in items] == [FailedItem] * 4 + [ImportedAgent]
    assert [item.line for item in items] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("tail", ['"未关闭\n丙,x\n', '"a"b,c\n丙,x\n'])
def test_after_faulty_quoting_no_row_is_trusted(tail):
    first, fault = csv_items(f"act,prompt\n甲,x\n乙,{tail}")
    assert isinstance(first, ImportedAgent)
    assert isinstance(fault, FailedItem)
    assert fault.line == 3
    assert "not read" in fault.reason


def test_a_huge_cell_fails_by_itself():
    long, short = csv_items(f"act,prompt\n甲,{'x' * 200_000}\n乙,y")
    assert "200000" in long.reason
    assert short.name == "乙"


def test_a_table_knows_its_columns_and_lines():
    table = read_table('内容,启用\n"a\nb",是\nc,\n')
    assert table.columns == ("内容", "启用")
    assert [(row.line, row.cells["内容"]) for row in table.rows] == [(2, "a\nb"), (4, "c")]


def test_each_object_of_a_json_list_is_an_agent_with_its_line():
    text = '[\n  {\n    "act": "运维",\n    "prompt": "你是运维"\n  },\n  {"act": "T", "prompt": "Test."}\n]'
    items = json_items(text)
    assert [(item.name, item.line) for item in items] == [("运维", 2), ("T", 6)]
    assert json_items(text.replace("\n", "\r\n")) == items
    assert json_items("\ufeff" + text) == items


def test_one_object_is_one_agent():
    (item,) = json_items({"name": "甲", "system_prompt": "你是甲", "description": "d"})
    assert (item.name, item.description) == ("甲", "d")


def test_faulty_objects_fail_and_the_rest_goes_on():
    items = json_items(
        [
            {"act": "甲", "prompt": "x"},
            {"act": "a\0b", "prompt": "x"},
            {"act": "乙"},
            "文本",
            {"act": 5, "prompt": "x"},
        ]
    )
    assert [type(item) for item in items] == [ImportedAgent] + [FailedItem] * 4


def test_a_lone_surrogate_fails_and_stays_out_of_the_report():
    (item,) = json_items('[{"act": "\\ud800", "prompt": "x"}]')
    assert isinstance(item, FailedItem)
    f"{item.reason}{item.name}".encode()


@pytest.mark.parametrize("value", [[], {}, [1, 2], {"scripts": {}}, "x", None, {"i18n": {}}])
def test_other_json_is_skipped(value):
    assert all(isinstance(item, SkippedItem) for item in json_items(json.dumps(value)))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[\n{"act": 1,}]', 2),
        ("", 1),
        ('{"a": NaN}', 1),
        ("[" * 100_000, 1),
        ("[" * 33 + "]" * 33, 1),
        ("1" * 5000, 1),
    ],
)
def test_what_is_no_json_names_the_line(text, line):
    with pytest.raises(ApplicationError) as caught:
        load_json(text)
    assert caught.value.extra["line"] == line


def test_json_of_thirty_two_levels_is_read():
    assert load_json("[" * 32 + "]" * 32)


def test_lines_of_elements_are_found_below_a_key():
    text = '{"x": ["]", {"agents": [0]}],\n "agents" : [\n1,\n\n{"a": [2]}, "z"\n] }'
    assert element_lines(text, "agents") == [3, 5, 5]
    assert element_lines(text) == []
    assert element_lines("[]") == []
    assert element_lines("[1]", "agents") == []
