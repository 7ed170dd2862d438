"""The form with which an invited person makes an account."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import SignupForm
from allauth.core import context
from django import forms

from backend.people.account_rules import invitation_of


class InvitedSignupForm(SignupForm):  # type: ignore[misc]
    """Asks for a password; the address is that of the session's invitation and cannot be changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        invitation = invitation_of(context.request)
        if invitation is not None:
            self.initial["email"] = invitation.email
            self.fields["email"].widget.attrs["readonly"] = True

    def clean_email(self) -> str:
        address: str = super().clean_email()
        invitation = invitation_of(context.request)
        if invitation is None or address != invitation.email:
            raise forms.ValidationError("The invitation is for another address.")
        return address
