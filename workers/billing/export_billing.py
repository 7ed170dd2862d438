"""The sweep that sends usage and invoices to the configured billing system, and compares both sides once a day."""

from __future__ import annotations

import logging
from uuid import UUID

from backend.api.public_ids import encode
from backend.billing.exports.comparison import Findings, comparison_is_due, findings_of, reconcile, words_of
from backend.billing.exports.sinks import ExportFailed, Sink
from backend.billing.exports.transfer import (
    configured_sink,
    export_credit_notes,
    export_invoices,
    export_settlements,
    export_usage,
)
from backend.billing.services.findings import (
    EXPORT_DIFFERENCES,
    EXPORT_FAILURES,
    EXPORT_SKIPPED,
    EXPORT_UNCOMPARED,
    store_findings,
)
from backend.billing.services.invoicing.closing import tenants_to_bill
from backend.tenancy.refusals import Refused
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")

STEPS = (export_usage, export_invoices, export_credit_notes, export_settlements, export_credit_notes)
"""In this order: a credit note made before a payment precedes it in the billing system, a later one follows it."""


def handle(work: Work) -> FollowUp | None:
    sink, failures, found = configured_sink(), list[str](), list[Findings]()
    if sink is not None:
        for tenant_id in tenants_to_bill():
            if work.should_stop():
                work.finish()
                return None
            failures += _export(tenant_id, sink)
            found.append(findings_of(tenant_id, sink))
    # With a wrong key each step of a tenant fails alike.
    store_findings(EXPORT_FAILURES, list(dict.fromkeys(failures)))
    store_findings(EXPORT_DIFFERENCES, [words for one in found for words in one.differences])
    store_findings(EXPORT_SKIPPED, [words for one in found for words in one.skipped])
    store_findings(EXPORT_UNCOMPARED, [words for one in found for words in one.late])
    work.finish()
    return None


def _export(tenant_id: UUID, sink: Sink) -> list[str]:
    """Export one tenant and compare both sides if that is due. Returns what failed, in words.

    What fails waits for the next sweep and holds up no other tenant.
    """
    tenant, failures = encode("tnt", tenant_id), list[str]()
    try:
        for step in STEPS:
            try:
                step(tenant_id, sink)
            except ExportFailed as error:
                if error.retry:
                    raise
                failures.append(_failure(tenant, sink, error))
        if comparison_is_due(tenant_id, sink):
            for one in reconcile(tenant_id, sink):
                logger.error("%s", words_of(tenant_id, sink, one))
    except ExportFailed as error:
        failures.append(_failure(tenant, sink, error))
    except Refused as refused:
        logger.warning("export of %s to %s waits: %s", tenant, sink.name, refused)
    return failures


def _failure(tenant: str, sink: Sink, error: ExportFailed) -> str:
    words = f"{tenant}: export to {sink.name} failed: {error}"
    logger.error("%s", words)
    return words
