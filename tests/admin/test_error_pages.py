"""Error pages: in the reader's language, with the request id, and nothing about the inside."""

import re

import pytest
from django.test import Client
from django.urls import path

from config import urls


def broken(request):
    secret = "SELECT password FROM accounts_user"
    raise RuntimeError(secret)


urlpatterns = [path("admin/broken/", broken), *urls.urlpatterns]
handler400, handler404, handler500 = urls.handler400, urls.handler404, urls.handler500

INSIDE = re.compile(
    r"Traceback|/work|site-packages|config\.|settings|SELECT|RuntimeError|Exception|DEBUG|django|\.py\b", re.I
)
PAGES = {
    400: ("Invalid request", "请求无效"),
    403: ("Not allowed", "没有权限"),
    404: ("Not found", "找不到"),
    500: ("Unexpected error", "意外错误"),
}


def provoke(client, status):
    if status == 400:
        return client.get("/admin/receipts/receiptline/", {"agent__system_prompt__startswith": "x"})
    if status == 403:
        return client.get("/admin/companies/apikey/")
    return client.get({404: "/admin/no/such/page/", 500: "/admin/broken/"}[status])


@pytest.mark.urls("tests.admin.test_error_pages")
@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("status", [400, 403, 404, 500])
def test_an_error_page_says_what_to_do_and_nothing_about_the_inside(viewer, status, language):
    client = Client(raise_request_exception=False, headers={"accept-language": language})
    client.force_login(viewer)
    response = provoke(client, status)
    page = response.content.decode()
    assert response.status_code == status
    assert PAGES[status][language == "zh-hans"] in page
    assert f'lang="{language}"' in page
    assert response["X-Request-ID"] in page
    assert not INSIDE.search(page), INSIDE.search(page)


@pytest.mark.parametrize(("language", "title"), [("en", "Form expired"), ("zh-hans", "表单已过期")])
def test_a_form_without_a_token_says_so(administrator, language, title):
    client = Client(enforce_csrf_checks=True, headers={"accept-language": language})
    client.force_login(administrator)
    response = client.post("/admin/companies/company/add/", {"slug": "x", "name": "X"})
    page = response.content.decode()
    assert response.status_code == 403
    assert title in page
    assert not INSIDE.search(page)


def test_a_request_for_an_unknown_host_is_refused_plainly():
    response = Client(headers={"host": "evil.example"}, raise_request_exception=False).get("/admin/")
    assert response.status_code == 400
    assert not INSIDE.search(response.content.decode())


def test_the_search_for_the_inside_would_find_it():
    assert INSIDE.search("Traceback (most recent call last): File /work/x.py")
