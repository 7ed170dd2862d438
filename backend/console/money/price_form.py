"""The forms that make a price book and append a price."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.core.validators import MinLengthValidator
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from backend.api.form_fields import LineField
from backend.audit.services import SHORTEST_REASON
from backend.billing.charges import STAGE_SETS, media_variant, question_variant
from backend.billing.currencies import CURRENCIES
from backend.billing.models import Price, PriceBook, UsageMeter
from backend.billing.rates import variants_of
from backend.billing.services.prices import NewPrice, PriceRefused, check_price
from backend.console.queries.role import CONSOLE, STAFF
from backend.library.models import Profile
from backend.questions.bodies.questions import METHODS
from backend.tenancy.models import Tenant
from backend.tenancy.shown_text import require_one_line
from gpu_workers.engine.answering.contract import EFFORTS

_QUESTIONS = {question_variant(method, effort) for method in METHODS for effort in EFFORTS}
_MEDIA = {media_variant(profile, stages) for profile in Profile.values for stages in STAGE_SETS}
VARIANTS: dict[str, frozenset[str]] = {
    meter: frozenset(near for variant in variants for near in variants_of(variant))
    for meter, variants in (
        (UsageMeter.QUESTIONS, _QUESTIONS), (UsageMeter.MEDIA_SECONDS, _MEDIA), (UsageMeter.LIVE_SECONDS, _MEDIA),
    )
}  # fmt: skip
"""Variants that a price may have, by meter; other meters have none."""


class BookForm(forms.Form):
    """A price book for every tenant, or for one."""

    code = forms.SlugField(
        max_length=64, widget=UnfoldAdminTextInputWidget(), help_text="Small letters, digits, dashes and underscores."
    )
    currency = forms.ChoiceField(
        choices=[(code, code) for code in CURRENCIES],
        widget=UnfoldAdminSelectWidget(choices=[(code, code) for code in CURRENCIES]),
    )
    tenant = forms.SlugField(
        max_length=63,
        required=False,
        widget=UnfoldAdminTextInputWidget(),
        help_text="The slug of the tenant that alone has the book. Empty for a book that plans can name.",
    )
    note = LineField(
        min_length=SHORTEST_REASON, max_length=200, widget=UnfoldAdminTextInputWidget(), help_text="Why it is made."
    )

    def clean_tenant(self) -> Tenant | None:
        """Return the tenant with the slug, None for a book of every tenant."""
        slug = self.cleaned_data["tenant"]
        tenant: Tenant | None = Tenant.objects.using(CONSOLE).filter(slug=slug).first() if slug else None
        if slug and tenant is None:
            raise forms.ValidationError(f"There is no tenant {slug}.")
        return tenant


class PriceForm(forms.ModelForm):  # type: ignore[type-arg]
    """Checks a new price as append_price() does, so that a refusal is shown in the form."""

    class Meta:
        model = Price
        fields: ClassVar[tuple[str, ...]] = (
            "book", "meter", "model", "variant", "unit_amount", "effective_from", "note",
        )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        books: Any = self.fields["book"]
        books.queryset = PriceBook.objects.using(STAFF).order_by("code")
        note: Any = self.fields["note"]
        note.required, note.min_length = True, SHORTEST_REASON
        note.validators.append(MinLengthValidator(SHORTEST_REASON))
        note.help_text = "Why it is appended."

    def clean_note(self) -> str:
        note: str = self.cleaned_data["note"]
        require_one_line(note)
        return note

    def clean_variant(self) -> str:
        """Return the variant. A variant that no work can have would be a price that nobody ever pays."""
        variant: str = self.cleaned_data["variant"]
        known = VARIANTS.get(self.cleaned_data.get("meter", ""), frozenset({""}))
        if variant not in known:
            examples = ", ".join(sorted(known - {""})) or "none: leave it empty"
            raise forms.ValidationError(f"No usage of this meter has the variant {variant}. Known are {examples}.")
        return variant

    def clean(self) -> dict[str, Any]:
        """Return the fields. A price that append_price() would refuse is an error of the form."""
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                check_price(new_price(Price(**cleaned), author="form"), using=STAFF)
            except PriceRefused as refused:
                raise forms.ValidationError(str(refused)) from refused
        return cleaned


def new_price(row: Price, *, author: str) -> NewPrice:
    """Return an entered row as the price that append_price() takes."""
    return NewPrice(
        book_id=row.book_id,
        meter=row.meter,
        unit_amount=row.unit_amount,
        effective_from=row.effective_from,
        author=author,
        model=row.model,
        variant=row.variant,
        note=row.note,
    )
