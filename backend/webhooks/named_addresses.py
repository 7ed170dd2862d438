"""The addresses that a tenant names for its mails, and the proof that whoever reads one of them wants the mails.

There are two: the address of its notices, and the address of its billing account. A tenant may name anybody's address,
so the service mails one link there and nothing else, until a reader has confirmed. Members' own addresses are known
already (recipients), and the operator's command asks nobody.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import QuerySet
from django.utils import timezone
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.audit.models import ActorKind
from backend.audit.services import Actor, record
from backend.billing.models import BillingAccount
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.link_tokens import link_to
from backend.tenancy.models import Tenant
from backend.tenancy.secrets import tokens_of

MAIL_ATTEMPTS = 20
_TEXT = """{tenant} wants to send its {mails} from AVA Cloud to this address, such as that a limit comes to its end.

Confirm that you want them:
{link}

Without that, nothing of this kind is mailed here. If you do not know what this is about, ignore this mail.
"""


@dataclass(frozen=True, slots=True)
class NamedAddress:
    """An address that a tenant has named. proof: what its open link is made of; None if no link is open."""

    tenant: Tenant
    row_id: UUID
    email: str
    confirmed: bool
    proof: UUID | None


@dataclass(frozen=True, slots=True)
class AddressUse:
    """What an address is named for, and the columns that hold it in the one row of a tenant.

    name: of its audit events and links. mails: what the address gets, in the words of mails and pages.
    """

    name: str
    mails: str
    model: type[Tenant] | type[BillingAccount]
    email: str
    confirmed: str
    proof: str

    @property
    def rows(self) -> QuerySet[Any]:
        """Return the current tenant's row, if it has one."""
        own = {"id" if self.model is Tenant else "tenant_id": current_tenant_id()}
        rows: QuerySet[Any] = self.model.objects.filter(**own)
        return rows

    def named(self) -> NamedAddress | None:
        """Return the address that the current tenant has named; None if it has no row that could hold one."""
        columns = self.rows.values_list("id", self.email, self.confirmed, self.proof).first()
        tenant = Tenant.objects.get(id=current_tenant_id())
        return NamedAddress(tenant, *columns) if columns else None

    def tokens(self, address: NamedAddress) -> list[str]:
        """Return the tokens that its open link may hold, the newest key's first; none if no link is open."""
        return list(tokens_of(self.name.replace("_", " "), address.proof)) if address.proof else []


NOTICES = AddressUse("notice_address", "notices", Tenant, "notice_email", "notice_confirmed", "notice_proof")
BILLING = AddressUse(
    "billing_address", "notices of invoices and limits", BillingAccount, "email", "email_confirmed", "email_proof"
)
USES = (NOTICES, BILLING)


def choose(use: AddressUse, address: str) -> None:
    """Name the current tenant's address, "" for none, and mail it a link unless it is confirmed.

    A tenant causes one such mail of a use in an hour, to whichever address it has named by then.
    """
    before = use.named()
    if before is None or (address == before.email and before.confirmed):
        return
    use.rows.update(**{use.email: address, use.confirmed: not address, use.proof: uuid7() if address else None})
    if address and settings.EMAIL_HOST:
        enqueue(
            kind=JobKind.SEND_NOTICE,
            subject_id=before.row_id,
            dedupe_key=f"{use.name}:{before.row_id}:{timezone.now():%Y%m%d%H}",
            max_attempts=MAIL_ATTEMPTS,
        )


def mail_of(row_id: UUID) -> EmailMessage | None:
    """Return the mail with the link that confirms the present address; None for another id, or if nothing is open."""
    for use in USES:
        address = use.named()
        if address is None or address.row_id != row_id or address.confirmed or not (tokens := use.tokens(address)):
            continue
        tenant = address.tenant
        link = link_to(f"/accounts/notices/{encode('tnt', tenant.id)}/{tokens[0]}/")
        subject = " ".join(f"Notices of {tenant.name}".split())
        text = _TEXT.format(tenant=tenant.name, mails=use.mails, link=link)
        return EmailMessage(subject, text, to=[address.email])
    return None


@dataclass(frozen=True, slots=True)
class OpenConfirmation:
    """A confirmation that a link has opened."""

    use: AddressUse
    address: NamedAddress


def opened_by(tenant_id: UUID | None, token: str) -> OpenConfirmation | None:
    """Return the open confirmation that this token answers. The link names a tenant that cannot be trusted."""
    if tenant_id is None:
        return None
    if not Tenant.objects.using("dispatch").filter(id=tenant_id, suspended_at=None).exists():
        return None
    with tenant_scope(tenant_id):
        for use in USES:
            address = use.named()
            if address is None or address.confirmed:
                continue
            if any(secrets.compare_digest(one.encode(), token.encode()) for one in use.tokens(address)):
                return OpenConfirmation(use, address)
    return None


def confirm(opened: OpenConfirmation, *, address: str, request_id: str) -> None:
    """Note that a reader of the address wants the mails. address: the network address of the reader."""
    use, named = opened.use, opened.address
    with tenant_scope(named.tenant.id):
        still_open = use.rows.filter(**{use.proof: named.proof, use.confirmed: False})
        if still_open.update(**{use.confirmed: True, use.proof: None}):
            visitor = Actor(ActorKind.VISITOR, address=address, request_id=request_id)
            record(f"{use.name}.confirmed", actor=visitor, object_id=encode("tnt", named.tenant.id))
