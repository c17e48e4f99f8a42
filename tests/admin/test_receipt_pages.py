"""Receipts in the admin: complete, readable, escaped, within one's company, and only to read."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
import yaml
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from common.companies.services import save_company
from common.receipts.models import Receipt, ReceiptLine
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from tests import factories
from tests.conftest import append_only_lifted

LIST = "/admin/receipts/receipt/"
LINES = "/admin/receipts/receiptline/"
VERIFY = "/admin/receipts/receipt/verify/"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e"


def a_receipt(company, **fields):
    given = {
        "type": "change",
        "trigger": "agent_changed",
        "at": timezone.now(),
        "lines": [Line(type="setting", target="settings/name", content="新名称")],
        **fields,
    }
    return write_receipt(company=company, actor=factories.SYSTEM, **given)


def page_of(receipt):
    return reverse("admin:receipts_receipt_change", args=[receipt.pk])


def export_of(receipt, kind):
    return reverse(f"admin:receipts_receipt_export_{kind}", args=[receipt.pk])


def numbers(response):
    return [receipt.number for receipt in response.context["cl"].result_list]


def test_the_list_is_newest_first_and_counts_in_words(signed_in, viewer, acme):
    lines = [
        Line(type="setting", target="settings/name"),
        Line(type="setting", target="settings/tags", status="user_rejected", rejection_reason="不合适"),
    ]
    a_receipt(acme)
    a_receipt(acme, lines=lines)
    response = signed_in(viewer).get(LIST)
    assert numbers(response) == [2, 1]
    page = response.content.decode()
    assert "total 2 · applied 1 · rejected 1" in page
    assert "agent changed" in page


def test_the_page_shows_lines_texts_and_hashes(signed_in, viewer, acme):
    line = Line(
        type="setting",
        target="settings/name",
        content="新名称\n第二行",
        status="user_rejected",
        rejection_reason="不合适",
        risk_level="high",
        document_version=7,
        new_sha256="a" * 64,
    )
    receipt = a_receipt(acme, lines=[line], detail={"version": 3}, session_analysis={"session_id": "s-1"})
    page = signed_in(viewer).get(page_of(receipt)).content.decode()
    for shown in (
        "settings/name",
        "新名称\n第二行",
        "不合适",
        "high",
        "rejected",
        "a" * 64,
        "s-1",
        receipt.sha256,
    ):
        assert shown in page, shown


def test_an_erased_text_says_so(signed_in, viewer, acme):
    receipt = a_receipt(acme)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE receipts_receipttext SET text = ''")
    assert "(erased)" in signed_in(viewer).get(page_of(receipt)).content.decode()
    assert "(erased)" in signed_in(viewer).get(LINES).content.decode()


def test_hostile_text_is_text(signed_in, viewer, acme):
    line = Line(
        type=HOSTILE[:40], target=HOSTILE, content=HOSTILE, status="user_rejected", rejection_reason=HOSTILE
    )
    receipt = a_receipt(
        acme,
        lines=[line],
        trigger=HOSTILE[:60],
        agent_name=HOSTILE,
        detail={HOSTILE: HOSTILE},
        session_analysis={HOSTILE: HOSTILE},
    )
    client = signed_in(viewer)
    line_page = reverse("admin:receipts_receiptline_change", args=[receipt.lines.get().pk])
    for url in (LIST, LINES, page_of(receipt), line_page, "/admin/"):
        page = client.get(url).content.decode()
        assert "<script>alert" not in page, url
        assert "<img src=x" not in page, url
        assert "&lt;script&gt;alert(1)" in page, url
    assert "[U+202E]" in client.get(page_of(receipt)).content.decode()


@pytest.mark.parametrize("kind", ["yaml", "json"])
def test_a_receipt_is_exported_in_its_own_shape(signed_in, viewer, acme, kind):
    receipt = a_receipt(acme, agent_name="运维助手")
    response = signed_in(viewer).get(export_of(receipt, kind))
    read = yaml.safe_load if kind == "yaml" else json.loads
    exported = read(response.content.decode())["receipt"]
    assert exported["learning_items"][0]["content"] == "新名称"
    assert exported["metadata"] == {"total": 1, "applied": 1, "rejected": 0, "skipped": 0}
    assert "新名称" in response.content.decode()
    assert response["Content-Disposition"] == f'attachment; filename="receipt-acme-1.{kind}"'


def test_an_intact_chain_is_called_intact(signed_in, viewer, acme):
    for _ in range(3):
        a_receipt(acme)
    page = signed_in(viewer).get(VERIFY, {"company": "acme"}).content.decode()
    assert "Intact: 3 receipts checked." in page


def test_a_broken_chain_names_the_first_broken_receipt(signed_in, viewer, acme):
    receipts = [a_receipt(acme) for _ in range(3)]
    with append_only_lifted(), connection.cursor() as cursor:
        cursor.execute("UPDATE receipts_receipt SET actor_name = 'x' WHERE id = %s", [receipts[1].pk])
    page = signed_in(viewer).get(VERIFY, {"company": "acme"}).content.decode()
    assert "Broken at receipt #2:" in page


def test_the_chain_of_the_chosen_company_is_verified_at_once(signed_in, chief, acme, rival):
    a_receipt(acme)
    a_receipt(rival)
    client = signed_in(chief)
    client.post("/admin/company/", {"company": "rival"})
    page = client.get(VERIFY).content.decode()
    assert page.count("Intact:") == 1


def test_chains_of_other_companies_are_not_verified(signed_in, viewer, rival):
    a_receipt(rival)
    page = signed_in(viewer).get(VERIFY, {"company": "rival"}).content.decode()
    assert "Intact" not in page
    assert "Rival" not in page


def test_receipts_of_another_company_are_not_there(signed_in, stranger, acme):
    receipt = a_receipt(acme, agent_name="canary")
    client = signed_in(stranger)
    line_page = reverse("admin:receipts_receiptline_change", args=[receipt.lines.get().pk])
    for url in (page_of(receipt), export_of(receipt, "yaml"), export_of(receipt, "json"), line_page):
        assert client.get(url).status_code == 404, url
    for url in (LIST, LINES):
        for query in ({}, {"q": "canary"}, {"company": "acme"}, {"agent__id__exact": "1"}):
            response = client.get(url, query)
            assert not response.context["cl"].result_list, (url, query)


def test_receipts_of_shared_agents_are_read_by_all(signed_in, stranger, global_company):
    receipt = a_receipt(global_company)
    assert signed_in(stranger).get(page_of(receipt)).status_code == 200


@pytest.mark.parametrize(
    ("kind", "in_chain_of", "readers"),
    [
        ("setting", "acme", "viewer operator approver administrator chief"),
        ("api_key", "acme", "administrator chief"),
        ("person", "acme", "administrator chief"),
        ("setting", "_global", "viewer operator approver administrator stranger chief"),
        ("api_key", "_global", "chief"),
        ("person", "_global", "chief"),
    ],
)
def test_receipts_about_keys_and_people_are_read_by_those_who_may_see_them(
    signed_in, request, acme, global_company, kind, in_chain_of, readers
):
    company = acme if in_chain_of == "acme" else global_company
    receipt = a_receipt(company, lines=[Line(type=kind, target="canary")])
    for name in ["viewer", "operator", "approver", "administrator", "stranger", "chief"]:
        client = signed_in(request.getfixturevalue(name))
        seen = (
            client.get(page_of(receipt)).status_code == 200,
            bool(client.get(LIST).context["cl"].result_list),
            "canary" in client.get(LINES).content.decode(),
        )
        assert seen == (name in readers.split(),) * 3, name


def test_members_of_the_shared_company_read_about_its_people(signed_in, administrator, global_company):
    receipt = a_receipt(global_company, lines=[Line(type="person", target="people/zhang/email")])
    client = signed_in(administrator)
    assert client.get(page_of(receipt)).status_code == 404
    global_company.members.add(administrator)
    assert client.get(page_of(receipt)).status_code == 200


def test_nothing_is_written_here(signed_in, chief, acme):
    receipt = a_receipt(acme)
    line = receipt.lines.get()
    client = signed_in(chief)
    for model, row in (("receipt", receipt), ("receiptline", line)):
        for page in ("add", "change", "delete"):
            args = [] if page == "add" else [row.pk]
            url = reverse(f"admin:receipts_{model}_{page}", args=args)
            assert client.post(url, {"post": "yes", "actor_name": "x"}).status_code == 403, url
    response = client.post(
        LIST, {"action": "delete_selected", "_selected_action": [receipt.pk], "post": "yes"}
    )
    assert response.status_code in (200, 302)
    assert Receipt.objects.get().actor_name == "test"
    assert ReceiptLine.objects.count() == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"type": "archive"}, [2]),
        ({"type__exact": "archive"}, [2]),
        ({"company": "acme"}, [3, 2, 1]),
        ({"company": "rival"}, []),
        ({"at_from": "2026-03-02", "at_to": "2026-03-02"}, [2]),
        ({"at_from": "2026-03-02"}, [3, 2]),
        ({"at_to": "2026-03-01"}, [1]),
        ({"at_from": "2026/03/03"}, [3]),
        ({"at_from": "nonsense", "at_to": "2026-99-99"}, [3, 2, 1]),
        ({"at_to": "9999-12-31"}, [3, 2, 1]),
        ({"q": "运维"}, [3]),
        ({"q": "settings/name"}, [3, 2, 1]),
        ({"q": "nothing like this"}, []),
    ],
)
def test_receipts_are_filtered_by_company_type_and_local_day(signed_in, viewer, acme, query, found):
    zone = ZoneInfo("Asia/Shanghai")
    a_receipt(acme, at=datetime(2026, 3, 1, 23, 59, 59, tzinfo=zone))
    a_receipt(acme, at=datetime(2026, 3, 2, 0, 0, tzinfo=zone), type="archive")
    a_receipt(acme, at=datetime(2026, 3, 3, 0, 0, tzinfo=zone), agent_name="运维助手")
    if "type" in query:
        query = {"type__exact": query["type"]}
    assert numbers(signed_in(viewer).get(LIST, query)) == found


@pytest.mark.parametrize("value", ["x", "²", "9" * 30, "-1"])
def test_nonsense_in_the_agent_filter_finds_nothing(signed_in, viewer, acme, value):
    a_receipt(acme)
    for url in (LIST, LINES):
        assert not signed_in(viewer).get(url, {"agent__id__exact": value}).context["cl"].result_list


def test_lines_are_filtered_by_agent_and_lead_to_their_receipt(signed_in, viewer, acme):
    first, second = factories.make_agent(acme), factories.make_agent(acme)
    response = signed_in(viewer).get(LINES, {"agent__id__exact": second.pk})
    lines = response.context["cl"].result_list
    assert lines
    assert {line.agent_id for line in lines} == {second.pk}
    assert page_of(lines[0].receipt) in response.content.decode()
    assert first.name in response.content.decode(), "the other agent is offered by the filter"


def test_a_receipt_outlives_its_agent_on_its_page(signed_in, viewer, acme):
    receipt = a_receipt(acme, agent_id=987654, agent_name="long gone")
    client = signed_in(viewer)
    assert "long gone" in client.get(page_of(receipt)).content.decode()
    assert "long gone" in client.get(LIST).content.decode()
    assert "long gone" in client.get(LINES).content.decode()


def test_the_lists_take_a_fixed_number_of_queries(signed_in, viewer, acme, django_assert_num_queries):
    for number in range(20):
        a_receipt(acme, agent_name=f"agent {number}")
    client = signed_in(viewer)
    for url, count in ((LIST, 9), (LINES, 10)):
        with django_assert_num_queries(count):
            assert client.get(url).status_code == 200


def test_a_page_of_500_lines_takes_a_fixed_number_of_queries(
    signed_in, viewer, acme, django_assert_num_queries
):
    lines = [Line(type="setting", target=f"settings/{number}", content="x") for number in range(500)]
    receipt = a_receipt(acme, lines=lines)
    client = signed_in(viewer)
    with django_assert_num_queries(10):
        assert client.get(page_of(receipt)).content.decode().count(">setting</td>") == 500


def test_a_change_of_a_company_is_found_by_its_target(signed_in, chief, acme):
    acme.name = "Acme 2"
    save_company(company=acme, actor=factories.SYSTEM, now=timezone.now())
    assert numbers(signed_in(chief).get(LIST, {"q": "companies/acme/"})) == [1]
