"""The form that appends a version of a plan. Allowances, tiers and limits are typed one a line."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, TypeVar

from django import forms
from django.utils import timezone
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from backend.api.form_fields import LineField
from backend.audit.services import SHORTEST_REASON
from backend.billing.models import PlanLimit, PlanVersion, TierMode, UsageMeter
from backend.billing.rates import plain
from backend.billing.rating import Allowance, Tier
from backend.billing.services.plans import NewPlanVersion

ANY = "any"
"""Written for the variant "", which stands for every variant."""
_METERS, _LIMITS = frozenset(UsageMeter.values), frozenset(PlanLimit.Name.values)


Line = TypeVar("Line")


def _lines(text: str, read: Callable[[list[str]], Line]) -> list[Line]:
    """Return what read() makes of the words of each line. Raises ValidationError with the number of a wrong line."""
    found = []
    for n, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found.append(read(line.split()))
            except (ValueError, IndexError, InvalidOperation) as error:
                raise forms.ValidationError(f"Line {n} cannot be read: {line.strip()}") from error
    return found


def _meter(word: str) -> str:
    if word not in _METERS:
        raise ValueError(word)
    return word


def _variant(word: str) -> str:
    return "" if word == ANY else word


def _amount(word: str) -> Decimal:
    amount = Decimal(word)
    if not amount.is_finite() or amount < 0:
        raise ValueError(word)
    return amount


def _allowance(words: list[str]) -> Allowance:
    meter, variant, quantity = words
    return Allowance(meter=_meter(meter), variant=_variant(variant), quantity=_amount(quantity))


def _mode(word: str) -> Literal["graduated", "volume"]:
    return "volume" if TierMode(word) == TierMode.VOLUME else "graduated"


def _tier(words: list[str]) -> Tier:
    meter, variant, mode, start, unit = words
    return Tier(
        meter=_meter(meter), variant=_variant(variant), mode=_mode(mode), from_quantity=_amount(start),
        unit_amount=_amount(unit),
    )  # fmt: skip


def _limit(words: list[str]) -> tuple[str, Decimal]:
    name, amount = words
    if name not in _LIMITS:
        raise ValueError(name)
    return name, _amount(amount)


def _area(help_text: str) -> forms.CharField:
    return forms.CharField(
        required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}), help_text=help_text, strip=True
    )


class PlanVersionForm(forms.Form):
    """The terms of a version."""

    code = forms.SlugField(max_length=32, widget=UnfoldAdminTextInputWidget(), help_text="A new code makes a new plan.")
    name = LineField(max_length=100, required=False, widget=UnfoldAdminTextInputWidget())
    price_book = forms.SlugField(max_length=64, widget=UnfoldAdminTextInputWidget(), help_text="The code of the book.")
    effective_from = forms.DateTimeField(widget=UnfoldAdminTextInputWidget(), help_text="UTC; not in the past.")
    minimum_amount = forms.DecimalField(min_value=0, initial=0, widget=UnfoldAdminDecimalFieldWidget())
    trial_days = forms.IntegerField(min_value=0, initial=0, widget=UnfoldAdminIntegerFieldWidget())
    allowances = _area("One a line: meter, variant or any, quantity. Example: media_seconds any 36000")
    tiers = _area("One a line: meter, variant or any, graduated or volume, from, amount. "
                  "Example: questions any graduated 1000 0.01")  # fmt: skip
    limits = _area("One a line: name, amount. Example: questions 10000")
    note = LineField(
        min_length=SHORTEST_REASON, max_length=200, widget=UnfoldAdminTextInputWidget(), help_text="Why it is appended."
    )

    def clean_allowances(self) -> list[Allowance]:
        return _lines(self.cleaned_data["allowances"], _allowance)

    def clean_tiers(self) -> list[Tier]:
        return _lines(self.cleaned_data["tiers"], _tier)

    def clean_limits(self) -> list[tuple[str, Decimal]]:
        return _lines(self.cleaned_data["limits"], _limit)

    def new_version(self, *, author: str) -> NewPlanVersion:
        """Return the version that append_plan_version() takes."""
        return NewPlanVersion(**self.cleaned_data, author=author)

    @staticmethod
    def filled(version: PlanVersion) -> dict[str, Any]:
        """Return the terms of a version as initial values, with its allowances, tiers and limits fetched."""

        def text(rows: list[tuple[Any, ...]]) -> str:
            return "\n".join(" ".join(str(word) for word in row) for row in rows)

        return {
            "code": version.plan.code,
            "name": version.plan.name,
            "price_book": version.price_book.code,
            "effective_from": timezone.now(),
            "minimum_amount": version.minimum_amount,
            "trial_days": version.trial_days,
            "allowances": text([(a.meter, a.variant or ANY, plain(a.quantity)) for a in version.allowances.all()]),
            "tiers": text(
                [
                    (t.meter, t.variant or ANY, t.mode, plain(t.from_quantity), plain(t.unit_amount))
                    for t in version.tiers.all()
                ]
            ),
            "limits": text([(limit.name, plain(limit.amount)) for limit in version.limits.all()]),
        }
