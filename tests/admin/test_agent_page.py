"""The agent page: one save is one version and one receipt, with everything that was typed or with nothing."""

import pytest

from agents.models import Agent, AgentVersion
from common.receipts.models import Receipt
from experiences.models import Experience
from tests import factories
from tests.admin.agent_forms import ROWS, agent_page, errors_of, form_of, save, send, stored, with_new_rows

ADD = "/admin/agents/agent/add/"


@pytest.fixture
def agent(acme):
    return factories.make_agent(
        acme, "运维助手", rows=["一", "二", "三"], tags=["ops"], skill_names=["deploy"]
    )


@pytest.fixture
def editor(signed_in, operator):
    return signed_in(operator)


def rows_of(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("content", flat=True))


def orders_of(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("order", flat=True))


def test_a_new_agent_is_made_with_its_rows(editor, acme):
    values = form_of(editor.get(ADD)) | {
        "name": "新智能体",
        "system_prompt": "你是助手。",
        "company": acme.pk,
    }
    response = send(editor, ADD, with_new_rows(values, "先看日志", "Read the logs", order=True))
    assert response.status_code == 302
    agent = Agent.objects.get(name="新智能体")
    assert (agent.company, agent.version, rows_of(agent)) == (acme, 1, ["先看日志", "Read the logs"])
    assert all(agent.experiences.values_list("enabled", flat=True))


def test_a_new_agent_goes_only_into_a_company_of_the_person(editor, acme, rival):
    values = form_of(editor.get(ADD)) | {"name": "x", "system_prompt": "y", "company": rival.pk}
    assert "company" in send(editor, ADD, values).context["adminform"].form.errors
    assert not Agent.objects.exists()


def test_fields_and_rows_are_one_version_and_one_receipt(editor, agent):
    changes = {"system_prompt": "新角色", f"{ROWS}-1-content": "二改", "message": "为什么"}
    assert save(editor, agent_page(agent), **changes).status_code == 302
    agent.refresh_from_db()
    assert (agent.version, agent.system_prompt, rows_of(agent)) == (2, "新角色", ["一", "二改", "三"])
    version = AgentVersion.objects.get(agent=agent, number=2)
    assert (version.author, version.source, version.message) == ("operator", "admin", "为什么")
    receipt = Receipt.objects.get(agent=agent, trigger="agent_changed")
    assert {line.type for line in receipt.lines.all()} == {"role", "experience_changed"}


def test_a_save_of_rows_alone_is_a_version_too(editor, agent):
    save(editor, agent_page(agent), **{f"{ROWS}-0-enabled": None})
    assert AgentVersion.objects.get(agent=agent, number=2).snapshot["rows"][0]["enabled"] is False


def test_a_save_without_a_change_adds_nothing(editor, agent):
    before = stored()
    assert save(editor, agent_page(agent)).status_code == 302
    assert stored() == before


def test_crlf_of_the_browser_is_no_change(editor, acme):
    agent = factories.make_agent(acme, system_prompt="一\n\n二", description="a\nb", rows=["x\ny"])
    before = stored()
    save(editor, agent_page(agent))
    assert stored() == before


def test_lists_that_were_not_touched_stay_as_they_are(editor, acme):
    agent = factories.make_agent(acme, tags=["a, b", "中文"], skill_names=["x;y"])
    save(editor, agent_page(agent), description="neu")
    agent.refresh_from_db()
    assert (agent.tags, agent.skill_names) == (["a, b", "中文"], ["x;y"])


def test_lists_are_one_entry_a_line(editor, agent):
    save(editor, agent_page(agent), tags="运维\r\n\r\n on call \r\n", skill_names="")
    agent.refresh_from_db()
    assert (agent.tags, agent.skill_names) == (["运维", "on call"], [])


def test_rows_stand_in_the_order_the_page_was_left_in(editor, agent):
    save(
        editor, agent_page(agent), **{f"{ROWS}-0-order": "2", f"{ROWS}-1-order": "0", f"{ROWS}-2-order": "1"}
    )
    assert (rows_of(agent), orders_of(agent)) == (["二", "三", "一"], [0, 1, 2])


@pytest.mark.parametrize("order", [True, False], ids=["with places", "without places"])
def test_new_rows_come_last_in_the_order_typed_and_are_enabled(editor, agent, order):
    values = with_new_rows(form_of(editor.get(agent_page(agent))), "四", "five", order=order)
    send(editor, agent_page(agent), values)
    assert (rows_of(agent), orders_of(agent)) == (["一", "二", "三", "四", "five"], [0, 1, 2, 3, 4])
    assert all(agent.experiences.values_list("enabled", flat=True))


def test_a_new_row_is_enabled_where_the_switch_was_not_sent_at_all(editor, agent):
    values = with_new_rows(form_of(editor.get(agent_page(agent))), "四") | {f"{ROWS}-3-enabled": None}
    send(editor, agent_page(agent), values)
    assert agent.experiences.get(content="四").enabled is True


def test_a_new_row_can_be_switched_off_at_once(editor, agent):
    values = with_new_rows(form_of(editor.get(agent_page(agent))), "四")
    values |= {f"{ROWS}-3-enabled": None, f"{ROWS}-3-enabled-shown": "1"}
    send(editor, agent_page(agent), values)
    assert agent.experiences.get(content="四").enabled is False


def test_an_empty_new_row_is_left_out(editor, agent):
    values = with_new_rows(form_of(editor.get(agent_page(agent))), "", "四")
    assert send(editor, agent_page(agent), values).status_code == 302
    assert rows_of(agent) == ["一", "二", "三", "四"]


def test_deleting_one_row_and_editing_another_keeps_the_order(editor, agent):
    save(editor, agent_page(agent), **{f"{ROWS}-0-DELETE": "on", f"{ROWS}-2-content": "三改"})
    assert (rows_of(agent), orders_of(agent)) == (["二", "三改"], [0, 1])


def test_all_rows_can_go(editor, agent):
    save(editor, agent_page(agent), **{f"{ROWS}-{index}-DELETE": "on" for index in range(3)})
    assert rows_of(agent) == []
    assert save(editor, agent_page(agent), description="x").status_code == 302


def test_rows_that_the_form_does_not_name_stay_where_they_are(editor, agent):
    """A page that was cut short on its way deletes nothing."""
    values = form_of(editor.get(agent_page(agent)))
    cut = {name: value for name, value in values.items() if not name.startswith((f"{ROWS}-1-", f"{ROWS}-2-"))}
    cut |= {f"{ROWS}-TOTAL_FORMS": "1", f"{ROWS}-INITIAL_FORMS": "1", f"{ROWS}-0-content": "一改"}
    send(editor, agent_page(agent), cut)
    assert rows_of(agent) == ["一改", "二", "三"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("字" * 301, "remove 1"),
        ("😀" * 302, "remove 2"),
        ("   \r\n ", "blank"),
        ("\u200b\u2060", "blank"),
        ("a\0b", "cannot be stored"),
    ],
    ids=["301 Han", "302 emoji", "spaces", "zero-width", "NUL"],
)
def test_a_bad_row_is_refused_with_everything_else(editor, agent, text, told):
    before = stored()
    values = with_new_rows(form_of(editor.get(agent_page(agent))), text) | {"description": "neu"}
    response = send(editor, agent_page(agent), values)
    assert response.status_code == 200
    assert told in errors_of(response)
    assert form_of(response)["description"] == "neu"
    assert stored() == before


def test_three_hundred_code_points_are_accepted(editor, agent):
    texts = ["字" * 300, "😀" * 300, "👩‍❤️‍👩" * 50, "a" * 290 + "\r\n" * 5 + "b" * 5]
    response = send(editor, agent_page(agent), with_new_rows(form_of(editor.get(agent_page(agent))), *texts))
    assert response.status_code == 302
    assert rows_of(agent)[3:] == [text.replace("\r\n", "\n") for text in texts]


def test_a_newline_counts_one_in_the_form_as_in_the_api(editor, agent, writer):
    body = "字" * 145 + "\n" * 10 + "字" * 145
    values = with_new_rows(form_of(editor.get(agent_page(agent))), body.replace("\n", "\r\n"))
    assert send(editor, agent_page(agent), values).status_code == 302
    assert writer.post(f"agents/{agent.pk}/experiences", {"content": body}).status_code == 201
    assert rows_of(agent)[3:] == [body, body]


def test_the_box_counts_code_points_and_blocks_nothing(editor, agent):
    page = editor.get(agent_page(agent)).content.decode()
    assert 'data-limit="300"' in page
    assert "maxlength" not in page.split('id="experiences-group"')[1].split("</section>")[0]


def test_an_invalid_new_row_that_is_then_removed_does_not_block_the_rest(editor, agent):
    values = with_new_rows(form_of(editor.get(agent_page(agent))), "字" * 301) | {f"{ROWS}-0-content": "一改"}
    refused = send(editor, agent_page(agent), values)
    assert refused.status_code == 200
    again = form_of(refused) | {f"{ROWS}-3-DELETE": "on"}
    assert send(editor, agent_page(agent), again).status_code == 302
    assert rows_of(agent) == ["一改", "二", "三"]


def test_a_row_of_another_agent_is_refused_and_nothing_written(editor, acme, rival, agent):
    for other in (factories.make_agent(acme, rows=["同公司"]), factories.make_agent(rival, rows=["foreign"])):
        foreign = other.experiences.get()
        before = stored()
        values = form_of(editor.get(agent_page(agent)))
        as_old = values | {f"{ROWS}-1-id": foreign.pk, f"{ROWS}-1-content": "stolen"}
        as_new = with_new_rows(values, "stolen") | {f"{ROWS}-3-id": foreign.pk}
        for forged in (as_old, as_new):
            response = send(editor, agent_page(agent), forged | {"description": "changed too"})
            assert response.status_code == 200
            assert f"No experience {foreign.pk} belongs to this agent" in errors_of(response)
        assert stored() == before


def test_an_id_named_twice_is_refused(editor, agent):
    values = form_of(editor.get(agent_page(agent)))
    before = stored()
    response = send(editor, agent_page(agent), values | {f"{ROWS}-1-id": values[f"{ROWS}-0-id"]})
    assert "named twice" in errors_of(response)
    assert stored() == before


def test_deleting_a_foreign_id_deletes_nothing(editor, rival, agent):
    foreign = factories.make_agent(rival, rows=["foreign"]).experiences.get()
    values = form_of(editor.get(agent_page(agent)))
    before = stored()
    send(editor, agent_page(agent), values | {f"{ROWS}-1-id": foreign.pk, f"{ROWS}-1-DELETE": "on"})
    assert stored() == before


@pytest.mark.parametrize("place", ["-1", "x", "9" * 30, "1.5"])
def test_a_forged_place_is_no_crash(editor, agent, place):
    response = save(editor, agent_page(agent), **{f"{ROWS}-0-order": place})
    assert response.status_code in (200, 302)
    assert sorted(rows_of(agent)) == sorted(["一", "二", "三"])
    assert orders_of(agent) == [0, 1, 2]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("name", "已有", "exists already"),
        ("name", " \u200b ", "must not be blank"),
        ("name", "x" * 101, "100"),
        ("system_prompt", " \r\n ", "required"),
        ("system_prompt", "\u200b", "must not be blank"),
        ("system_prompt", "字" * 100_001, "remove 1"),
        ("description", "d" * 1001, "remove 1"),
        ("tags", "\r\n".join(str(number) for number in range(21)), "At most 20"),
        ("tags", "x" * 31, "remove 1"),
        ("language", "fr", "valid choice"),
    ],
)
def test_a_bad_field_is_refused_beside_it_and_keeps_what_was_typed(editor, acme, agent, field, value, told):
    factories.make_agent(acme, "已有")
    before = stored()
    response = save(editor, agent_page(agent), **{field: value, f"{ROWS}-0-content": "typed"})
    assert response.status_code == 200
    assert told in " ".join(response.context["adminform"].form.errors[field])
    assert form_of(response)[f"{ROWS}-0-content"] == "typed"
    assert stored() == before


def test_the_company_of_an_agent_cannot_change(signed_in, chief, acme, rival, agent):
    save(signed_in(chief), agent_page(agent), company=rival.pk, description="x")
    agent.refresh_from_db()
    assert (agent.company, agent.description) == (acme, "x")


def test_a_new_default_takes_the_flag_from_the_old_one(editor, acme, agent):
    old = factories.make_agent(acme, is_default=True)
    save(editor, agent_page(agent), is_default="on")
    assert list(Agent.objects.filter(is_default=True)) == [agent]
    assert AgentVersion.objects.filter(agent=old).count() == 2


def test_owners_are_offered_only_from_the_agents_company(editor, viewer, stranger, agent):
    page = editor.get(agent_page(agent)).content.decode()
    assert "viewer" in page
    assert "stranger" not in page
    save(editor, agent_page(agent), owner=viewer.pk)
    agent.refresh_from_db()
    assert agent.owner == viewer
    response = save(editor, agent_page(agent), owner=stranger.pk)
    assert "owner" in response.context["adminform"].form.errors


def test_the_enabled_rows_are_counted_above_them(editor, acme):
    agent = factories.make_agent(acme, rows=["四个字了", ("off", False), "abcdefgh"])
    page = editor.get(agent_page(agent)).content.decode()
    assert "2 of 3 enabled · 12 characters · about 7 tokens" in page


@pytest.mark.parametrize(("count", "is_hinted"), [(30, False), (31, True)])
def test_above_thirty_rows_the_page_hints(editor, acme, count, is_hinted):
    agent = factories.make_agent(acme, rows=[f"row {number}" for number in range(count)])
    assert ("More than 30 enabled" in editor.get(agent_page(agent)).content.decode()) is is_hinted


def test_hidden_characters_are_shown_and_kept(editor, acme):
    text = "先看\u202e日志 a\u200bb"
    agent = factories.make_agent(acme, rows=[text, "plain"])
    page = editor.get(agent_page(agent)).content.decode()
    assert '先看<span class="fieldbook-hidden">[U+202E]</span>日志' in page
    assert page.count("[U+") == 2
    save(editor, agent_page(agent), description="x")
    assert rows_of(agent) == [text, "plain"]


def test_the_tabs_come_from_the_settings(editor, agent, settings):
    page = editor.get(agent_page(agent)).content.decode()
    assert [page.index(f'id="{slug}-group"') for slug in ("experiences", "documents", "receipts")] == sorted(
        page.index(f'id="{slug}-group"') for slug in ("experiences", "documents", "receipts")
    )
    settings.AGENT_TABS = ["agents.admin.tabs.ReceiptTab"]
    page = editor.get(agent_page(agent)).content.decode()
    assert 'id="receipts-group"' in page
    assert 'id="experiences-group"' not in page
    save(editor, agent_page(agent), description="without rows")
    assert rows_of(agent) == ["一", "二", "三"]


def test_a_tab_shows_the_first_hundred_and_a_way_to_the_rest(editor, acme):
    agent = factories.make_agent(acme, rows=[f"row {number}" for number in range(120)])
    page = editor.get(agent_page(agent)).content.decode()
    assert "100+" in page
    assert f"/admin/receipts/receiptline/?agent__id__exact={agent.pk}" in page


def test_the_page_asks_the_database_as_often_for_many_rows_as_for_one(editor, acme, count_queries):
    agents = [
        factories.make_agent(
            acme,
            rows=[f"row {number}" for number in range(count)],
            documents=[(f"memory/{number}.md", "x") for number in range(count)],
        )
        for count in (1, 10, 100)
    ]
    urls = [agent_page(agent) for agent in agents]
    reads = [count_queries(lambda url=url: editor.get(url)) for url in urls]
    assert reads[0] == reads[1] == reads[2] <= 30
    forms = [form_of(editor.get(url)) | {"name": f"saved {url}"} for url in urls]
    pairs = zip(urls, forms, strict=True)
    writes = [count_queries(lambda url=url, form=form: send(editor, url, form)) for url, form in pairs]
    assert writes[0] == writes[1] == writes[2]
