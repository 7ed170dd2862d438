"""The common base of the console's pages: rows through the read-only role, and nothing to edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from unfold.admin import ModelAdmin

from backend.console.queries.role import CONSOLE
from backend.tenancy.models import Tenant


class TenantFilter(admin.SimpleListFilter):
    title = "tenant"
    parameter_name = "tenant"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        tenants = Tenant.objects.using(CONSOLE).order_by("name")[:200]
        return [(str(tenant.id), tenant.name) for tenant in tenants]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        try:
            return queryset.filter(tenant_id=UUID(self.value())) if self.value() else queryset
        except ValueError:
            return queryset.none()


class ReadOnlyPage(ModelAdmin):
    """A list and a detail page over the console alias. Nothing can be added, changed or deleted."""

    list_per_page = 50
    show_full_result_count = False
    ordering: ClassVar[tuple[str, ...]] = ("-id",)
    actions = None
    list_fullwidth = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        model: Any = self.model
        manager = getattr(model, "unscoped", model._default_manager)
        rows: QuerySet[Any] = manager.using(CONSOLE).order_by(*self.ordering)
        return rows

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Sequence[Any]:
        # The default would build a form, which reads the choices of foreign keys as a tenant.
        return list(self.fields or [field.name for field in self.opts.concrete_fields])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def one(self, object_id: str) -> Any:
        """Return the row of a detail page. Raises Http404."""
        model: Any = self.model
        try:
            row = getattr(model, "unscoped", model._default_manager).using(CONSOLE).filter(pk=object_id).first()
        except (ValidationError, ValueError):
            row = None
        if row is None:
            raise Http404
        return row

    def page_context(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "title": title, "opts": self.opts}
