"""All routes of the API's process: the public API under /v1, pages, health. The console has a process of its own."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from backend.accounts.api import routes as account_routes
from backend.api import error_pages, front_page, problems, reference_pages
from backend.api.contract import document
from backend.api.monitoring import health
from backend.api.tenant_stream import routes as stream_routes
from backend.audit.api import routes as audit_routes
from backend.billing.api import routes as billing_routes
from backend.clips.api import routes as clip_routes
from backend.ekg.api import routes as ekg_routes
from backend.erasure.api import routes as erasure_routes
from backend.library.api import routes as library_routes
from backend.library.indexing.api import routes as job_routes
from backend.people.api import routes as people_routes
from backend.people.app_page import urlpatterns as app_pages
from backend.people.pages import urlpatterns as account_pages
from backend.playback.api import routes as playback_routes
from backend.questions.api import routes as question_routes
from backend.shares.api import routes as share_routes
from backend.shares.pages import urlpatterns as share_pages
from backend.webhooks.api import routes as webhook_routes

handler400 = problems.handler400
handler404 = problems.handler404
handler500 = problems.handler500

v1: list[URLPattern | URLResolver] = [
    *stream_routes,
    *library_routes,
    *ekg_routes,
    *playback_routes,
    *job_routes,
    *account_routes,
    *people_routes,
    *erasure_routes,
    *audit_routes,
    *question_routes,
    *clip_routes,
    *share_routes,
    *webhook_routes,
    *billing_routes,
    path("openapi.json", document.openapi_json),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/", include(v1)),
    *front_page.urlpatterns,
    *error_pages.urlpatterns,
    *reference_pages.urlpatterns,
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("accounts/", include(account_pages)),
    path("share/", include(share_pages)),
    *app_pages,
]
