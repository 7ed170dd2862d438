"""Reports the limit that made the API refuse a request, after the request's transaction is rolled back."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase

from backend.tenancy.authentication import Principal
from backend.tenancy.context import tenant_scope
from backend.tenancy.refusals import Refused, TenantMoving
from backend.webhooks.thresholds import report_refusal

logger = logging.getLogger(__name__)


class ReportsRefusedWork:
    """Emits `budget.exceeded` in a transaction of its own. Reads response.refused and response.caller."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        refused, caller = getattr(response, "refused", None), getattr(response, "caller", None)
        if isinstance(refused, Refused) and isinstance(caller, Principal):
            try:
                with tenant_scope(caller.tenant_id):
                    report_refusal(refused)
            except (DatabaseError, TenantMoving):
                # The caller gets the refusal; the next refusal reports the limit.
                logger.exception("the limit that refused a request is not reported")
        return response
