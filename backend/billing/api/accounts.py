"""/v1/billing-account: whom the tenant's invoices are addressed to, read and changed."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.bodies import parsed
from backend.api.conditional_views import IF_MATCH, ConditionalView
from backend.billing.bodies.accounts import BillingAccountRequestSerializer, BillingAccountSerializer
from backend.billing.models import BillingAccount
from backend.billing.services import accounts

TAGS = ["Invoices"]


class BillingAccountView(ConditionalView):
    scopes = {"GET": "usage:read", "PATCH": "billing:write"}
    audited = {"PATCH": "billing_account.updated"}
    changed_by = BillingAccountRequestSerializer

    @extend_schema(operation_id="getBillingAccount", tags=TAGS, responses=BillingAccountSerializer)
    def get(self, request: Request) -> Response:
        """Get the name, address, tax number and time zone of your invoices, with your currency and tax rate."""
        return _reply(accounts.billing_account())

    @extend_schema(
        operation_id="updateBillingAccount",
        parameters=[IF_MATCH],
        tags=TAGS,
        request=BillingAccountRequestSerializer,
        responses=BillingAccountSerializer,
    )
    def patch(self, request: Request) -> Response:
        """Change fields of the billing account. Invoices that are final keep the buyer as it was."""
        values = parsed(BillingAccountRequestSerializer, request)
        # The values are personal data, and the log is kept for longer than they are.
        self.audit_details = {"fields": sorted(values)}
        return _reply(accounts.update_account(values))


def _reply(account: BillingAccount) -> Response:
    return Response(BillingAccountSerializer((account, accounts.currency_of_prices())).data)


routes: list[Any] = [path("billing-account", BillingAccountView.as_view())]
