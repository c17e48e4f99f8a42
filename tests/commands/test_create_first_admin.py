"""`create_first_admin`: one administrator from the environment, never a second, never a weak one."""

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError
from django.test import Client

from common.receipts.models import Receipt
from tests.commands.calls import run
from tests.factories import make_person

pytestmark = pytest.mark.django_db
PASSWORD = "云岭-field-9431"


@pytest.fixture
def named(settings):
    def name(username="chief", password=PASSWORD, email=""):
        settings.FIELDBOOK_ADMIN_USERNAME = username
        settings.FIELDBOOK_ADMIN_PASSWORD = password
        settings.FIELDBOOK_ADMIN_EMAIL = email

    return name


def superusers():
    return list(get_user_model().objects.filter(is_superuser=True).values_list("username", flat=True))


@pytest.mark.parametrize("username", ["chief", "管理员"])
def test_the_administrator_can_sign_in_to_the_admin(named, username):
    named(username, email="chief@example.test")
    assert run("create_first_admin") == f"Made the administrator {username}."
    client = Client(headers={"accept-language": "en"})
    assert client.login(username=username, password=PASSWORD)
    assert client.get("/admin/").status_code == 200
    assert Receipt.objects.get().actor_name == "command:create_first_admin"


def test_a_second_run_changes_nothing_not_even_the_password(named):
    named()
    run("create_first_admin")
    named("other", "another-long-password-7")
    assert "nothing was changed" in run("create_first_admin")
    assert superusers() == ["chief"]
    assert get_user_model().objects.get().check_password(PASSWORD)


def test_once_there_is_one_the_variables_may_be_taken_out(named, chief):
    named("", "")
    assert "nothing was changed" in run("create_first_admin")


@pytest.mark.parametrize(
    ("username", "password", "email", "word"),
    [
        ("", PASSWORD, "", "USERNAME"),
        ("  ", PASSWORD, "", "USERNAME"),
        ("a b", PASSWORD, "", "USERNAME"),
        ("x" * 151, PASSWORD, "", "USERNAME"),
        ("chief", "", "", "PASSWORD"),
        ("chief", "short", "", "PASSWORD"),
        ("chief", "password", "", "PASSWORD"),
        ("chief", "48151623421234", "", "PASSWORD"),
        ("chief-of-staff", "chief-of-staff", "", "PASSWORD"),
        ("chief", PASSWORD, "no e-mail", "EMAIL"),
    ],
)
def test_what_is_empty_or_weak_is_refused_by_name(named, username, password, email, word):
    named(username, password, email)
    with pytest.raises(CommandError, match=f"FIELDBOOK_ADMIN_{word}: "):
        run("create_first_admin")
    assert superusers() == []


def test_a_name_that_an_ordinary_person_has_is_refused(named):
    make_person("viewer", role="Viewer")
    named("viewer")
    with pytest.raises(CommandError, match="FIELDBOOK_ADMIN_USERNAME"):
        run("create_first_admin")
    assert superusers() == []
