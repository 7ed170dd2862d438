"""Names that people type stand in one line, wherever they are typed: in the API, in the pages, on the console."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from django import forms
from django.core.exceptions import ValidationError

import backend.console
import backend.people
from backend.api.form_fields import LineField
from backend.tenancy.creation import create_tenant
from backend.tenancy.refusals import Refused
from backend.tenancy.shown_text import in_one_line, require_one_line

NOT_NAMES = frozenset(
    {
        # Compared with what is there, and never kept.
        "CouponForm.code", "EraseForm.slug", "RequestsForm.request", "RequestsForm.tenant", "RequestsForm.caller",
        "RequestsForm.route", "_RecordsCodes.code", "CodeForm.code", "CodeAgainForm.code", "InvitedSignupForm.username",
        # Checked by rules of their own: codes, prices, and lines of several entries.
        "NewCouponForm.code", "HoursForm.rows", "PlanVersionForm.allowances", "PlanVersionForm.tiers",
        "PlanVersionForm.limits", "PriceForm.model", "PriceForm.variant", "PriceForm.note",
        # The rules of the API hold.
        "KeyForm.name",
    }
)  # fmt: skip


def every_form() -> Iterator[type[forms.BaseForm]]:
    for package in (backend.console, backend.people):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            found = importlib.import_module(module.name) if ".migrations" not in module.name else None
            for each in vars(found).values() if found else ():
                if isinstance(each, type) and issubclass(each, forms.BaseForm) and each.__module__ == module.name:
                    yield each


def test_every_field_of_a_form_for_text_takes_one_line() -> None:
    free = {
        f"{form.__name__}.{name}"
        for form in every_form()
        for name, field in getattr(form, "base_fields", {}).items()
        if type(field) is forms.CharField and not name.startswith("password")
    }
    assert free == NOT_NAMES


@pytest.mark.parametrize("text", ["photo\u202egpj", "a\x07b", "a\u2066b", "\x1b[31mred"])
def test_a_name_that_hides_or_turns_text_is_refused(text: str, database: None) -> None:
    with pytest.raises(ValidationError, match="control characters") as refused:
        LineField().clean(text)
    assert refused.value.error_list[0].code == "invalid_characters"
    with pytest.raises(ValidationError):
        require_one_line(text)
    with pytest.raises(Refused) as unmade:
        create_tenant(name=text, slug="hidden")
    assert (unmade.value.code, unmade.value.pointer) == ("invalid_characters", "/name")


def test_a_line_break_of_a_pasted_name_becomes_a_space() -> None:
    assert LineField().clean(" Łódź\r\n\u2028 山田 ") == "Łódź 山田"
    assert in_one_line("Anna\n\u202eB\x00ond ") == "Anna Bond"
