"""The page on which staff state why they open the content of a tenant, and for how long."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from backend.console.access.gate import member_of
from backend.console.access.viewing import origin_of
from backend.console.queries.role import CONSOLE
from backend.console.site import site
from backend.staff import services
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused

HOURS = ("1", "4", "8")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def open_content(request: HttpRequest, tenant_id: UUID) -> HttpResponse:
    """Ask for a reason and a time. The tenant's own audit log shows both."""
    member = member_of(request)
    if member is None:
        return redirect_to_login(request.get_full_path(), reverse("admin:login"))
    tenant = Tenant.objects.using(CONSOLE).filter(id=tenant_id).first()
    if tenant is None:
        raise Http404
    following = request.POST.get(REDIRECT_FIELD_NAME) or request.GET.get(REDIRECT_FIELD_NAME) or ""
    if not url_has_allowed_host_and_scheme(following, {request.get_host()}, require_https=request.is_secure()):
        following = reverse("admin:index")
    error, reason = "", request.POST.get("reason", "")
    if request.method == "POST":
        hours = request.POST.get("hours", "")
        span = timedelta(hours=int(hours) if hours in HOURS else 0)
        try:
            services.open_content(
                member=member, tenant_id=tenant.id, reason=reason, span=span, origin=origin_of(request, member)
            )
        except Refused as refused:
            error = refused.detail
        else:
            return HttpResponseRedirect(following)
    context = {
        **site.each_context(request),
        "title": f"Open content of {tenant.name}",
        "tenant": tenant,
        "allowed": member.role in services.CONTENT_ROLES,
        "hours": HOURS,
        "reason": reason,
        "error": error,
        "next": following,
    }
    status = 403 if not context["allowed"] else 400 if error else 200
    return TemplateResponse(request, "console/open_content.html", context, status=status)
