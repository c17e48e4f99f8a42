"""What touches a protected section: each way around it is noticed, honest changes elsewhere pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.rules.protection import DEFAULT_RULES, Change, Outcome, check_change, worst

PRINCIPLES = (
    "# 行为准则\n\n## 始终做\n\n- 先确认\n\n## 绝不做\n\n- 泄露密钥\n- 伪造结果\n\n## 其他\n\n- 附图\n"
)
NEVER = "## 绝不做\n\n- 泄露密钥\n- 伪造结果\n\n"


def outcome(path, old, new):
    return worst(check_change(Change(path, old, new), DEFAULT_RULES))


def is_blocked(path, old, new):
    return outcome(path, old, new).verdict is Outcome.BLOCKED


BYPASSES = {
    "text changed": PRINCIPLES.replace("泄露", "公开"),
    "one letter": PRINCIPLES.replace("泄露密钥", "泄露密匙"),
    "trailing space": PRINCIPLES.replace("- 泄露密钥\n", "- 泄露密钥 \n"),
    "blank line inside": PRINCIPLES.replace("- 泄露密钥\n", "- 泄露密钥\n\n"),
    "blank line at its end": PRINCIPLES.replace("伪造结果\n\n", "伪造结果\n\n\n"),
    "blank line at its end removed": PRINCIPLES.replace("伪造结果\n\n", "伪造结果\n"),
    "tab for space": PRINCIPLES.replace("- 泄露", "-\t泄露"),
    "CR LF inside": PRINCIPLES.replace("- 泄露密钥\n", "- 泄露密钥\r\n"),
    "CR LF everywhere": PRINCIPLES.replace("\n", "\r\n"),
    "lone CR inside": PRINCIPLES.replace("密钥\n", "密钥\r"),
    "zero width in text": PRINCIPLES.replace("泄露", "泄\u200b露"),
    "zero width in heading": PRINCIPLES.replace("绝不做", "绝\u200b不做"),
    "twin of a letter": PRINCIPLES.replace("绝", "\u2f31"),
    "heading removed": PRINCIPLES.replace("## 绝不做\n", ""),
    "heading renamed": PRINCIPLES.replace("绝不做", "建议"),
    "heading renamed to an alias": PRINCIPLES.replace("绝不做", "红线"),
    "heading extended": PRINCIPLES.replace("绝不做", "绝不做（已废止）"),
    "heading lowered": PRINCIPLES.replace("## 绝不做", "### 绝不做"),
    "heading raised": PRINCIPLES.replace("## 绝不做", "# 绝不做"),
    "heading as setext": PRINCIPLES.replace("## 绝不做", "绝不做\n---"),
    "heading with closing marks": PRINCIPLES.replace("## 绝不做", "## 绝不做 ##"),
    "heading indented": PRINCIPLES.replace("## 绝不做", " ## 绝不做"),
    "heading indented to code": PRINCIPLES.replace("## 绝不做", "    ## 绝不做"),
    "heading escaped": PRINCIPLES.replace("## 绝不做", "\\## 绝不做"),
    "heading quoted": PRINCIPLES.replace("## 绝不做", "> ## 绝不做"),
    "heading as list item": PRINCIPLES.replace("## 绝不做", "- ## 绝不做"),
    "heading doubled before": PRINCIPLES.replace("## 始终做", "## 绝不做\n\n## 始终做"),
    "heading doubled behind": PRINCIPLES + "\n## 绝不做\n\n- 无\n",
    "heading doubled without a space": PRINCIPLES + "\n##绝不做\n\n- 无\n",
    "heading doubled as alias": PRINCIPLES + "\n## Must not\n\n- nothing\n",
    "heading doubled as twin": PRINCIPLES + "\n## Νеver\n\n- nothing\n",
    "heading doubled with zero width": PRINCIPLES + "\n## 绝\u200d不做\n",
    "heading doubled as setext": PRINCIPLES + "\n绝不做\n===\n",
    "heading doubled in a comment": PRINCIPLES + "\n<!--\n## 绝不做\n-->\n",
    "heading doubled behind U+2028": PRINCIPLES + "text\u2028## 绝不做\u2028- 无\n",
    "heading doubled behind NEL": PRINCIPLES + "text\x85## 绝不做\x85- 无\n",
    "section deleted": PRINCIPLES.replace(NEVER, ""),
    "section emptied": PRINCIPLES.replace("- 泄露密钥\n- 伪造结果\n", ""),
    "text moved out below": PRINCIPLES.replace("- 伪造结果\n\n", "\n") + "- 伪造结果\n",
    "heading put into its middle": PRINCIPLES.replace("- 伪造", "## 说明\n- 伪造"),
    "higher heading put into its middle": PRINCIPLES.replace("- 伪造", "# 说明\n- 伪造"),
    "setext heading put into its middle": PRINCIPLES.replace("- 伪造", "\n说明\n---\n- 伪造"),
    "deeper heading put into its middle": PRINCIPLES.replace("- 伪造", "### 例外\n- 伪造"),
    "next heading lowered": PRINCIPLES.replace("## 其他", "### 其他"),
    "next heading removed": PRINCIPLES.replace("## 其他\n", ""),
    "next heading put into a fence": PRINCIPLES.replace("## 其他\n", "```\n## 其他\n```\n"),
    "fence opened before": PRINCIPLES.replace("- 先确认\n", "- 先确认\n```\n"),
    "fence around": PRINCIPLES.replace(NEVER, f"```\n{NEVER}```\n"),
    "tilde fence opened before": PRINCIPLES.replace("- 先确认\n", "- 先确认\n\n~~~ 例\n"),
    "fence opened in the first line": f"```\n{PRINCIPLES}",
    "fence opened in a list item": PRINCIPLES.replace("- 先确认\n", "- 先确认\n- ```\n"),
    "fence opened in a quote": PRINCIPLES.replace("- 先确认\n", "> ```\n"),
    "fence inside a comment": PRINCIPLES.replace("- 先确认\n", "<!--\n```\n-->\n"),
    "fence opened behind U+2028": PRINCIPLES.replace("- 先确认\n", "- 先确认\u2028```\n"),
    "comment opened before": PRINCIPLES.replace("- 先确认\n", "- 先确认\n\n<!--\n"),
    "comment around": PRINCIPLES.replace(NEVER, f"<!--\n\n{NEVER}").replace("- 附图", "-->\n- 附图"),
    "comment opened in running text": PRINCIPLES.replace("- 先确认\n", "- 先确认 <!--\n"),
    "html block before": PRINCIPLES.replace("## 绝不做", "<div>\n## 绝不做"),
    "html block out of a list item": PRINCIPLES.replace("- 先确认\n\n", "- <pre>\n</pre>\n"),
    "fence behind an empty item": PRINCIPLES.replace("- 先确认\n", "-\n\n  ```\n- ```\n"),
    "fence behind a comment in an item": PRINCIPLES.replace("- 先确认\n", "- <!--\n-->\n  ```\n"),
    "details around": PRINCIPLES.replace("## 绝不做", "<details>\n\n## 绝不做"),
    "struck out": PRINCIPLES.replace("## 绝不做", "<del>\n\n## 绝不做"),
    "template around": PRINCIPLES.replace("- 先确认", "<template>"),
    "unclosed pre before": PRINCIPLES.replace("- 先确认\n", "<pre>\n"),
    "front matter around": f"---\n{PRINCIPLES}---\n",
    "front matter closed by three dots": f"---\n{PRINCIPLES}...\n",
    "under another parent": PRINCIPLES.replace("## 绝不做", "# 旧版（已废止）\n\n## 绝不做"),
    "parent renamed": PRINCIPLES.replace("# 行为准则", "# 以下仅供参考"),
    "paragraph glued to the heading by an underline": PRINCIPLES.replace(
        "## 绝不做\n", "绝不做\n其他\n===\n"
    ),
    "whole file replaced": "# 新的准则\n\n- 无\n",
    "whole file emptied": "",
    "file deleted": None,
}


@pytest.mark.parametrize("new", BYPASSES.values(), ids=BYPASSES.keys())
def test_no_way_around_a_protected_section(new):
    assert new != PRINCIPLES, "the example changes nothing"
    verdict = outcome("principles.md", PRINCIPLES, new)
    assert (verdict.verdict, verdict.rule.id) == (Outcome.BLOCKED, "principles-never")


@pytest.mark.parametrize("new", BYPASSES.values(), ids=BYPASSES.keys())
def test_and_no_way_back_either(new):
    """Undoing such a change is a change of the protected section as well."""
    assert is_blocked("principles.md", new, PRINCIPLES)


def test_without_the_comparison_of_places_a_section_can_be_hidden(monkeypatch):
    """The control: the text alone stays equal in these attacks."""
    attacks = ["comment opened in running text", "details around", "under another parent"]
    monkeypatch.setattr("agents.rules.protection._place", lambda section: ())
    assert not any(is_blocked("principles.md", PRINCIPLES, BYPASSES[name]) for name in attacks)


HONEST = {
    "nothing": PRINCIPLES,
    "line before": PRINCIPLES.replace("- 先确认\n", "- 先确认\n- 再执行\n"),
    "line behind": PRINCIPLES + "- 新规则\n",
    "heading before": PRINCIPLES.replace("## 始终做", "## 说明\n\n文字\n\n## 始终做"),
    "heading right behind": PRINCIPLES.replace("## 其他", "## 说明\n\n文字\n\n## 其他"),
    "heading at the end": PRINCIPLES + "\n## 新章\n\n- 新规则\n",
    "other heading renamed": PRINCIPLES.replace("始终做", "必须做"),
    "other section removed": PRINCIPLES.replace("## 始终做\n\n- 先确认\n\n", ""),
    "CR LF elsewhere": PRINCIPLES.replace("- 先确认\n", "- 先确认\r\n"),
    "closed fence before": PRINCIPLES.replace("- 先确认\n", "- 先确认\n\n```\n## 绝不做\n```\n"),
    "fence in a list item": PRINCIPLES.replace("- 先确认\n", "- ```sh\n  ls\n  ```\n"),
    "closed comment before": PRINCIPLES.replace("- 先确认\n", "- 先确认 <!-- 注 -->\n"),
    "closed details before": PRINCIPLES.replace("- 先确认\n", "<details>\n\n文\n\n</details>\n"),
    "front matter added": f"---\ntitle: 准则\n---\n{PRINCIPLES}",
    "unclosed fence at the end": PRINCIPLES + "\n```\n代码",
    "the word in running text": PRINCIPLES + "\n- 绝不做假\n",
    "a rule across the page": PRINCIPLES.replace("- 先确认\n", "- 先确认\n\n---\n"),
    "U+2028 in other text": PRINCIPLES.replace("附图", "附\u2028图"),
    "placeholder in angle brackets": PRINCIPLES.replace("- 先确认\n", "- 写入 users/<id>/profile.md\n"),
}


@pytest.mark.parametrize("new", HONEST.values(), ids=HONEST.keys())
def test_changes_elsewhere_pass(new):
    assert outcome("principles.md", PRINCIPLES, new).is_allowed
    assert outcome("principles.md", new, PRINCIPLES).is_allowed


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\n\n"])
def test_a_heading_may_be_put_behind_a_protected_section_that_ends_the_file(ending):
    old = f"## 始终做\n\n- 先确认\n\n## 绝不做\n\n- 泄露密钥{ending}"
    new = f"{old}\n\n## 新章\n\n- 新规则\n"
    assert outcome("principles.md", old, new).is_allowed
    assert outcome("principles.md", new, old).is_allowed
    assert is_blocked("principles.md", old, new.replace("泄露密钥", "泄露密钥。"))
    assert is_blocked("principles.md", old, f"{old}\n")
    assert is_blocked("principles.md", old, f"{old} \n\n## 新章\n")


PLAIN_LINES = st.text(alphabet="abc 规则，。！(){}%*_|", max_size=12).map(lambda text: f"x{text}")
BLOCKS = st.one_of(
    PLAIN_LINES.map(lambda line: f"{line}\n\n"),
    PLAIN_LINES.map(lambda line: f"- {line}\n- {line}\n\n"),
    PLAIN_LINES.map(lambda line: f"```\n## 绝不做\n{line}\n```\n\n"),
    PLAIN_LINES.map(lambda line: f"> {line}\n\n"),
    PLAIN_LINES.map(lambda line: f"### {line}\n\n"),
    st.just("---\n\n"),
)
BODIES = st.lists(BLOCKS, max_size=4).map("".join)
ANY_EDIT = st.text(
    alphabet=st.one_of(st.sampled_from("#`~<>!-= \n\r\t\u2028绝不做"), st.characters(codec="utf-8")),
    max_size=12,
)


@given(before=BODIES, inside=BODIES, behind=BODIES, new=ANY_EDIT, data=st.data())
def test_any_edit_inside_the_section_touches_it(before, inside, behind, new, data):
    section = f"## 绝不做\n{inside}- last\n"
    head, tail = f"# 准则\n\n## 始终做\n\n{before}", f"## 其他\n\n{behind}"
    # The first and the last sign of the section stay: an edit at its very edge is one outside it.
    start = data.draw(st.integers(1, len(section) - 2))
    end = data.draw(st.integers(start, len(section) - 2))
    edited = section[:start] + new + section[end:]
    if edited != section:
        assert is_blocked("principles.md", head + section + tail, head + edited + tail)


@given(before=BODIES, behind=BODIES, new_before=BODIES, new_behind=BODIES, inside=BODIES)
def test_no_edit_outside_the_section_touches_it(before, behind, new_before, new_behind, inside):
    section = f"## 绝不做\n{inside}- last\n"
    old = f"# 准则\n\n## 始终做\n\n{before}{section}## 其他\n\n{behind}"
    new = f"# 准则\n\n## 始终做\n\n{new_before}{section}## 其他\n\n{new_behind}"
    assert outcome("principles.md", old, new).is_allowed
