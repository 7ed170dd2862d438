"""The address that a tenant names for its notices, and the proof that whoever reads it wants them.

A tenant may name anybody's address, so the service mails one link there and nothing else, until a reader has confirmed.
Members' own addresses are known already (recipients), and the operator's command asks nobody.
"""

from __future__ import annotations

import secrets
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import timezone
from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.audit.models import ActorKind
from backend.audit.services import Actor, record
from backend.jobs.models import JobKind
from backend.jobs.services import enqueue
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.link_tokens import link_to
from backend.tenancy.models import Tenant
from backend.tenancy.secrets import tokens_of

MAIL_ATTEMPTS = 20
_PURPOSE = "notice address"
_TEXT = """{tenant} wants to send its notices from AVA Cloud to this address, such as that a limit comes to its end.

Confirm that you want them:
{link}

Without that, no notice is mailed here. If you do not know what this is about, ignore this mail.
"""


def choose(address: str) -> None:
    """Name the address for the current tenant's notices, "" for none, and mail it a link unless it is confirmed.

    A tenant causes one such mail an hour, to whichever address it has named by then.
    """
    mine = Tenant.objects.filter(id=current_tenant_id())
    tenant = mine.get()
    if address == tenant.notice_email and tenant.notice_confirmed:
        return
    proof = uuid7() if address else None
    mine.update(notice_email=address, notice_confirmed=not address, notice_proof=proof)
    if address and settings.EMAIL_HOST:
        enqueue(
            kind=JobKind.SEND_NOTICE,
            subject_id=tenant.id,
            dedupe_key=f"notice-address:{tenant.id}:{timezone.now():%Y%m%d%H}",
            max_attempts=MAIL_ATTEMPTS,
        )


def mail_of(tenant_id: UUID) -> EmailMessage | None:
    """Return the mail with the link that confirms the present address; None for another id, or if nothing is open."""
    tenant = Tenant.objects.filter(id=current_tenant_id(), notice_confirmed=False).first()
    if tenant is None or tenant.id != tenant_id or tenant.notice_proof is None:
        return None
    token = next(tokens_of(_PURPOSE, tenant.notice_proof))
    link = link_to(f"/accounts/notices/{encode('tnt', tenant.id)}/{token}/")
    subject = " ".join(f"Notices of {tenant.name}".split())
    return EmailMessage(subject, _TEXT.format(tenant=tenant.name, link=link), to=[tenant.notice_email])


def tenant_of(tenant_id: UUID | None, token: str) -> Tenant | None:
    """Return the tenant whose open confirmation this token answers. The link names a tenant that cannot be trusted."""
    if tenant_id is None:
        return None
    rows = Tenant.objects.using("dispatch").filter(id=tenant_id, suspended_at=None, notice_confirmed=False)
    tenant = rows.first()
    if tenant is None or tenant.notice_proof is None:
        return None
    tokens = tokens_of(_PURPOSE, tenant.notice_proof)
    return tenant if any(secrets.compare_digest(one.encode(), token.encode()) for one in tokens) else None


def confirm(tenant: Tenant, *, address: str, request_id: str) -> None:
    """Note that a reader of the address wants the notices. address: the network address of the reader."""
    with tenant_scope(tenant.id):
        open_proof = Tenant.objects.filter(id=tenant.id, notice_proof=tenant.notice_proof, notice_confirmed=False)
        if open_proof.update(notice_confirmed=True, notice_proof=None):
            visitor = Actor(ActorKind.VISITOR, address=address, request_id=request_id)
            record("notice_address.confirmed", actor=visitor, object_id=encode("tnt", tenant.id))
