"""Routes of the console's process."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

import backend.console.admin  # noqa: F401 - the lists enter themselves in the site
from backend.api.monitoring import health
from backend.console.access import signed_in_as
from backend.console.access.opening import open_content
from backend.console.access.second_factor import own_factors, second_factor
from backend.console.operation.operations import operations
from backend.console.operation.requests import requests_page
from backend.console.site import site
from backend.console.video import media

handler403 = "backend.console.access.refusing.forbidden"
handler404 = "backend.console.access.refusing.missing"

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("console/second-factor/", second_factor, name="second_factor"),
    path("console/second-factor/own/", own_factors, name="own_factors"),
    path("console/open/<uuid:tenant_id>/", open_content, name="open_content"),
    path("console/as/leave/", site.admin_view(signed_in_as.leave), name="leave_signed_in_as"),
    path("console/as/<uuid:tenant_id>/", site.admin_view(signed_in_as.page), name="signed_in_as_home"),
    path("console/as/<uuid:tenant_id>/v1/<path:path>", site.admin_view(signed_in_as.page), name="signed_in_as"),
    path("console/operations/", site.admin_view(operations), name="operations"),
    path("console/requests/", site.admin_view(requests_page), name="requests"),
    *media.urlpatterns,
    path("console/", site.urls),
]
