"""/v1/invoices and /v1/credits: what the tenant was billed, and the credit that pays for it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import listed, page_of, parsed_query
from backend.api.files import AnyFile
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.public_ids import decode
from backend.api.views import TenantView
from backend.billing.bodies.invoices import (
    CreditSerializer,
    InvoiceLineSerializer,
    InvoiceQuerySerializer,
    InvoiceSerializer,
)
from backend.billing.documents.file import file_of
from backend.billing.documents.page import as_pdf
from backend.billing.documents.table import as_csv
from backend.billing.models import Invoice
from backend.billing.queries import invoices as queries
from backend.billing.services.credit.credit_grants import credits

TAGS = ["Invoices"]
SCOPE = "usage:read"
_PDF, _BYTES = "application/pdf", "application/octet-stream"


class InvoicesView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(
        operation_id="listInvoices",
        tags=TAGS,
        parameters=[InvoiceQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("InvoicePage", InvoiceSerializer),
    )
    def get(self, request: Request) -> Response:
        """List invoices and credit notes, newest first. The draft of a month is listed when the month has ended."""
        rows = queries.invoices(**parsed_query(InvoiceQuerySerializer, request))
        return page(request, rows, serialize_many=lambda rows: listed(InvoiceSerializer, rows))


class _InvoiceView(TenantView):
    scopes = {"GET": SCOPE}

    def invoice(self, invoice_id: str) -> Invoice:
        """Return the document of a path. Raises the 404 Problem."""
        return self.get_or_404(queries.invoices(), decode("ivc", invoice_id))


class InvoiceView(_InvoiceView):
    @extend_schema(operation_id="getInvoice", tags=TAGS, responses=InvoiceSerializer)
    def get(self, request: Request, invoice_id: str) -> Response:
        """Get one invoice or credit note."""
        return Response(InvoiceSerializer(self.invoice(invoice_id)).data)


class InvoiceLinesView(_InvoiceView):
    @extend_schema(
        operation_id="listInvoiceLines",
        tags=TAGS,
        parameters=PAGE_PARAMETERS,
        responses=page_of("InvoiceLinePage", InvoiceLineSerializer),
    )
    def get(self, request: Request, invoice_id: str) -> Response:
        """List the lines of an invoice or a credit note, in the order in which they are printed."""
        rows = queries.lines_of(self.invoice(invoice_id).id)
        return page(request, rows, serialize_many=lambda rows: listed(InvoiceLineSerializer, rows), order=("ordinal",))


class InvoiceCsvView(_InvoiceView):
    renderer_classes = (JSONRenderer, AnyFile)

    @extend_schema(
        operation_id="getInvoiceCsv",
        tags=TAGS,
        responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "One row for each line, and one for the tax.")},
    )
    def get(self, request: Request, invoice_id: str) -> HttpResponse:
        """Get the lines of an invoice or a credit note as CSV."""
        invoice = self.invoice(invoice_id)
        return file_of(as_csv(invoice, queries.lines_of(invoice.id)), invoice, "csv", "text/csv; charset=utf-8")


class InvoicePdfView(_InvoiceView):
    renderer_classes = (JSONRenderer, AnyFile)

    @extend_schema(
        operation_id="getInvoicePdf",
        tags=TAGS,
        # Some generators drop every reply but JSON, text and bytes.
        responses={
            (200, kind): OpenApiResponse(OpenApiTypes.BINARY, "The printed document.") for kind in (_PDF, _BYTES)
        },
    )
    def get(self, request: Request, invoice_id: str) -> HttpResponse:
        """Get an invoice or a credit note as PDF, in the language and the formats of your country."""
        invoice = self.invoice(invoice_id)
        content = as_pdf(invoice, list(queries.lines_of(invoice.id)), queries.corrected_by(invoice))
        kind = _BYTES if request.headers.get("Accept") == _BYTES else _PDF
        return file_of(content, invoice, "pdf", kind)


class CreditsView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(
        operation_id="listCredits",
        tags=TAGS,
        parameters=PAGE_PARAMETERS,
        responses=page_of("CreditPage", CreditSerializer),
    )
    def get(self, request: Request) -> Response:
        """List the credit that was granted to you, newest first, with what is left of it."""
        return page(request, queries.grants(), serialize_many=lambda rows: listed(CreditSerializer, credits(rows)))


class CreditView(TenantView):
    scopes = {"GET": SCOPE}

    @extend_schema(operation_id="getCredit", tags=TAGS, responses=CreditSerializer)
    def get(self, request: Request, credit_id: str) -> Response:
        """Get one credit, with what is left of it."""
        grant = self.get_or_404(queries.grants(), decode("cre", credit_id))
        return Response(CreditSerializer(credits([grant])[0]).data)


routes: list[Any] = [
    path("invoices", InvoicesView.as_view()),
    path("invoices/<str:invoice_id>", InvoiceView.as_view()),
    path("invoices/<str:invoice_id>/lines", InvoiceLinesView.as_view()),
    path("invoices/<str:invoice_id>/csv", InvoiceCsvView.as_view()),
    path("invoices/<str:invoice_id>/pdf", InvoicePdfView.as_view()),
    path("credits", CreditsView.as_view()),
    path("credits/<str:credit_id>", CreditView.as_view()),
]
