"""What acts of the console ask for. An act on a tenant has a page of its own, whose form asks for the reason too."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from unfold.widgets import UnfoldAdminTextareaWidget

from backend.api.form_fields import LineField
from backend.audit.services import SHORTEST_REASON
from backend.tenancy.models import Tenant
from gpu_workers.engine.answering.catalogue import CATALOGUE
from gpu_workers.engine.answering.contract import EFFORTS

LONGEST_HOLD_HOURS = 24


class ActForm(forms.Form):
    """The form of an act on a tenant. Every act has a reason, which the tenant's audit log shows."""

    reason = LineField(
        min_length=SHORTEST_REASON,
        max_length=500,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="The tenant's audit log shows the reason.",
    )

    def __init__(self, tenant: Tenant | None, data: Mapping[str, Any] | None) -> None:
        self.tenant = tenant
        super().__init__(data)
        # The reason comes last.
        self.order_fields([*[name for name in self.fields if name != "reason"], "reason"])


class AskAgainForm(forms.Form):
    """The method and the effort of a question that is asked once more."""

    method = forms.ChoiceField(choices=[(name, name) for name in CATALOGUE])
    effort = forms.ChoiceField(choices=[(effort, effort) for effort in EFFORTS])


class ReplaySinceForm(forms.Form):
    """The time from which an endpoint gets its events again, in UTC."""

    since = forms.DateTimeField(widget=forms.DateTimeInput({"type": "datetime-local"}), label="Since (UTC)")
    include_succeeded = forms.BooleanField(required=False, label="Also those that were delivered")

    def clean_since(self) -> datetime:
        since: datetime = self.cleaned_data["since"]
        if since > timezone.now():
            raise forms.ValidationError("The time lies in the future.")
        return since


class DeadlineForm(forms.Form):
    """When work ends that has no outcome by then, in UTC."""

    at = forms.DateTimeField(widget=forms.DateTimeInput({"type": "datetime-local"}), label="At (UTC)")

    def clean_at(self) -> datetime:
        at: datetime = self.cleaned_data["at"]
        if at <= timezone.now():
            raise forms.ValidationError("The time has passed.")
        return at


class HoldForm(forms.Form):
    """How long jobs that need a dependency are held."""

    hours = forms.IntegerField(min_value=1, max_value=LONGEST_HOLD_HOURS, initial=1, label="Hours")


class VoidForm(forms.Form):
    """Whether the period of a voided invoice is invoiced again by itself."""

    reissue = forms.BooleanField(required=False, label="Make a new invoice of the same period")


class CreditNoteForm(forms.Form):
    """The amount by which an invoice is corrected."""

    net = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=20,
        decimal_places=4,
        widget=forms.NumberInput({"step": "any"}),
        label="Amount before tax, in the currency of the invoice; empty for all that is left",
    )


class QuantityForm(forms.Form):
    """The quantity that a row of the ledger should have had."""

    quantity = forms.DecimalField(
        min_value=0,
        max_value=10**9,
        max_digits=24,
        decimal_places=6,
        widget=forms.NumberInput({"step": "any"}),
        label="Right quantity, in the unit of the meter",
    )


class SegmentForm(forms.Form):
    """The segment that is indexed again."""

    n = forms.IntegerField(min_value=0, label="Segment")
