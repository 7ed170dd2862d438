"""The page of the second factor: a new person of the staff sets one up, everybody else enters a code."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import REDIRECT_FIELD_NAME, logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from backend.console.site import site
from backend.staff import factors, sign_in
from backend.staff.models import SecondFactor
from backend.tenancy.secrets import open_sealed, seal

NEW_SECRET = "staff_new_secret"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """Ask for the code of the authenticator app, after the password."""
    person: Any = request.user
    if not person.is_authenticated or getattr(request, "staff", None) is None:
        return redirect_to_login(request.get_full_path(), reverse("admin:login"))
    following = _following(request)
    if sign_in.has_second_factor(request):
        return HttpResponseRedirect(following)
    enrolled = SecondFactor.objects.filter(person_id=person.pk).exists()
    secret = "" if enrolled else _new_secret(request)
    error = ""
    if request.method == "POST":
        if not sign_in.attempt(request, person.email):
            logout(request)
            return redirect_to_login(following, reverse("admin:login"))
        code = request.POST.get("code", "")
        if factors.verify(person.pk, code) if enrolled else factors.enrol(person.pk, secret, code):
            request.session.pop(NEW_SECRET, None)
            if not enrolled:
                sign_in.note(request, sign_in.FACTOR_ENROLLED, person.email)
            sign_in.complete(request)
            return HttpResponseRedirect(following)
        error = "This code is not right, or it was used before. Wait for the next code of your app."
    context = {
        **site.each_context(request),
        "title": "Second factor" if enrolled else "Set up your second factor",
        "secret": secret,
        "uri": factors.uri(secret, person.email) if secret else "",
        "error": error,
        "next": following,
    }
    return TemplateResponse(request, "console/second_factor.html", context, status=400 if error else 200)


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
