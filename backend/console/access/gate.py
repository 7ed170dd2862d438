"""Lets nobody past the sign-in of the console without a role, a second factor and a session that is young enough."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth import REDIRECT_FIELD_NAME, logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from backend.staff import sign_in
from backend.staff.models import Member

PREFIX = "/console/"


class StaffGate:
    """Sets request.staff, and sends everybody else to the sign-in or to the second factor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        refused = self._refusal(request) if request.path.startswith(PREFIX) else None
        if refused is not None:
            return refused
        response = self.get_response(request)
        if request.path.startswith(PREFIX):
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    def _refusal(self, request: HttpRequest) -> HttpResponseBase | None:
        request.staff = None  # type: ignore[attr-defined]
        if not request.user.is_authenticated:
            return None  # each page asks for a sign-in itself
        member = Member.objects.select_related("person").filter(person_id=request.user.pk).first()
        if sign_in.BEGAN not in request.session:
            sign_in.begin(request)
        if member is None or sign_in.is_too_old(request):
            logout(request)
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        open_pages = (reverse("second_factor"), reverse("admin:logout"), reverse("admin:login"))
        if not sign_in.has_second_factor(request) and request.path not in open_pages:
            query = urlencode({REDIRECT_FIELD_NAME: request.get_full_path()})
            return HttpResponseRedirect(f"{reverse('second_factor')}?{query}")
        request.staff = member  # type: ignore[attr-defined]
        return None


def member_of(request: HttpRequest) -> Member | None:
    """Return the staff that a request comes from, with the second factor verified; None for anybody else."""
    member = getattr(request, "staff", None)
    return member if isinstance(member, Member) and sign_in.has_second_factor(request) else None
