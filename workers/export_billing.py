"""The sweep that sends usage and invoices to the configured billing system, and compares both sides once a day."""

from __future__ import annotations

import logging
from uuid import UUID

from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.exports.sinks import ExportFailed, Sink
from backend.billing.exports.transfer import configured_sink, export_invoices, export_usage, reconcile
from backend.billing.services.closing import tenants_to_bill
from backend.tenancy.refusals import Refused
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")

COMPARE_AT = 3
"""Hour (UTC) whose sweep compares the last days."""


def handle(work: Work) -> FollowUp | None:
    sink = configured_sink()
    for tenant_id in tenants_to_bill() if sink is not None else ():
        if work.should_stop():
            break
        if sink is not None:
            _export(tenant_id, sink)
    work.finish()
    return None


def _export(tenant_id: UUID, sink: Sink) -> None:
    """Export one tenant. What fails waits for the next sweep and holds up no other tenant."""
    try:
        export_usage(tenant_id, sink)
        export_invoices(tenant_id, sink)
        differences = reconcile(tenant_id, sink) if timezone.now().hour == COMPARE_AT else []
    except (ExportFailed, Refused) as error:
        logger.warning("export of %s to %s failed: %s", encode("tnt", tenant_id), sink.name, error)
        return
    for difference in differences:
        logger.error(
            "%s has %s of %s for %s on %s, and the ledger has %s",
            sink.name,
            difference.theirs,
            difference.meter,
            encode("tnt", tenant_id),
            f"{difference.day:%Y-%m-%d}",
            difference.ours,
        )
