"""The sweep that sends usage and invoices to the configured billing system, and compares both sides once a day."""

from __future__ import annotations

import logging
from uuid import UUID

from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.exports.sinks import ExportFailed, Sink
from backend.billing.exports.transfer import (
    configured_sink,
    export_credit_notes,
    export_invoices,
    export_usage,
    reconcile,
)
from backend.billing.services.closing import tenants_to_bill
from backend.billing.services.findings import EXPORT_DIFFERENCES, store_findings
from backend.tenancy.refusals import Refused
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")

COMPARE_AT = 3
"""Hour (UTC) whose sweep compares the last days."""


def handle(work: Work) -> FollowUp | None:
    sink = configured_sink()
    compares, found = timezone.now().hour == COMPARE_AT, list[str]()
    if sink is not None:
        for tenant_id in tenants_to_bill():
            if work.should_stop():
                work.finish()
                return None
            found += _export(tenant_id, sink, compares=compares)
    if compares:
        store_findings(EXPORT_DIFFERENCES, found)
    work.finish()
    return None


def _export(tenant_id: UUID, sink: Sink, *, compares: bool) -> list[str]:
    """Export one tenant. What fails waits for the next sweep and holds up no other tenant.

    Returns the differences in words, none unless the sweep compares both sides.
    """
    try:
        export_usage(tenant_id, sink)
        export_invoices(tenant_id, sink)
        export_credit_notes(tenant_id, sink)
        differences = reconcile(tenant_id, sink) if compares else []
    except (ExportFailed, Refused) as error:
        logger.warning("export of %s to %s failed: %s", encode("tnt", tenant_id), sink.name, error)
        return []
    tenant = encode("tnt", tenant_id)
    words = [
        f"{sink.name} has {one.theirs} of {one.meter} for {tenant} on {one.day:%Y-%m-%d}, and the ledger has {one.ours}"
        for one in differences
    ]
    for text in words:
        logger.error("%s", text)
    return words
