"""Protection rules in the admin: own permission, a receipt for each change, a word about rules without effect."""

import pytest

from agents.models import ProtectedAccess, ProtectedPath
from common.receipts.models import Receipt
from tests import factories
from tests.admin.agent_forms import errors_of, form_of, said, save, send, stored

FORM = "protectedpath_form"
LIST = "/admin/agents/protectedpath/"
ADD = f"{LIST}add/"


def page_of(rule):
    return f"{LIST}{rule.pk}/change/"


@pytest.fixture
def rule(acme):
    return ProtectedPath.objects.create(pattern="memory/secret.md", level="block", company=acme)


@pytest.fixture
def client(signed_in, administrator):
    return signed_in(administrator)


@pytest.fixture
def superuser(signed_in, chief):
    return signed_in(chief)


def test_a_new_rule_is_stored_clean_with_a_receipt(client, acme):
    fields = {"pattern": "${ROOT}/memory//x.md", "section": " 红线 ", "section_aliases": "a\r\n\r\nb"}
    assert save(client, ADD, FORM, **fields, level="owner_only", company=acme.pk).status_code == 302
    rule = ProtectedPath.objects.get(company=acme)
    assert (rule.pattern, rule.section, rule.section_aliases, rule.enabled) == (
        "memory/x.md",
        "红线",
        ["a", "b"],
        True,
    )
    receipt = Receipt.objects.get(company=acme, type="protection_change")
    assert (receipt.trigger, receipt.actor_name) == ("protection_rule_created", "administrator")
    assert receipt.lines.get().target == f"protected_paths/{rule.pk}/memory/x.md"


def test_each_change_is_a_receipt_and_no_change_is_none(client, rule):
    save(client, page_of(rule), FORM)
    assert not Receipt.objects.exists()
    save(client, page_of(rule), FORM, level="confirm", enabled=None)
    rule.refresh_from_db()
    assert (rule.level, rule.enabled) == ("confirm", False)
    receipt = Receipt.objects.get()
    assert receipt.trigger == "protection_rule_changed"
    assert "-level: block" in receipt.texts.get().text


def test_a_deleted_rule_leaves_a_receipt_of_what_it_said(client, rule):
    url = page_of(rule).replace("change", "delete")
    before = stored()
    assert client.get(url).status_code == 200
    assert stored() == before
    client.post(url, {"confirmed": "yes"})
    assert not ProtectedPath.objects.filter(pk=rule.pk).exists()
    receipt = Receipt.objects.get(type="protection_change")
    assert "pattern: memory/secret.md" in receipt.texts.get().text


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"pattern": "/etc/x"}, "pattern"),
        ({"pattern": "a\u2215b"}, "pattern"),
        ({"pattern": "x" * 256}, "pattern"),
        ({"pattern": ""}, "pattern"),
        ({"pattern": "%2e%2e/x"}, "pattern"),
        ({"section": "—"}, "section"),
        ({"section": "s" * 101}, "section"),
        ({"section_aliases": "\r\n".join(map(str, range(21)))}, "section_aliases"),
        ({"level": "never"}, "level"),
        ({"description": "d" * 501}, "description"),
    ],
)
def test_a_bad_rule_is_refused_beside_its_field(client, acme, rule, fields, field):
    before = stored()
    values = {"pattern": "a.md", "level": "block", "company": acme.pk, **fields}
    response = save(client, ADD, FORM, **values)
    assert field in response.context["adminform"].form.errors
    assert stored() == before


def test_a_second_rule_of_one_place_is_refused(client, acme, rule):
    response = save(client, ADD, FORM, pattern="Memory/SECRET.md", level="confirm", company=acme.pk)
    assert "There is a rule for this pattern" in said(response) + errors_of_page(response)
    assert ProtectedPath.objects.filter(company=acme).count() == 1


def errors_of_page(response):
    return "" if response.status_code != 200 else errors_of(response)


def test_a_stale_save_of_a_rule_is_refused(client, superuser, rule):
    opened = form_of(client.get(page_of(rule)), FORM)
    save(superuser, page_of(rule), FORM, description="theirs")
    before = stored()
    response = send(client, page_of(rule), opened | {"description": "mine"})
    assert "chief changed this in the meantime" in errors_of(response)
    assert stored() == before


def test_rules_for_all_companies_change_only_through_the_shared_one(
    client, superuser, administrator, global_company
):
    rule = ProtectedPath.objects.get(pattern="persona.md")
    assert client.get(page_of(rule)).status_code == 200
    before = stored()
    assert client.post(page_of(rule), {"level": "confirm"}).status_code == 403
    assert client.post(page_of(rule).replace("change", "delete"), {"confirmed": "yes"}).status_code == 403
    response = save(client, ADD, FORM, pattern="a.md", level="block", company="")
    assert "company" in response.context["adminform"].form.errors
    assert stored() == before
    assert save(superuser, page_of(rule), FORM, enabled=None).status_code == 302
    assert Receipt.objects.get(type="protection_change").company == global_company
    global_company.members.add(administrator)
    assert save(client, page_of(rule), FORM, enabled="on").status_code == 302


def test_a_rule_without_effect_is_marked(superuser, acme):
    factories.make_agent(acme, documents=[("persona.md", "# L0\nx\n"), ("principles.md", "## 偏好\n")])
    listed = superuser.get(LIST).context["cl"].result_list
    idle = {(rule.pattern, rule.section) for rule in listed if rule.is_idle}
    assert ("persona.md", "L0") not in idle
    assert ("system_prompt", "") not in idle
    assert ("principles.md", "绝不做") in idle
    assert ("tools/**/permissions.yaml", "") in idle
    rule = ProtectedPath.objects.get(pattern="principles.md")
    assert "This rule protects nothing yet" in superuser.get(page_of(rule)).content.decode()


def test_a_rule_with_stars_or_aliases_finds_its_document(superuser, acme):
    factories.make_agent(
        acme, documents=[("tools/a/b/credentials.yaml", "x"), ("principles.md", "# Never\nx\n")]
    )
    idle = {rule.pattern for rule in superuser.get(LIST).context["cl"].result_list if rule.is_idle}
    assert not idle & {"tools/**/credentials.yaml", "principles.md"}


def test_where_there_are_more_documents_than_are_read_nothing_is_claimed(superuser, acme, monkeypatch):
    monkeypatch.setattr("agents.selectors.PROBED_DOCUMENTS", 1)
    factories.make_agent(acme, documents=[("principles.md", "x")])
    factories.make_agent(acme, documents=[("principles.md", "## 绝不做\n")])
    idle = {rule.pattern for rule in superuser.get(LIST).context["cl"].result_list if rule.is_idle}
    assert "principles.md" not in idle


def test_the_list_warns_when_no_rule_is_enabled(superuser):
    assert "No protection rule is enabled" not in superuser.get(LIST).content.decode()
    ProtectedPath.objects.update(enabled=False)
    assert "No protection rule is enabled" in superuser.get(LIST).content.decode()


def test_the_list_asks_the_database_as_often_for_many_rules_as_for_one(superuser, acme, count_queries):
    factories.make_agent(acme, documents=[("memory/1.md", "x")])
    asked = []
    for number in (1, 10, 30):
        for index in range(number):
            ProtectedPath.objects.create(pattern=f"memory/{number}-{index}.md", level="block", company=acme)
        asked.append(count_queries(lambda: superuser.get(LIST)))
    assert asked[0] == asked[1] == asked[2] <= 12


def test_the_history_of_a_rule_is_its_receipts(client, rule):
    response = client.get(page_of(rule).replace("change", "history"))
    assert response["Location"].endswith(f"/admin/receipts/receipt/?q=protected_paths%2F{rule.pk}%2F")


def test_a_check_is_told_in_words(signed_in, viewer, acme, writer):
    agent = factories.make_agent(acme, documents=[("persona.md", "# L0\nx\n")])
    writer.put(f"agents/{agent.pk}/documents", {"path": "persona.md", "text": "gone"})
    access = ProtectedAccess.objects.get()
    page = signed_in(viewer, "zh-hans").get(f"/admin/agents/protectedaccess/{access.pk}/change/")
    text = page.content.decode()
    assert "禁止：仅限员工手工修改" in text
    assert not [word for word in ("block", "blocked") if f">{word}<" in text]
    assert "persona.md: 已阻断" in text


def test_the_log_of_checks_cannot_be_changed_by_anyone(superuser, acme, writer):
    agent = factories.make_agent(acme, documents=[("persona.md", "# L0\nx\n")])
    writer.put(f"agents/{agent.pk}/documents", {"path": "persona.md", "text": "gone"})
    access = superuser.get("/admin/agents/protectedaccess/").context["cl"].result_list[0]
    page = f"/admin/agents/protectedaccess/{access.pk}/change/"
    assert superuser.get(page).status_code == 200
    assert superuser.post(page, {"verdict": "allowed"}).status_code == 403
    assert superuser.post(page.replace("change", "delete"), {"post": "yes"}).status_code == 403
