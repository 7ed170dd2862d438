"""The language of the pages around the app: accounts, invitations and shared links."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

TRANSLATED = ("/accounts/", "/share/")


class PageLanguage:
    """Answers these pages in the language that a person has chosen in the app, else in that of their browser. The API
    keeps to English: its words are for programs and logs."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith(TRANSLATED):
            return self.get_response(request)
        with translation.override(translation.get_language_from_request(request)):
            reply = self.get_response(request)
        patch_vary_headers(reply, ("Accept-Language", "Cookie"))
        return reply
