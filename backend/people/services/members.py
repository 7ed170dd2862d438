"""Writes to memberships. A tenant keeps at least one owner, whatever happens at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.accounts.made_things import MadeThings
from backend.api.public_ids import encode
from backend.audit.services import Actor, record
from backend.library.queries import collections
from backend.people import queries, roles
from backend.people.models import Membership, Person, Role
from backend.people.services.proofs import require_proof
from backend.tenancy import makers
from backend.tenancy.authentication import Principal
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.keys import ALL_SCOPES
from backend.tenancy.refusals import Refused, invalid
from backend.tenancy.services import revoke_keys_of_person


def checked_limits(role: str, collection_ids: Sequence[UUID] | None) -> list[str] | None:
    """Return the collections of a membership as they are stored. Raises Refused `role_not_limitable`, `not_found`."""
    if collection_ids is None:
        return None
    if role not in roles.LIMITABLE:
        raise invalid(
            pointer="/collection_ids",
            code="role_not_limitable",
            detail="Only analysts and viewers can be limited to collections.",
        )
    known = set(collections().filter(id__in=collection_ids).values_list("id", flat=True))
    for n, collection_id in enumerate(collection_ids):
        if collection_id not in known:
            raise invalid(pointer=f"/collection_ids/{n}", code="not_found", detail="There is no such collection.")
    return sorted({str(collection_id) for collection_id in collection_ids})


def require_rank(role: str, *, by_owner: bool) -> None:
    """Check that the caller may give, change or take a role. Raises Refused `owners_only`."""
    if not roles.may_assign(by_owner=by_owner, role=role):
        raise Refused("owners_only", "Only an owner makes, changes or removes owners.", status=403)


def require_scopes(caller: Principal | None, role: str) -> None:
    """Check that a caller, such as a key with few scopes, has every scope of a role that it gives.

    caller: None for an operator. Raises Refused `insufficient_scope`.
    """
    lacking = [] if caller is None else sorted(scope for scope in roles.SCOPES_OF[role] if not caller.may(scope))
    if lacking:
        detail = f"The caller lacks {', '.join(lacking)}, which the role {role} has."
        raise Refused("insufficient_scope", detail, status=403)


def join(
    person: Person,
    *,
    role: str,
    collection_ids: Sequence[str] | None = None,
    created_by: UUID | None = None,
    from_groups: bool = False,
    accepted: bool = True,
) -> Membership:
    """Make a person a member of the current tenant; a member keeps the membership that exists.

    accepted: whether the person accepts in a session of their own, and not through the tenant's provider.

    Raises Refused `staff_cannot_join`: the operator's staff reach tenants through the console alone; and
    `address_unproven` if another tenant alone vouches for the account.
    """
    if person.is_staff:
        raise Refused("staff_cannot_join", "Staff of the operator cannot be members of a tenant.")
    require_proof(person, current_tenant_id())
    membership, _ = Membership.objects.get_or_create(
        person_id=person.id,
        tenant_id=current_tenant_id(),
        defaults={
            "role": role,
            "collection_ids": None if collection_ids is None else list(collection_ids),
            "created_by": created_by,
            "from_groups": from_groups,
            "accepted": accepted and person.vouched_by is None,
        },
    )
    made: Membership = membership
    return made


def change(
    membership_id: UUID,
    *,
    role: str | None,
    collection_ids: Sequence[UUID] | None,
    limits_given: bool,
    by_owner: bool,
    caller: Principal | None = None,
    by_groups: bool = False,
) -> Membership:
    """Change role and collections of a member. limits_given: whether collection_ids was sent at all.

    caller: who asks for the change; None for an operator or a provider's groups. by_groups: whether the role follows
    the groups, and does so again at the next sign-in. Keys that the member made end if the new role does not have
    their scopes, and all of them if the member is limited to collections, because a key sees every video. Open
    invitations of the member end if the new role invites nobody.

    Raises Membership.DoesNotExist, Refused `owners_only`, `insufficient_scope`, `last_owner`, `role_not_limitable` or
    `not_found`.
    """
    with transaction.atomic():
        membership = _locked(membership_id)
        wanted = role or membership.role
        for one in (membership.role, wanted):
            require_rank(one, by_owner=by_owner)
        require_scopes(caller, wanted)
        if membership.role == Role.OWNER and wanted != Role.OWNER:
            _require_another_owner(membership)
        if limits_given:
            membership.collection_ids = checked_limits(wanted, collection_ids)
        elif wanted not in roles.LIMITABLE and membership.collection_ids is not None:
            raise invalid(
                pointer="/collection_ids",
                code="role_not_limitable",
                detail="This member is limited to collections; send collection_ids null to lift the limit.",
            )
        membership.role = wanted
        # A role that somebody has set by hand no longer follows the groups.
        membership.from_groups = membership.from_groups and (role is None or by_groups)
        membership.save()
        limited = membership.collection_ids is not None
        scopes = roles.SCOPES_OF[wanted]
        revoke_keys_of_person(membership.person_id, covered=() if limited else scopes)
        if not scopes & {ALL_SCOPES, "members:write"}:
            makers.end_with(makers.person(membership.person_id))
    return membership


def accept(membership: Membership, person: Person, *, origin: Actor) -> None:
    """Note that a person accepts a membership that the tenant's provider began. Raises Refused `address_unproven`.

    origin: the person with the address of the request.
    """
    require_proof(person, membership.tenant_id)
    with tenant_scope(membership.tenant_id):
        if Membership.objects.filter(id=membership.id, accepted=False).update(accepted=True):
            record("member.accepted", actor=origin, object_id=encode("mem", membership.id), details={})


def decline(membership: Membership, *, origin: Actor) -> None:
    """End a membership that the tenant's provider began and the person does not accept. Raises Refused `last_owner`.

    origin: the person with the address of the request.
    """
    with tenant_scope(membership.tenant_id):
        details = remove(membership.id, by_owner=True).details
        record("member.left", actor=origin, object_id=encode("mem", membership.id), details=details)


@dataclass(frozen=True, slots=True)
class Removal:
    """A membership that has ended, and what its holder made."""

    membership: Membership
    made: MadeThings

    @property
    def details(self) -> dict[str, Any]:
        """Return what the audit log records of it."""
        return {
            "person_id": encode("per", self.membership.person_id),
            "role": self.membership.role,
            **self.made.details,
        }


def remove(membership_id: UUID, *, by_owner: bool, ends_made_by: Principal | None = None) -> Removal:
    """End a membership; the member's next request is refused, and the keys and invitations that the member made end.

    ends_made_by: the caller who ends the member's webhook endpoints and shares as well; None to let them go on.

    Raises Membership.DoesNotExist, Refused `owners_only`, `last_owner` or `insufficient_scope`.
    """
    with transaction.atomic():
        membership = _locked(membership_id)
        require_rank(membership.role, by_owner=by_owner)
        if membership.role == Role.OWNER:
            _require_another_owner(membership)
        maker = makers.person(membership.person_id)
        made = [*makers.keys_made_by(maker), *makers.made_by(maker)]
        if ends_made_by is not None:
            makers.end_rest(maker, by=ends_made_by)
        Membership.objects.filter(id=membership.id).delete()
        revoke_keys_of_person(membership.person_id)
        makers.end_with(maker)
    return Removal(membership, MadeThings.divided(made, all_end=ends_made_by is not None))


def remove_again(membership_id: UUID) -> bool:
    """End a membership that a restore has brought back, even that of a last owner. Returns whether there was one.

    The owner who let this one leave may have come after the restored moment.
    """
    with transaction.atomic():
        membership: Membership | None = Membership.objects.filter(id=membership_id).first()
        if membership is None:
            return False
        Membership.objects.filter(id=membership_id).delete()
        revoke_keys_of_person(membership.person_id)
        makers.end_with(makers.person(membership.person_id))
    return True


def end_sessions(membership_id: UUID, *, by_owner: bool) -> Membership:
    """Let no session that a member has now reach the current tenant; the member stays and can sign in again.

    Raises Membership.DoesNotExist or Refused `owners_only`.
    """
    with transaction.atomic():
        membership = _locked(membership_id)
        require_rank(membership.role, by_owner=by_owner)
        membership.sessions_since = timezone.now()
        membership.save(update_fields=["sessions_since"])
    return membership


def _locked(membership_id: UUID) -> Membership:
    # All owners are locked in one order, so two owners cannot remove each other at once.
    list(queries.owners().select_for_update().order_by("id"))
    row: Membership = Membership.objects.select_for_update().get(id=membership_id)
    return row


def _require_another_owner(membership: Membership) -> None:
    if not queries.owners().exclude(id=membership.id).exists():
        raise Refused("last_owner", "The last owner of a tenant can neither leave nor take another role.")
