"""The sweep that sends usage and invoices to the configured billing system, and compares both sides once a day."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.exports.sinks import ExportFailed, Sink
from backend.billing.exports.transfer import (
    configured_sink,
    export_credit_notes,
    export_invoices,
    export_settlements,
    export_usage,
    reconcile,
)
from backend.billing.services.closing import tenants_to_bill
from backend.billing.services.findings import EXPORT_DIFFERENCES, EXPORT_FAILURES, store_findings
from backend.tenancy.refusals import Refused
from workers.runner import FollowUp, Work

logger = logging.getLogger("ava.jobs")

COMPARE_AT = 3
"""Hour (UTC) whose sweep compares the last days."""
STEPS = (export_usage, export_invoices, export_credit_notes, export_settlements, export_credit_notes)
"""In this order: a credit note made before a payment precedes it in the billing system, a later one follows it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an export of one tenant found, in words. compared: whether both sides were compared."""

    failures: list[str]
    differences: list[str]
    compared: bool


def handle(work: Work) -> FollowUp | None:
    sink = configured_sink()
    compares, outcomes = timezone.now().hour == COMPARE_AT, list[Outcome]()
    if sink is not None:
        for tenant_id in tenants_to_bill():
            if work.should_stop():
                work.finish()
                return None
            outcomes.append(_export(tenant_id, sink, compares=compares))
    # With a wrong key each step of a tenant fails alike.
    store_findings(EXPORT_FAILURES, list(dict.fromkeys(words for outcome in outcomes for words in outcome.failures)))
    differences = [words for outcome in outcomes for words in outcome.differences]
    # A comparison that failed for a tenant ends no alert of an earlier one.
    if compares and (differences or all(outcome.compared for outcome in outcomes)):
        store_findings(EXPORT_DIFFERENCES, differences)
    work.finish()
    return None


def _export(tenant_id: UUID, sink: Sink, *, compares: bool) -> Outcome:
    """Export one tenant. What fails waits for the next sweep and holds up no other tenant."""
    tenant, failures = encode("tnt", tenant_id), list[str]()
    try:
        for step in STEPS:
            try:
                step(tenant_id, sink)
            except ExportFailed as error:
                if error.retry:
                    raise
                failures.append(_failure(tenant, sink, error))
        found = reconcile(tenant_id, sink) if compares else []
    except ExportFailed as error:
        return Outcome([*failures, _failure(tenant, sink, error)], [], compared=False)
    except Refused as refused:
        logger.warning("export of %s to %s waits: %s", tenant, sink.name, refused)
        return Outcome(failures, [], compared=False)
    words = [
        f"{sink.name} has {one.theirs} of {one.meter} for {tenant} on {one.day:%Y-%m-%d}, and the ledger has {one.ours}"
        for one in found
    ]
    for text in words:
        logger.error("%s", text)
    return Outcome(failures, words, compared=compares)


def _failure(tenant: str, sink: Sink, error: ExportFailed) -> str:
    words = f"{tenant}: export to {sink.name} failed: {error}"
    logger.error("%s", words)
    return words
