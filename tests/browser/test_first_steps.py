"""The first steps of the README, as a person takes them: import, add, switch off, look at the prompt, undo."""

import pytest

from agents.models import Agent
from experiences.models import Experience

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROW = "#experiences-group [data-row]"
TIP = "CPU 持续过高时，优先检查最近是否发布、流量是否突增。"
WORDS = {
    "en-US": {
        "agents": "Agents",
        "import": "Import agents",
        "preview": "Preview prompt",
        "history": "History",
    },
    "zh-CN": {"agents": "智能体", "import": "导入智能体", "preview": "预览提示词", "history": "历史"},
}


@pytest.fixture(params=WORDS)
def words(request):
    return WORDS[request.param] | {"locale": request.param}


@pytest.fixture
def visitor(visit, administrator, words):
    return visit(administrator, locale=words["locale"])


def follow(visitor, text):
    """Click the visible link or button of this text."""
    with visitor.page.expect_navigation():
        visitor.page.locator("a, button", has_text=text).locator("visible=true").first.click()


def save(visitor):
    with visitor.page.expect_navigation():
        visitor.page.click("button[name=_continue]")


def prompt_of(visitor, agent, words):
    visitor.open(f"/admin/agents/agent/{agent.pk}/change/")
    follow(visitor, words["preview"])
    return visitor.text()


def rows_tab(visitor, agent):
    visitor.open("/admin/")
    visitor.open(f"/admin/agents/agent/{agent.pk}/change/#experiences")
    visitor.page.wait_for_selector("[data-add]", state="visible")


def test_the_first_steps_of_the_readme(visitor, words, acme, tmp_path):
    file = tmp_path / "ops.md"
    file.write_text("---\nname: 排障助手\ndescription: 值班\n---\n你是排障助手。\n", encoding="utf-8")
    page = visitor.page
    visitor.open("/admin/")
    follow(visitor, words["import"])
    page.set_input_files("input[type=file]", str(file))
    page.select_option("select[name=company]", label="Acme") if page.query_selector(
        "select[name=company]"
    ) else None
    with page.expect_navigation():
        page.click("form button[type=submit].fieldbook-primary")
    assert "排障助手" in visitor.text()
    assert not Agent.objects.exists()
    with page.expect_navigation():
        page.click("form button[type=submit].fieldbook-primary")
    agent = Agent.objects.get(name="排障助手")

    rows_tab(visitor, agent)
    page.click("[data-add]")
    page.keyboard.type(TIP)
    save(visitor)
    assert Experience.objects.get(agent=agent).content == TIP
    assert TIP in prompt_of(visitor, agent, words)

    rows_tab(visitor, agent)
    page.locator(f"{ROW} input[type=checkbox][name$='-enabled']").first.uncheck(force=True)
    save(visitor)
    assert not Experience.objects.get(agent=agent).enabled
    assert TIP not in prompt_of(visitor, agent, words)

    visitor.open(f"/admin/agents/agent/{agent.pk}/change/")
    follow(visitor, words["history"])
    with page.expect_navigation():
        page.click("a[href*='/restore/'] >> nth=0")
    with page.expect_navigation():
        page.click("main form button[type=submit], #content form button[type=submit]")
    agent.refresh_from_db()
    assert agent.version == 4
    assert Experience.objects.get(agent=agent).enabled
    assert TIP in prompt_of(visitor, agent, words)
    assert visitor.faults == []
