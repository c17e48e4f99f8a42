"""Every page of the admin: opens for whom it should, in both languages, and changes nothing when opened."""

import re
from html.parser import HTMLParser

import pytest
from django.contrib import admin
from django.db import transaction
from django.test import Client
from django.utils import translation

from common.admin import FieldbookAdmin
from tests.house.admin_addresses import admin_addresses
from tests.house.admin_matrix import ACTIONS, EVERYBODY, PAGES
from tests.house.digests import digest_of_everything
from tests.house.messages import HAN, translations

PERSONS = {
    "v": "viewer",
    "e": "operator",
    "p": "approver",
    "a": "administrator",
    "s": "stranger",
    "c": "chief",
}
REFUSED = {403, 404, 405}
#: Answers that are no page of text.
FILES = re.compile(r"_export|jsi18n|autocomplete|:search")


def ask(client, method, url):
    """The status of a request whose effects are undone at once."""
    cookies = client.cookies.copy()
    with transaction.atomic():
        response = getattr(client, method)(url)
        transaction.set_rollback(True)
    client.cookies = cookies
    return response


def mismatches(client, letter, house):
    """{(method, name): status} where a person gets through or not, against the table."""
    found = {}
    for address in admin_addresses():
        for method, allowed in zip(("get", "post"), PAGES.get(address.name, ("", "")), strict=True):
            status = ask(client, method, address.url(house)).status_code
            if (status not in REFUSED) != (letter in allowed) or status >= 500:
                found[method, address.name] = status
    return found


def test_every_address_of_the_admin_is_in_the_table():
    names = [address.name for address in admin_addresses()]
    assert sorted(set(names) - set(PAGES)) == [], "say in tests/house/admin_matrix.py who may open it"
    assert sorted(set(PAGES) - set(names)) == [], "the table names what is gone"


def test_every_model_with_a_page_has_a_row_in_the_house(rooms_without_rows):
    assert rooms_without_rows == []


@pytest.mark.parametrize("letter", EVERYBODY)
def test_each_person_gets_as_far_as_the_table_says(signed_in, request, furnished_house, letter):
    client = signed_in(request.getfixturevalue(PERSONS[letter]))
    assert mismatches(client, letter, furnished_house) == {}


def test_without_the_scope_of_companies_the_table_would_not_hold(
    signed_in, stranger, furnished_house, monkeypatch
):
    everything = lambda self, request: self.model._default_manager.all()  # noqa: E731
    monkeypatch.setattr(FieldbookAdmin, "get_queryset", everything)
    found = mismatches(signed_in(stranger), "s", furnished_house)
    assert ("get", "admin:receipts_receipt_change") in found


@pytest.mark.parametrize("letter", EVERYBODY)
def test_each_person_is_offered_the_actions_of_the_table(request, rf, letter):
    asked = rf.get("/admin/")
    asked.user, asked.session = request.getfixturevalue(PERSONS[letter]), {}
    offered = {
        (model._meta.label, name)
        for model, model_admin in admin.site._registry.items()
        for name in model_admin.get_actions(asked)
    }
    assert offered == {action for action, allowed in ACTIONS.items() if letter in allowed}


def test_nobody_gets_in_without_signing_in(furnished_house):
    client = Client()
    for address in admin_addresses():
        response = client.get(address.url(furnished_house))
        if address.name in ("admin:login", "admin:logout"):
            continue
        assert response.status_code in (302, 405), address.name
        if response.status_code == 302:
            assert response.url.startswith("/admin/login/"), address.name


def test_an_account_that_is_no_staff_gets_in_nowhere(furnished_house, operator):
    operator.is_staff = False
    operator.save()
    client = Client()
    client.force_login(operator)
    for address in admin_addresses():
        if address.name not in ("admin:login", "admin:logout"):
            assert client.get(address.url(furnished_house)).status_code in (302, 405), address.name


def test_opening_every_page_changes_no_row(signed_in, chief, furnished_house):
    client = signed_in(chief)
    before = digest_of_everything()
    for address in admin_addresses():
        client.get(address.url(furnished_house))
    after = digest_of_everything()
    assert [table for table in before if before[table] != after[table]] == []


def test_the_digest_sees_a_change(furnished_house):
    before = digest_of_everything()
    furnished_house.agent.description = "x"
    furnished_house.agent.save()
    assert digest_of_everything() != before


def test_every_form_needs_its_token(chief, furnished_house):
    client = Client(enforce_csrf_checks=True)
    client.force_login(chief)
    before = digest_of_everything()
    for address in admin_addresses():
        response = client.post(address.url(furnished_house), {"confirmed": "yes", "post": "yes"})
        assert response.status_code == 403, address.name
    assert digest_of_everything() == before


@pytest.mark.parametrize(
    "url",
    [
        "/admin/r/1/1/",
        "/admin/r/x/y/",
        "/admin/no/such/page/",
        "/admin/agents/agent/999999/change/",
        "/admin/agents/agent/x/change/",
        "/admin/agents/agent/%00/change/",
        "/admin/agents/agent/99999999999999999999999/change/",
        "/admin/receipts/receipt/99999999999999999999999/export-yaml/",
        "/admin/accounts/user/99999999999999999999999/password/",
    ],
)
def test_what_is_not_there_is_404(signed_in, chief, url):
    assert signed_in(chief).get(url).status_code == 404


ODD_QUERIES = [
    {"q": "\0"},
    {"company": "\0"},
    {"\0": "x"},
    {"q": "😀%' OR 1=1 -- \\"},
    {"q": "x" * 5000},
    {"p": "x"},
    {"p": "0"},
    {"p": "99999999999999999999"},
    {"o": "99.-99.x"},
    {"all": ""},
    {"e": "1"},
    {"nosuch": "1"},
    {"nosuch__exact": "1"},
    {"id__in": "x"},
    {"id__exact": "9" * 30},
    {"pk": "\u00b2"},
    {"_facets": "True"},
    {"_popup": "1", "_to_field": "password"},
    {"company": "nowhere", "agent": "x", "status": "x", "type": "x", "tag": "x", "state": "x", "role": "x"},
]


@pytest.mark.parametrize("model", sorted(admin.site._registry, key=lambda model: model._meta.label))
def test_odd_addresses_of_lists_are_answered(model, chief, furnished_house):
    client = Client(raise_request_exception=False)
    client.force_login(chief)
    url = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    answers = {str(query)[:60]: client.get(url, query).status_code for query in ODD_QUERIES}
    assert {query: status for query, status in answers.items() if status >= 500} == {}


@pytest.mark.parametrize("letter", EVERYBODY)
def test_the_page_of_a_room_lists_what_one_may_see(signed_in, request, letter):
    client = signed_in(request.getfixturevalue(PERSONS[letter]))
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
        response = client.get(f"/admin/{model._meta.app_label}/")
        shown = f"/{model._meta.app_label}/{model._meta.model_name}/" in response.content.decode()
        assert shown == (letter in PAGES[name][0]), name


class _Texts(HTMLParser):
    """What a person reads on a page: texts, and labels that are attributes."""

    LABELS = ("aria-label", "placeholder", "title", "alt")
    SILENT = ("script", "style", "textarea", "code", "pre")

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag, attrs):
        if tag in self.SILENT:
            self._silent += 1
        self.texts += [value for name, value in attrs if name in self.LABELS and value]

    def handle_endtag(self, tag):
        if tag in self.SILENT:
            self._silent -= 1

    def handle_data(self, data):
        if not self._silent:
            self.texts.append(data)


def texts_of(response):
    parser = _Texts()
    parser.feed(response.content.decode())
    return [" ".join(text.split()) for text in parser.texts if text.strip()]


#: Names of icons, and what is the same in every language.
ICON = re.compile(r"[a-z]+(_[a-z0-9]+)*|SHA-256|Fieldbook|English|简体中文")


def english_left(texts):
    """Texts of a Chinese page that are English messages with a Chinese translation."""
    ours = {ids[0].casefold(): text for ids, text in translations().items()}
    left = set()
    with translation.override("zh-hans"):
        for text in texts:
            chinese = ours.get(text.casefold()) or translation.gettext(text)
            if HAN.search(chinese) and not HAN.search(text) and not ICON.fullmatch(text):
                left.add(text)
    return left


@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_every_page_opens_in_both_languages(signed_in, chief, furnished_house, language):
    client = signed_in(chief, language)
    english = {}
    for address in admin_addresses():
        if "c" not in PAGES.get(address.name, ("c", ""))[0]:
            continue
        response = client.get(address.url(furnished_house))
        assert response.status_code in (200, 302), address.name
        if response.status_code == 302 or FILES.search(address.name):
            continue
        assert f'<html lang="{language}"' in response.content.decode(), address.name
        if language == "zh-hans" and (left := english_left(texts_of(response))):
            english[address.name] = left
    assert english == {}


def test_the_search_for_english_finds_it():
    texts = ["Role definition", "角色定义", "smart_toy", "some data", "Log out"]
    assert english_left(texts) == {"Role definition", "Log out"}
