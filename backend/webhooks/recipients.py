"""Who gets a tenant's notices by mail: its notice address, who is billed, and members with the roles it has chosen.

backend.people knows the members and stands above this app, so it registers the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.core.mail import EmailMessage

from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import NOTICE_ROLES, Tenant
from backend.webhooks.named_addresses import NOTICES, USES

MembersOf = Callable[[Sequence[str]], list[str]]
"""Returns the addresses of the current tenant's active members with one of some roles."""
UNDISCLOSED = "undisclosed-recipients:;"


@dataclass(frozen=True, slots=True)
class Recipients:
    """Addresses of one mail. members: get a blind copy, because members need not know each other's addresses."""

    named: list[str]
    members: list[str]

    def __bool__(self) -> bool:
        return bool(self.named or self.members)

    def mail(self, *, subject: str, body: str) -> EmailMessage:
        """Return a mail to all of them. A subject with a line break, such as that of a name, becomes one line."""
        headers = {} if self.named else {"To": UNDISCLOSED}
        return EmailMessage(
            subject=" ".join(subject.split()), body=body, to=self.named, bcc=self.members, headers=headers
        )


_members_of: MembersOf | None = None


def register(members_of: MembersOf) -> None:
    """Set the reader of this process; called once, when the app that stores members is loaded."""
    global _members_of
    _members_of = members_of


def recipients(*, billed: bool) -> Recipients:
    """Return who gets a notice to the current tenant, each address once. billed: also who is billed."""
    if _members_of is None:
        raise RuntimeError("no app has registered a reader of members")
    addresses = {use: address for use in USES if (address := use.named()) is not None and address.email}
    proven = {address.email.lower() for address in addresses.values() if address.confirmed}
    if not all(address.confirmed for address in addresses.values()):
        proven |= {address.lower() for address in _members_of(NOTICE_ROLES)}
    wanted = [address.email for use, address in addresses.items() if billed or use == NOTICES]
    named = list(dict.fromkeys(email for email in wanted if email.lower() in proven))
    roles = Tenant.objects.values_list("notice_roles", flat=True).get(id=current_tenant_id())
    members = _members_of(roles) if roles else []
    known = {address.lower() for address in named}
    return Recipients(named, [address for address in members if address.lower() not in known])
