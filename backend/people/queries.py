"""Reads of people, members, invitations and sign-in settings.

Rows of the tenant are read inside its tenant_scope. A session, an invitation's link and a sign-in at a provider name no
tenant that could be trusted, so these three are read through the dispatch role.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from backend.people.models import Invitation, Membership, Person, Role, SignInSettings
from backend.tenancy.makers import Maker
from backend.tenancy.models import Tenant


def members() -> QuerySet[Membership]:
    rows: QuerySet[Membership] = Membership.objects.all()
    return rows


def owners() -> QuerySet[Membership]:
    return members().filter(role=Role.OWNER)


def invitations() -> QuerySet[Invitation]:
    rows: QuerySet[Invitation] = Invitation.objects.all()
    return rows


def open_invitations() -> QuerySet[Invitation]:
    """Return the invitations of the tenant that can still be accepted."""
    return invitations().filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())


def made_by(maker: Maker) -> QuerySet[Invitation]:
    """Return the open invitations of a maker."""
    return open_invitations().filter(maker.made(person="created_by", key="created_by_key"))


def people(ids: Iterable[UUID]) -> dict[UUID, Person]:
    """Return people by id, in one statement; people belong to no tenant."""
    return {person.id: person for person in Person.objects.filter(id__in=set(ids))}


def notice_addresses(roles: Sequence[str]) -> list[str]:
    """Return the addresses of the tenant's active members with one of these roles, in the order of joining.

    Workers read them too, so this goes through their role, whose policy shows the members with NOTICE_ROLES alone.
    """
    ids = list(members().filter(role__in=roles).order_by("created_at", "id").values_list("person_id", flat=True))
    active = Person.objects.using("default").filter(id__in=ids, is_active=True)
    found = dict(active.values_list("id", "email"))
    return [found[id] for id in ids if id in found]


def sign_in_settings() -> SignInSettings | None:
    """Return the settings of the current tenant; None if it has never set any."""
    row: SignInSettings | None = SignInSettings.objects.first()
    return row


# --- before a tenant is known ----------------------------------------------------------------------------------------


def membership_of(person_id: UUID, slug: str) -> Membership | None:
    """Return the membership of a person in a living tenant, with the tenant; None if there is none."""
    return (
        Membership.unscoped.using("dispatch")
        .filter(person_id=person_id, tenant__slug=slug, tenant__suspended_at=None)
        .select_related("tenant")
        .first()
    )


def memberships_of(person_id: UUID) -> list[Membership]:
    """Return the memberships of a person in all living tenants, with their tenants, in the order of joining."""
    rows = Membership.unscoped.using("dispatch").filter(person_id=person_id, tenant__suspended_at=None)
    return list(rows.select_related("tenant").order_by("created_at", "id"))


def is_member(person_id: UUID, tenant_id: UUID | None = None) -> bool:
    """Whether a person has a membership in a tenant, or in any, whether the tenant is suspended or not."""
    rows = Membership.unscoped.using("dispatch").filter(person_id=person_id)
    return (rows if tenant_id is None else rows.filter(tenant_id=tenant_id)).exists()


def all_memberships_of(person_id: UUID) -> list[Membership]:
    """Return the memberships of a person with their tenants, those of suspended tenants too, ordered by tenant."""
    rows = Membership.unscoped.using("dispatch").filter(person_id=person_id)
    return list(rows.select_related("tenant").order_by("tenant_id"))


def has_provider(tenant_id: UUID) -> bool:
    """Whether a tenant, suspended or not, has a provider."""
    rows = SignInSettings.unscoped.using("dispatch").filter(tenant_id=tenant_id)
    return bool(rows.exclude(oidc_issuer="").exists())


@dataclass(frozen=True, slots=True)
class Standing:
    """What a membership allows now. collections: ids of those that the member is limited to; None for all."""

    role: str
    collections: tuple[UUID, ...] | None
    sessions_since: datetime | None


def lasting(pairs: Collection[tuple[UUID, UUID]]) -> dict[tuple[UUID, UUID], Standing]:
    """Return those pairs of tenant and person that are memberships of living tenants, with what they allow."""
    rows = Membership.unscoped.using("dispatch").filter(
        tenant_id__in={tenant for tenant, _ in pairs},
        person_id__in={person for _, person in pairs},
        tenant__suspended_at=None,
    )
    found = {(row.tenant_id, row.person_id): standing_of(row) for row in rows}
    return {pair: found[pair] for pair in pairs if pair in found}


def standing_of(membership: Membership) -> Standing:
    """Return what a membership allows."""
    ids = membership.collection_ids
    collections = None if ids is None else tuple(UUID(one) for one in ids)
    return Standing(membership.role, collections, membership.sessions_since)


def open_invitation(digest: bytes) -> Invitation | None:
    """Return the invitation that can still be accepted with a token of this digest, with its tenant."""
    return (
        Invitation.unscoped.using("dispatch")
        .filter(
            digest=digest,
            accepted_at=None,
            revoked_at=None,
            expires_at__gt=timezone.now(),
            tenant__suspended_at=None,
        )
        .select_related("tenant")
        .first()
    )


def open_invitations_for(email: str) -> list[Invitation]:
    """Return the open invitations of an address to living tenants, with their tenants, in the order of making."""
    rows = Invitation.unscoped.using("dispatch").filter(
        email=email, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now(), tenant__suspended_at=None
    )
    return list(rows.select_related("tenant").order_by("id"))


def invitation_for(tenant_id: UUID, email: str) -> Invitation | None:
    """Return the open invitation of an address to a tenant."""
    return (
        Invitation.unscoped.using("dispatch")
        .filter(tenant_id=tenant_id, email=email, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
        .first()
    )


def settings_of(tenant_id: UUID) -> SignInSettings | None:
    """Return the sign-in settings of a living tenant, with the tenant."""
    return (
        SignInSettings.unscoped.using("dispatch")
        .filter(tenant_id=tenant_id, tenant__suspended_at=None)
        .select_related("tenant")
        .first()
    )


def tenant_of_slug(slug: str) -> Tenant | None:
    return Tenant.objects.using("dispatch").filter(slug=slug, suspended_at=None).first()
