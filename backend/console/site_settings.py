"""Settings of the console's process: its own routes, cookies, host name and sign-in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

IDLE_SECONDS = 30 * 60
"""Time without a request after which a session ends: backend.staff.sign_in.IDLE."""
_AFTER = "django.contrib.messages.middleware.MessageMiddleware"


def console_settings(url: str, middleware: Sequence[str]) -> dict[str, Any]:
    """Return what differs from the API. url: the console's own. middleware: the API's."""
    secure = url.startswith("https://")
    # Browsers keep a cookie with this prefix for one host, whatever other hosts of the domain send.
    prefix = "__Host-" if secure else ""
    host = urlsplit(url).hostname or ""
    # The rules of customers' sessions are not those of staff.
    shared = [name for name in middleware if not name.startswith("backend.people.")]
    at = shared.index(_AFTER) + 1
    return {
        "PROCESS": "console",
        "CONSOLE_URL": url,
        "ROOT_URLCONF": "backend.console.urls",
        "ALLOWED_HOSTS": sorted({host, "127.0.0.1", "localhost", "[::1]", "testserver"}),
        "CSRF_TRUSTED_ORIGINS": [url],
        "MIDDLEWARE": [*shared[:at], "backend.console.access.gate.StaffGate", *shared[at:]],
        "LOGIN_URL": "admin:login",
        "LOGIN_REDIRECT_URL": "admin:index",
        "LOGOUT_REDIRECT_URL": "admin:login",
        "AUTHENTICATION_BACKENDS": ["backend.staff.sign_in.StaffBackend"],
        "SESSION_COOKIE_NAME": f"{prefix}ava_console",
        "CSRF_COOKIE_NAME": f"{prefix}ava_console_csrf",
        "SESSION_COOKIE_SECURE": secure,
        "CSRF_COOKIE_SECURE": secure,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Strict",
        "SESSION_COOKIE_AGE": IDLE_SECONDS,
        # Each request moves the end of the session, in the database too.
        "SESSION_SAVE_EVERY_REQUEST": True,
        "SESSION_EXPIRE_AT_BROWSER_CLOSE": True,
        "SESSION_ENGINE": "backend.staff.models",
    }
