"""What browsers may do with replies: cache them, frame them, run what stands in them, read them from other origins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers

from backend.tenancy import origins

GetResponse = Callable[[HttpRequest], HttpResponseBase]

API_POLICY = "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
"""Content policy of replies that are no pages."""
PERMISSIONS = ", ".join(
    f"{name}=()"
    for name in (
        "accelerometer", "browsing-topics", "camera", "display-capture", "geolocation", "gyroscope", "hid",
        "magnetometer",
        "microphone", "midi", "payment", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
    )
)  # fmt: skip
"""Permissions-Policy: our pages use nothing of a device but its passkeys and its screen."""
_ORIGINS_FRESH_SECONDS = 30
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_SENT = "Authorization, X-Api-Key, Content-Type, Idempotency-Key, If-Match, Prefer, Accept, Last-Event-ID, X-Request-Id"
_READ = "ETag, Location, Retry-After, RateLimit, RateLimit-Policy, Preference-Applied, X-Request-Id"
_PREFLIGHT_SECONDS = "600"
_STYLED, _STYLED_BELOW = frozenset({"/", "/errors"}), ("/accounts/", "/share/", "/docs/")
"""Pages whose styles are our sheets alone."""
# The administration's templates hold Alpine expressions, which Alpine compiles in the browser (docs/security.md).
_CONSOLE_SCRIPTS = "script-src 'self' 'unsafe-eval'"


class Headers:
    """Sets the policies of content and permissions on every reply, and `Cache-Control: no-store` where a view says
    nothing."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_static = request.path.startswith(settings.STATIC_URL)
        if not is_static:
            response.headers.setdefault("Cache-Control", "no-store")
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        policy = API_POLICY
        if is_page:
            leaves = request.path.startswith("/accounts/oidc/")
            styled = request.path in _STYLED or request.path.startswith(_STYLED_BELOW)
            policy = page_policy(console=request.path.startswith("/console"), leaves=leaves, styled=styled)
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response


def page_policy(
    *,
    console: bool = False,
    leaves: bool = False,
    styled: bool = False,
    nonce: str = "",
    scripted: bool = False,
    framed_by: Sequence[str] = (),
) -> str:
    """Return the content policy of pages: our own scripts and styles, and media from object storage.

    leaves: whether a form of the page leads to a tenant's identity provider, by a redirect, which browsers count.
    styled: whether our style sheets are all that the page needs, so that no style stands in the page. nonce: of styles
    that our own scripts write all the same. scripted: whether the nonce is also that of scripts in the page. framed_by:
    origins whose pages may show this one in a frame.
    """
    media = _media_origin()
    providers = " https: http:" if settings.OIDC_ALLOW_PRIVATE else " https:"
    return "; ".join(
        [
            "default-src 'self'",
            _CONSOLE_SCRIPTS if console else "script-src 'self'" + (f" 'nonce-{nonce}'" if scripted else ""),
            "style-src 'self'" + (f" 'nonce-{nonce}'" if nonce else "" if styled else " 'unsafe-inline'"),
            f"img-src 'self' data: {media}",
            f"media-src 'self' blob: {media}",
            f"connect-src 'self' {media}",
            "worker-src blob:",
            " ".join(["frame-ancestors", *(framed_by or ["'none'"])]),
            "base-uri 'self'",
            f"form-action 'self'{providers if leaves else ''}",
            "object-src 'none'",
        ]
    )


def _media_origin() -> str:
    if not settings.S3_ENDPOINT_URL:
        return f"https://{settings.S3_BUCKET}.s3.{settings.S3_REGION}.amazonaws.com"
    parts = urlsplit(settings.S3_ENDPOINT_URL)
    return f"{parts.scheme}://{parts.netloc}"


class CrossOrigin:
    """CORS of /v1: pages of the origins that a tenant lists may use the tenant's keys. Cookies are never allowed.

    A preflight carries no key, so it is answered for origins that any tenant lists. The reply to a request is readable
    only for the origins of the key's tenant. A refusal without a tenant is readable for all listed origins.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._listed: dict[str, tuple[bool, float]] = {}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        origin = request.headers.get("Origin", "")
        if not origin or not request.path.startswith("/v1/"):
            return self.get_response(request)
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            return self._preflight(origin)
        response = self.get_response(request)
        patch_vary_headers(response, ["Origin"])
        allowed = getattr(response, "allowed_origins", None)
        if origin in allowed if allowed is not None else self._is_listed(origin):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = _READ
        return response

    def _preflight(self, origin: str) -> HttpResponse:
        response = HttpResponse(status=204)
        # Without a body it is no page.
        del response.headers["Content-Type"]
        patch_vary_headers(response, ["Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"])
        if self._is_listed(origin):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Allow-Methods"] = _METHODS
            response.headers["Access-Control-Allow-Headers"] = _SENT
            response.headers["Access-Control-Max-Age"] = _PREFLIGHT_SECONDS
        return response

    def _is_listed(self, origin: str) -> bool:
        """Whether any tenant lists the origin; known for a while, so that preflights of strangers cost little."""
        listed, until = self._listed.get(origin, (False, 0.0))
        if monotonic() >= until:
            if len(self._listed) >= 1_000:
                self._listed.clear()
            listed = origins.is_listed(origin)
            self._listed[origin] = (listed, monotonic() + _ORIGINS_FRESH_SECONDS)
        return listed
