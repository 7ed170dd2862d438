"""Prices and plans on the command line: make a book, list, append, subscribe a tenant, rate the past again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.installation_log import record_command
from backend.audit.services import OPERATOR, record
from backend.billing.currencies import CURRENCIES
from backend.billing.management.arguments import moment, number, reason, writer
from backend.billing.models import Price, PriceBook, UsageMeter
from backend.billing.rates import plain
from backend.billing.services.plans import subscribe
from backend.billing.services.prices import NewPrice, PriceRefused, append_book, append_price
from backend.billing.services.usage.rerating import rerate
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused


class Command(BaseCommand):
    help = (
        "Make price books, list and append prices, subscribe a tenant to a plan, and rate its usage of the past again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listing = verbs.add_parser("list", help="Print the prices, one a line.")
        listing.add_argument("--book", help="Code of one book.")
        listing.add_argument("--all", action="store_true", help="Ended versions as well.")
        book = verbs.add_parser("book", help="Make a price book, for every tenant or for one.")
        book.add_argument("code", help="Small letters, digits, dashes and underscores.")
        book.add_argument("currency", choices=list(CURRENCIES))
        book.add_argument("--tenant", help="Slug of the tenant that alone has it; without it, plans can name the book.")
        book.add_argument("--author", required=True, help="E-mail of who decided it.")
        book.add_argument("--note", required=True, help="Why.")
        append = verbs.add_parser("append", help="Append a version of a price.")
        append.add_argument("book", help="Code of the book.")
        append.add_argument("meter", choices=UsageMeter.values)
        append.add_argument("amount", help="Amount of one unit, in the book's currency.")
        append.add_argument("--author", required=True, help="E-mail of who decided it.")
        append.add_argument("--model", default="")
        append.add_argument("--variant", default="")
        append.add_argument("--from", dest="start", help="ISO 8601 time with a zone; now by default.")
        append.add_argument("--note", required=True, help="Why.")
        append.add_argument("--back-dated", action="store_true", help="Let it take effect in the past; then rerate.")
        member = verbs.add_parser("subscribe", help="Subscribe a tenant to a plan.")
        member.add_argument("tenant", help="Slug of the tenant.")
        member.add_argument("plan", help="Code of the plan.")
        member.add_argument("--author", required=True)
        member.add_argument("--reason", required=True)
        member.add_argument("--from", dest="start", help="ISO 8601 time with a zone; now by default.")
        again = verbs.add_parser("rerate", help="Book a tenant's usage again to which a back-dated price applies.")
        again.add_argument("tenant", help="Slug of the tenant.")
        again.add_argument("price", help="Id of the price.")
        again.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['verb']}")(options)
        except (PriceRefused, Refused) as refused:
            raise CommandError(str(refused)) from refused

    def _list(self, options: dict[str, Any]) -> None:
        rows = Price.objects.using(writer()).select_related("book")
        if options["book"]:
            rows = rows.filter(book__code=options["book"])
        if not options["all"]:
            rows = rows.filter(effective_to=None)
        for row in rows.order_by("book__code", "meter", "model", "variant", "version"):
            end = "" if row.effective_to is None else row.effective_to.isoformat()
            cells = (row.id, row.book.code, row.meter, row.model or "any", row.variant or "any", f"v{row.version}")
            amount = f"{plain(row.unit_amount)} {row.book.currency}"
            self.stdout.write("  ".join([*map(str, cells), amount, row.effective_from.isoformat(), end]).rstrip())

    def _book(self, options: dict[str, Any]) -> None:
        tenant = _tenant(options["tenant"]) if options["tenant"] else None
        author, note = options["author"], reason(options["note"])
        with transaction.atomic(using=writer()):
            book = append_book(
                code=options["code"],
                currency=options["currency"],
                tenant_id=None if tenant is None else tenant.id,
                note=note,
                author=author,
                using=writer(),
            )
            details = {"book": str(book), "tenant": "" if tenant is None else encode("tnt", tenant.id)}
            record_command("pricebook.created", author=author, reason=note, details=details, using=writer())
        self.stdout.write(f"{book.id} {book}")

    def _append(self, options: dict[str, Any]) -> None:
        book = PriceBook.objects.using(writer()).filter(code=options["book"]).first()
        if book is None:
            raise CommandError(f"There is no price book {options['book']}.")
        note = reason(options["note"])
        price = NewPrice(
            book.id,
            options["meter"],
            number(options["amount"]),
            moment(options["start"]) if options["start"] else timezone.now(),
            options["author"],
            model=options["model"],
            variant=options["variant"],
            note=note,
        )
        with transaction.atomic(using=writer()):
            row = append_price(price, using=writer(), back_dated=options["back_dated"])
            details = {"price": str(row)}
            record_command("price.appended", author=price.author, reason=note, details=details, using=writer())
        self.stdout.write(f"{row.id} {row}")

    def _subscribe(self, options: dict[str, Any]) -> None:
        tenant = _tenant(options["tenant"])
        with tenant_scope(tenant.id):
            row = subscribe(
                plan=options["plan"],
                author=options["author"],
                reason=options["reason"],
                at=moment(options["start"]) if options["start"] else None,
            )
            record("tenant.subscribed", actor=OPERATOR, reason=options["reason"], details={"plan": options["plan"]})
        self.stdout.write(f"{tenant.slug} has {row.plan_version} from {row.effective_from.isoformat()}")

    def _rerate(self, options: dict[str, Any]) -> None:
        try:
            price = Price.objects.using(writer()).filter(id=UUID(options["price"])).first()
        except ValueError:
            price = None
        if price is None:
            raise CommandError(f"There is no price {options['price']}.")
        tenant = _tenant(options["tenant"])
        with tenant_scope(tenant.id):
            count = rerate(price, reason=options["reason"])
            record("usage.rerated", actor=OPERATOR, reason=options["reason"], details={"price": str(price.id)})
        self.stdout.write(f"{count} rows of {tenant.slug} are booked at {price}")


def _tenant(slug: str) -> Tenant:
    tenant = Tenant.objects.using("console").filter(slug=slug).first()
    if tenant is None:
        raise CommandError(f"There is no tenant {slug}.")
    return tenant
