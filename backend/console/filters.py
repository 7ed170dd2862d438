"""Filters of the console's lists. None of them reads the listed table to find its choices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar
from uuid import UUID

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from unfold.contrib.filters.admin import DropdownFilter, TextFilter
from unfold.contrib.filters.forms import AutocompleteDropdownForm

from backend.console.queries.role import CONSOLE
from backend.console.words import in_words
from backend.tenancy.models import Tenant, TenantRow


class TenantFilter(SimpleListFilter):
    """One tenant, which is looked up by name, slug or id while it is typed."""

    title = "tenant"
    parameter_name = "tenant"
    template = "unfold/filters/filters_field.html"

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: type[Any], model_admin: Any) -> None:
        self.request, self.model, self.model_admin = request, model, model_admin
        super().__init__(request, params, model, model_admin)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return []

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        form = AutocompleteDropdownForm(
            request=self.request,
            name=self.parameter_name,
            label="By tenant",
            choices=(),
            field=self.model._meta.get_field("tenant"),
            model_admin=self.model_admin,
            data={self.parameter_name: self.value()},
        )
        # The choice that is shown is read as the console's role, because tenants have row-level security.
        form.fields[self.parameter_name].queryset = Tenant.objects.using(CONSOLE)
        yield {"form": form}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        try:
            return queryset.filter(tenant_id=UUID(self.value())) if self.value() else queryset
        except ValueError:
            return queryset.none()


class FixedFilter(DropdownFilter):
    """One value out of a fixed list. column: the field that is filtered. values: what may be chosen."""

    column: ClassVar[str]
    values: ClassVar[tuple[str, ...]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, in_words(value)) for value in self.values]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(**{self.column: value}) if value else queryset


def fixed(column: str, values: Any) -> type[FixedFilter]:
    """Return a filter of one column by fixed values; its parameter has the name of the column."""
    return type(
        f"{column.title()}Filter",
        (FixedFilter,),
        {
            "column": column,
            "values": tuple(str(value) for value in values),
            "title": in_words(column),
            "parameter_name": column,
        },
    )


class TypedFilter(TextFilter):
    """One value of a column, typed whole. column: the field that is filtered."""

    column: ClassVar[str]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(**{self.column: value}) if value else queryset


def typed(column: str, *, parameter: str = "") -> type[TypedFilter]:
    """Return a filter of one column by a value that is typed. parameter: its name, by default that of the column."""
    names = {"column": column, "title": in_words(column), "parameter_name": parameter or column}
    return type(f"Typed{column.title()}Filter", (TypedFilter,), names)


class FailedPartFilter(TextFilter):
    """Rows with a part that failed with a code, as "code" or "code since 2026-11-25T10:00+00:00". part: the model of
    the parts. reference: its column with the id of the row. failed_at: its column with the time."""

    part: ClassVar[type[Any]]
    reference: ClassVar[str]
    failed_at: ClassVar[str]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        code, _, since = str(self.value() or "").partition(" since ")
        if not code:
            return queryset
        parts = self.part.unscoped.using(CONSOLE).filter(error_code=code)
        if since:
            at = parse_datetime(since)
            if at is None or at.tzinfo is None:
                return queryset.none()
            parts = parts.filter(**{f"{self.failed_at}__gte": at})
        return queryset.filter(id__in=parts.values(self.reference))


def failed_part(part: type[TenantRow], *, reference: str, failed_at: str, parameter: str) -> type[FailedPartFilter]:
    """Return a filter of rows by the code of a part that failed; see FailedPartFilter."""
    names = {
        "part": part, "reference": reference, "failed_at": failed_at, "parameter_name": parameter,
        "title": in_words(parameter),
    }  # fmt: skip
    return type(f"{part.__name__}FailedFilter", (FailedPartFilter,), names)
