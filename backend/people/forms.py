"""The forms of accounts: sign-up by invitation, a new API key, and second factors, which record refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.account.forms import SignupForm
from allauth.account.internal.flows.login import record_authentication
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.db import IntegrityError, router, transaction
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from backend.accounts.bodies import ApiKeyRequestSerializer
from backend.api.form_fields import LineField
from backend.api.problems import field_errors
from backend.people import account_log
from backend.people.account_rules import invitation_of
from backend.people.models import Person
from backend.people.services import departures


class InvitedSignupForm(SignupForm):
    """Asks for a password; the address is that of the session's invitation and cannot be changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        invitation = invitation_of(context.request)
        if invitation is not None:
            self.initial["email"] = invitation.email
            self.fields["email"].widget.attrs["readonly"] = True

    def try_save(self, request: HttpRequest) -> Any:
        try:
            with transaction.atomic(using=router.db_for_write(Person)):
                made, reply = super().try_save(request)
                if made is not None:
                    departures.expect(made.id)
                    # The new password has just been typed, as at a sign-in.
                    record_authentication(request, made, method="password")
                    invitation = invitation_of(request)
                    if invitation is not None and not invitation.mailed:
                        Person.objects.filter(id=made.id).update(vouched_by=invitation.tenant_id)
                return made, reply
        except IntegrityError:
            # The address is that of staff, whom this process cannot see.
            self.add_error("email", "This address cannot be used here.")
            return None, render(request, "account/signup.html", {"form": self, "redirect_field_name": "next"})

    def clean_email(self) -> str:
        address: str = super().clean_email()
        invitation = invitation_of(context.request)
        if invitation is None or address != invitation.email:
            raise forms.ValidationError("The invitation is for another address.")
        return address


class KeyForm(forms.Form):
    """Asks for the name of a new API key, and for what it may do."""

    KINDS = (
        ("work", _("Upload videos and ask questions")),
        ("read", _("Read videos and answers")),
        ("all", _("Everything that my role may do")),
        ("test", _("Test for free: scripted answers, apart from everything live")),
    )

    name = forms.CharField(label=_("Name, by what will use it"), max_length=100)
    kind = forms.ChoiceField(label=_("It may"), choices=KINDS, initial="work")

    def clean_name(self) -> str:
        """Apply the rules of the API to the name."""
        field = ApiKeyRequestSerializer().fields["name"]
        try:
            return str(field.run_validation(self.cleaned_data["name"]))
        except serializers.ValidationError as refused:
            raise forms.ValidationError([error.detail for error in field_errors(refused.detail)]) from None


class _RecordsCodes(AuthenticateForm):
    def clean_code(self) -> str:
        # A wrong code is recorded by its signal. allauth locks a recovery code outside of the transaction it opens.
        with (
            account_log.lock_outs(context.request, self.user, factor="mfa"),
            transaction.atomic(using=router.db_for_write(Person)),
        ):
            code: str = super().clean_code()
            return code


class CodeForm(_RecordsCodes):
    """Asks for a code of the second factor at a sign-in."""


class CodeAgainForm(_RecordsCodes, ReauthenticateForm):
    """Asks for a code of the second factor before a dangerous act."""


class _RecordsPasskeys(AuthenticateWebAuthnForm):
    def clean_credential(self) -> Authenticator:
        with account_log.lock_outs(context.request, self.user, factor="webauthn", refusals=True), _parsing():
            return super().clean_credential()


@contextmanager
def _parsing() -> Iterator[None]:
    """Refuse a reply of a browser with missing or odd fields, which the parser of allauth does not expect."""
    try:
        yield
    except (KeyError, AttributeError, TypeError, ValueError):
        raise get_adapter().validation_error("incorrect_code") from None


class PasskeyAloneForm(_RecordsPasskeys, LoginWebAuthnForm):
    """Asks for a passkey in place of a password. Whom the reply names is not known before it is judged."""


class NewPasskeyForm(AddWebAuthnForm):
    """Adds a passkey to an account."""

    name = LineField(required=False, max_length=100)

    def clean(self) -> dict[str, Any]:
        with _parsing():
            cleaned: dict[str, Any] = super().clean()
            return cleaned


class RenamedPasskeyForm(EditWebAuthnForm):
    """Asks for the new name of a passkey."""

    name = LineField(max_length=100)


class PasskeyForm(_RecordsPasskeys):
    """Asks for a passkey as the second factor at a sign-in."""


class PasskeyAgainForm(_RecordsPasskeys, ReauthenticateWebAuthnForm):
    """Asks for a passkey before a dangerous act."""
