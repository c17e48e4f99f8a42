"""A house with something in every room."""

from __future__ import annotations

import pytest
from django.contrib import admin

from agents.models import ProtectedPath
from common.companies.models import Company
from tests.house.furniture import House, furnish


@pytest.fixture
def furnished_house(acme: Company) -> House:
    """acme with a row for every page."""
    return furnish(acme)


@pytest.fixture
def rooms_without_rows(furnished_house: House) -> list[str]:
    """Models with an admin page of which the house has no row: teach `furnish` about them."""
    return [
        model._meta.label
        for model in admin.site._registry
        if furnished_house.row(model) is None and model is not ProtectedPath
    ]
