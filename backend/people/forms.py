"""The form with which an invited person makes an account."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import SignupForm
from allauth.core import context
from django import forms
from django.db import IntegrityError, router, transaction
from django.http import HttpRequest
from django.shortcuts import render

from backend.people.account_rules import invitation_of
from backend.people.models import Person


class InvitedSignupForm(SignupForm):  # type: ignore[misc]
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
                return super().try_save(request)
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
