"""Check the usage ledger of all tenants. Prints one line per fault; the exit status is 1 if there is any."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.api.public_ids import encode, parse
from backend.billing import queries
from backend.billing.rates import Cost, plain

# The console role reads the rows of all tenants and writes nothing.
CONSOLE = "console"


class Command(BaseCommand):
    help = "Check that the usage ledger equals the sum of the model calls behind it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--question", help="Check this question's answer only, and print its cost (qst_…).")
        parser.add_argument("--video", help="Print the cost of this video's index as well (vid_…).")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["question"]:
            question_id = _id("qst", options["question"])
            self._print(options["question"], queries.cost_of_question(question_id, using=CONSOLE))
            faults = queries.question_mismatches(question_id, using=CONSOLE)
        else:
            faults = queries.mismatches(using=CONSOLE)
        if options["video"]:
            self._print(options["video"], queries.cost_of_video(_id("vid", options["video"]), using=CONSOLE))
        for fault in faults:
            self.stdout.write(
                f"{encode('tnt', fault.tenant_id)} {fault.source_type} {fault.source_id}: {fault.meter} "
                f"billed {plain(fault.billed)}, metered {plain(fault.metered)}"
            )
        if faults:
            raise CommandError(f"quantities that differ from the model calls: {len(faults)}")
        self.stdout.write("the ledger agrees with the model calls")

    def _print(self, id: str, cost: Cost) -> None:
        self.stdout.write(f"{id}: cost {plain(cost.amount)}, price {plain(cost.price)} {cost.currency}")


def _id(prefix: str, text: str) -> UUID:
    id = parse(prefix, text)
    if id is None:
        raise CommandError(f"not an id of the kind {prefix}_…: {text}")
    return id
