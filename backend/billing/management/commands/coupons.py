"""Coupons on the command line: list and create them, and give one to a tenant."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from backend.audit.services import OPERATOR, record
from backend.billing.management.arguments import moment, number, writer
from backend.billing.models import Coupon
from backend.billing.rates import plain
from backend.billing.services.accounts import billing_account
from backend.billing.services.credit.coupons import NewCoupon, create_coupon, redeem_coupon
from backend.tenancy.context import tenant_scope
from backend.tenancy.management.tenant_command import TenantCommand
from backend.tenancy.refusals import Refused


class Command(TenantCommand):
    help = "List and create coupons, and give one to a tenant. A coupon lowers invoices before tax."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("list", help="Print the coupons, one a line.")
        create = verbs.add_parser("create", help="Create a coupon. It is never changed.")
        create.add_argument("code", help="3 to 32 capital letters, digits and dashes.")
        create.add_argument("--percent", help="Percentage of the usage.")
        create.add_argument("--amount", help="Amount a month, with --currency.")
        create.add_argument("--currency", default="", help="ISO 4217 code.")
        create.add_argument("--months", type=int, default=1, help="Number of months from the one of redemption on.")
        create.add_argument("--until", help="ISO 8601 time with a zone from which nobody can redeem it.")
        create.add_argument("--author", required=True, help="E-mail of who decided it.")
        create.add_argument("--note", default="")
        give = verbs.add_parser("grant", help="Give a coupon to a tenant, from its current month on.")
        give.add_argument("code")
        give.add_argument("slug", help="Slug of the tenant.")
        give.add_argument("--author", required=True)
        give.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['verb']}")(options)
        except Refused as refused:
            raise CommandError(str(refused)) from refused

    def _list(self, options: dict[str, Any]) -> None:
        for row in Coupon.objects.using(writer()).order_by("code"):
            value = f"{plain(row.percent)} %" if row.percent is not None else f"{plain(row.amount or 0)} {row.currency}"
            until = "" if row.redeem_until is None else f"until {row.redeem_until.isoformat()}"
            self.stdout.write("  ".join([row.code, value, f"{row.months} months", until, row.author]))

    def _create(self, options: dict[str, Any]) -> None:
        new = NewCoupon(
            options["code"],
            options["author"],
            percent=number(options["percent"]) if options["percent"] else None,
            amount=number(options["amount"]) if options["amount"] else None,
            currency=options["currency"],
            months=options["months"],
            redeem_until=moment(options["until"]) if options["until"] else None,
            note=options["note"],
        )
        self.stdout.write(f"{create_coupon(new, using=writer()).code} is created")

    def _grant(self, options: dict[str, Any]) -> None:
        tenant = self.tenant(options)
        with tenant_scope(tenant.id):
            row = redeem_coupon(code=options["code"], author=options["author"], time_zone=billing_account().time_zone)
            record(
                "tenant.coupon_granted", actor=OPERATOR, reason=options["reason"], details={"coupon": options["code"]}
            )
        self.stdout.write(f"{tenant.slug} has {row.coupon_code} until {row.end_at.isoformat()}")
