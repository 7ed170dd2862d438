"""The pages of second factors: one asks for a factor after the password, one adds and removes a person's factors."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME, logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from backend.console.access.gate import member_of
from backend.console.site import site
from backend.people.models import Person
from backend.staff import factors, passkeys, recovery_codes, sign_in
from backend.staff.models import Passkey, SecondFactor
from backend.tenancy.secrets import open_sealed, seal

NEW_SECRET, CREATION, REQUEST = "staff_new_secret", "staff_passkey_creation", "staff_passkey_request"
"""Keys of the session: a proposed secret, and the challenges of a new passkey and of a sign-in."""
WRONG_CODE = "This code is not right, or it was used before. Wait for the next code of your app."
WRONG_ENROLMENT = (
    "The operator's code or the proof of the new factor was not accepted. An operator's code works once, for 24 hours."
)
WRONG_RECOVERY = "This recovery code is not right, or it was used before."
WRONG_PASSKEY = "This passkey was not accepted. Try again, or use another factor."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """Ask for a code or a passkey, after the password. Whoever has no factor yet sets up the first one."""
    person: Any = request.user
    if not person.is_authenticated or getattr(request, "staff", None) is None:
        return redirect_to_login(request.get_full_path(), reverse("admin:login"))
    following = _following(request)
    if sign_in.has_second_factor(request) and sign_in.is_fresh(request):
        return HttpResponseRedirect(following)
    error = ""
    if request.method == "POST":
        if not sign_in.attempt(request, person.email):
            logout(request)
            return redirect_to_login(following, reverse("admin:login"))
        is_new = not factors.number(person.pk)
        operators_code = request.POST.get("enrolment", "")
        kind = _enrolled(request, person, operators_code) if is_new else _verified(request, person)
        if kind:
            sign_in.complete(request, kind)
            return _new_recovery_codes(request, person, following) if is_new else HttpResponseRedirect(following)
        error = WRONG_ENROLMENT if is_new else _what_was_wrong(request)
    is_new = not factors.number(person.pk)
    context = {
        **site.each_context(request),
        # Nobody who has not passed a factor may open a page, and the navigation would only say so.
        "is_nav_sidebar_enabled": False,
        "title": "Set up your second factor" if is_new else "Second factor",
        **(_proposals(request, person) if is_new else _questions(request, person)),
        "is_new": is_new,
        "error": error,
        "next": following,
    }
    return TemplateResponse(request, "console/second_factor.html", context, status=400 if error else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def own_factors(request: HttpRequest) -> HttpResponse:
    """List the viewer's factors, add one, or remove one. The session must have passed a factor minutes ago."""
    person: Any = request.user
    if member_of(request) is None:
        return redirect_to_login(request.get_full_path(), reverse("admin:login"))
    if not sign_in.is_fresh(request):
        query = urlencode({REDIRECT_FIELD_NAME: reverse("own_factors")})
        return HttpResponseRedirect(f"{reverse('second_factor')}?{query}")
    if "codes" in request.POST:
        return _new_recovery_codes(request, person, reverse("own_factors"))
    error = _changed(request, person) if request.method == "POST" else ""
    if request.method == "POST" and not error:
        return HttpResponseRedirect(reverse("own_factors"))
    context = {
        **site.each_context(request),
        "title": "Your second factors",
        "apps": SecondFactor.objects.filter(person_id=person.pk),
        "passkeys": Passkey.objects.filter(person_id=person.pk).order_by("created_at"),
        "is_last": factors.number(person.pk) < 2,
        "codes_left": recovery_codes.number_left(person.pk),
        **_proposals(request, person),
        "error": error,
        "next": "",
    }
    return TemplateResponse(request, "console/own_factors.html", context, status=400 if error else 200)


def _changed(request: HttpRequest, person: Person) -> str:
    """Add or remove a factor, and return what is wrong, "" if nothing is."""
    if "remove" not in request.POST:
        # The secret of an app and the challenge of a passkey are new, so there is nothing to guess and to count.
        kind = _enrolled(request, person, None)
        if not kind:
            return _what_was_wrong(request)
        messages.success(request, "The factor was added.")
        return ""
    try:
        kind = factors.remove(person.pk, UUID(request.POST["remove"])) or ""
    except ValueError:
        kind = ""
    if not kind:
        return "This factor cannot be removed: it is the last one, or it is gone already."
    sign_in.note(request, sign_in.FACTOR_REMOVED, person.email, factor=kind)
    messages.success(request, "The factor was removed.")
    return ""


def _verified(request: HttpRequest, person: Person) -> str:
    """Return the kind of the factor that the request proves, "" if it proves none. A challenge is used once."""
    state = request.session.pop(REQUEST, None)
    if reply := request.POST.get("passkey", ""):
        return "passkey" if passkeys.verify(person, reply, state) else ""
    if code := request.POST.get("recovery", ""):
        return "recovery code" if recovery_codes.verify(person.pk, code) else ""
    return "app" if factors.verify(person.pk, request.POST.get("code", "")) else ""


def _what_was_wrong(request: HttpRequest) -> str:
    if request.POST.get("passkey"):
        return WRONG_PASSKEY
    return WRONG_RECOVERY if request.POST.get("recovery") else WRONG_CODE


def _new_recovery_codes(request: HttpRequest, person: Person, following: str) -> HttpResponse:
    """Make new recovery codes and show them, once."""
    codes = recovery_codes.replace(person.pk)
    sign_in.note(request, sign_in.RECOVERY_CODES_MADE, person.email, codes=len(codes))
    context = {
        **site.each_context(request),
        "is_nav_sidebar_enabled": False,
        "title": "Your recovery codes",
        "codes": codes,
        "next": following,
    }
    return TemplateResponse(request, "console/recovery_codes.html", context)


def _enrolled(request: HttpRequest, person: Person, operators_code: str | None) -> str:
    """Add the factor that the request proves, and return its kind; "" if it proves none.

    operators_code: as in factors.may_enrol().
    """
    state = request.session.pop(CREATION, None)
    if reply := request.POST.get("passkey", ""):
        name = request.POST.get("name", "")
        made = passkeys.enrol(person, name, reply, state, operators_code=operators_code)
        kind = "passkey" if made else ""
    else:
        code = request.POST.get("code", "")
        made_app = factors.enrol(person.pk, _new_secret(request), code, operators_code=operators_code)
        kind = "app" if made_app else ""
    if kind:
        request.session.pop(NEW_SECRET, None)
        sign_in.note(request, sign_in.FACTOR_ENROLLED, person.email, factor=kind)
    return kind


def _proposals(request: HttpRequest, person: Person) -> dict[str, Any]:
    """Return what a page needs that adds factors: a secret for an app, and the options of a passkey."""
    secret = _new_secret(request)
    proposed = passkeys.creation(person)
    if proposed:
        request.session[CREATION] = proposed[1]
    return {
        "secret": secret,
        "uri": factors.uri(secret, person.email),
        "qr": factors.qr_code(factors.uri(secret, person.email)),
        "creation": json.dumps(proposed[0]) if proposed else "",
    }


def _questions(request: HttpRequest, person: Person) -> dict[str, Any]:
    """Return what the page needs that asks for a factor."""
    asked = passkeys.request(person)
    if asked:
        request.session[REQUEST] = asked[1]
    return {
        "has_app": SecondFactor.objects.filter(person_id=person.pk).exists(),
        "codes_left": recovery_codes.number_left(person.pk),
        "request_options": json.dumps(asked[0]) if asked else "",
    }


def _new_secret(request: HttpRequest) -> str:
    """Return the secret that this session proposes. It lies sealed in the session until a code proves it."""
    sealed = request.session.get(NEW_SECRET)
    if sealed is None:
        secret = factors.new_secret()
        request.session[NEW_SECRET] = seal(secret.encode()).decode()
        return secret
    return open_sealed(sealed.encode()).decode()


def _following(request: HttpRequest) -> str:
    wanted = request.POST.get(REDIRECT_FIELD_NAME) or request.GET.get(REDIRECT_FIELD_NAME) or ""
    allowed = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if allowed else reverse("admin:index")
