"""The common base of the console's pages: rows through the read-only role, and nothing to edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Page, Paginator
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from unfold.admin import ModelAdmin, checkbox
from unfold.paginator import InfinitePaginator
from unfold.views import ChangeList

from backend.api.public_ids import PREFIXES, parse
from backend.console.access.viewing import OPERATORS, public_id_of, record_view, role_of, sees_content
from backend.console.filters import TenantFilter
from backend.console.queries.role import CONSOLE, joined
from backend.console.words import in_words
from backend.staff.models import Role
from backend.tenancy.models import TenantRow

_NAMED = re.compile(r"[a-z]{3}_[1-9A-HJ-NP-Za-km-z]{16,22}")


def uuid_in(text: str) -> UUID | None:
    """Return the id that a text is, written as a public id or as a UUID; None for any other text."""
    text = text.strip()
    if _NAMED.fullmatch(text):
        return parse(text[:3], text) if text[:3] in PREFIXES else None
    try:
        return UUID(text)
    except ValueError:
        return None


def worded(column: str, label: str = "") -> Callable[[Any, Any], str]:
    """Return a column of a page that shows names of the program in words. label: of the column, without it its name."""

    @admin.display(description=label or in_words(column), ordering=column)
    def shown(page: Any, row: Any) -> str:
        return in_words(getattr(row, column)) or "–"

    return shown


@cache
def _box() -> str:
    """Return the HTML of the box that selects a row, with "{}" for the row's key: its templates are rendered once."""
    return str(checkbox.render(ACTION_CHECKBOX_NAME, "{}"))


def paged(request: HttpRequest, rows: Any, parameter: str, size: int) -> Page[Any]:
    """Return the part of a long list within a page that a query parameter asks for, the first by default.

    rows: a list or a query set in a fixed order. size: rows of a part.
    """
    return Paginator(rows, size).get_page(request.GET.get(parameter))


class SortedList(ChangeList):
    """A list that an address can sort by the columns that its page offers, and by no other."""

    def get_ordering_field(self, field_name: Any) -> Any:
        """Return what a column sorts by. A column that is not offered has None, by which Django sorts nothing."""
        if self.sortable_by is not None and field_name not in self.sortable_by:
            return None
        return super().get_ordering_field(field_name)


class ReadOnlyPage(ModelAdmin):
    """A list and a detail page over the console alias. Nothing can be added, changed or deleted.

    roles: who sees the page. content: whether the detail page shows what customers recorded, asked or configured; then
    it opens for a stated reason only. content_columns: columns of the list that show the same; other columns take their
    place unless the viewer has opened the content of the one tenant that is listed. id_columns: columns that an id in
    the search field, public or a UUID, is looked for in; each has an index. small: whether words are searched over all
    tenants; otherwise one tenant has to be chosen, because words have no index. sorts: columns that the list is sorted
    by on demand, each with an index over all tenants; None for all columns, in a list that stays short however many
    tenants there are. sections: the fields of Django's own view of a row, by the title of their group; a section named
    "Details" is closed at first. labels: plain words of fields whose names are not.
    """

    roles: ClassVar[frozenset[Role]] = OPERATORS
    content: ClassVar[bool] = False
    content_columns: ClassVar[frozenset[str]] = frozenset()
    content_searches: ClassVar[frozenset[str]] = frozenset()

    id_columns: ClassVar[tuple[str, ...]] = ("pk",)
    small: ClassVar[bool] = False
    sorts: ClassVar[tuple[str, ...] | None] = ()
    sections: ClassVar[Mapping[str, Sequence[str]]] = {}
    labels: ClassVar[Mapping[str, str]] = {}

    # Nothing is saved, so no bar of buttons lies over the page.
    change_form_template = "console/row.html"
    list_per_page = 50
    # A page ahead is looked for and never counted.
    paginator = InfinitePaginator
    show_full_result_count = False
    list_filter_submit = True
    ordering: ClassVar[tuple[str, ...]] = ("-id",)
    actions = None
    list_fullwidth = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        model: Any = self.model
        manager = getattr(model, "unscoped", model._default_manager)
        rows: QuerySet[Any] = manager.using(CONSOLE).order_by(*self.ordering)
        relations = [name for name in self.list_select_related or () if self._is_of_tenant(name)]
        return joined(rows, *relations).select_related(*self.list_select_related or ()) if relations else rows

    def _is_of_tenant(self, relation: str) -> bool:
        """Whether a relation of the listed rows leads to a row of their tenant."""
        model = self.opts.get_field(relation).related_model
        return isinstance(model, type) and issubclass(model, TenantRow)

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Sequence[Any]:
        # The default would build a form, which reads the choices of foreign keys as a tenant.
        return list(self.fields or [field.name for field in self.opts.concrete_fields])

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        if obj is None or not self.sections:
            return super().get_fieldsets(request, obj)
        return [
            (title, {"fields": list(fields), "classes": ["collapse"] if title == "Details" else []})
            for title, fields in self.sections.items()
        ]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **{"labels": dict(self.labels), **kwargs})

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return role_of(request) in self.roles

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def get_list_display(self, request: HttpRequest) -> Sequence[Any]:
        """Return the columns that the viewer may see. The first one leads to the row."""
        columns: Sequence[Any] = super().get_list_display(request)
        if not self.content_columns or sees_content(request):
            return columns
        shown = [name for name in columns if name not in self.content_columns]
        return shown if shown and shown[0] == "shown_id" else ["shown_id", *shown]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[SortedList]:
        return SortedList

    def get_sortable_by(self, request: HttpRequest) -> Sequence[Any]:
        return super().get_sortable_by(request) if self.sorts is None else self.sorts

    def action_checkbox(self, obj: Model) -> SafeString:
        return mark_safe(_box().replace("{}", escape(str(obj.pk))))  # noqa: S308 - the key is escaped

    action_checkbox.short_description = ModelAdmin.action_checkbox.short_description  # type: ignore[attr-defined]

    @admin.display(description="id", ordering="id")
    def shown_id(self, row: Model) -> str:
        return public_id_of(row)

    def get_search_fields(self, request: HttpRequest) -> Sequence[str]:
        """Return the fields that the viewer may search: a search of hidden text would reveal it word by word."""
        fields: Sequence[str] = super().get_search_fields(request)
        if sees_content(request):
            return fields
        return [name for name in fields if name not in self.content_searches]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the rows of a search, and that none is there twice. An id is found by its index, words in a tenant."""
        term = search_term.strip()
        found = uuid_in(term)
        if not term:
            return queryset, False
        if found is not None:
            named = Q()
            for column in self.id_columns:
                named |= Q(**{column: found})
            return queryset.filter(named), False
        if not self.small and not request.GET.get(TenantFilter.parameter_name):
            if self.get_search_fields(request):
                messages.info(request, "Choose a tenant to search for words. Ids are found over all tenants.")
            return queryset.none(), False
        words = [name for name in self.get_search_fields(request) if not name.endswith("id__exact")]
        matching = Q()
        for name in words:
            matching |= Q(**{name if "__exact" in name else f"{name}__icontains": term})
        return (queryset.filter(matching) if words else queryset.none()), False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        row = super().get_object(request, object_id, from_field)
        if row is not None and self.has_view_permission(request, row):
            record_view(request, row, content=self.content)
        return row

    def opened(self, request: HttpRequest, object_id: str) -> Any:
        """Return the row of a detail page, and record who opens it. Raises Http404, ContentClosed."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.one(object_id)
        record_view(request, row, content=self.content)
        return row

    def one(self, object_id: str) -> Any:
        """Return a row. Raises Http404."""
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
