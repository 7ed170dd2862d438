"""Members, invitations, sign-in settings and the signed-in person on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from rest_framework import serializers

from backend.api.bodies import StrictSerializer
from backend.api.public_ids import PublicIdField
from backend.people import queries
from backend.people.models import Invitation, Membership, Person, Role, SignInSettings
from backend.people.roles import SCOPES_OF
from backend.people.services.sign_in import MAPPED_ROLES, provider_of

MAX_COLLECTIONS = 100
ROLE_HELP = "One of owner, admin, developer, analyst, viewer and billing."
LIMIT_HELP = "Collections whose videos the member sees; null for all. Only analysts and viewers can be limited."


class CollectionIdsField(serializers.ListField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            child=PublicIdField("col"), allow_null=True, max_length=MAX_COLLECTIONS, help_text=LIMIT_HELP, **kwargs
        )


class MemberSerializer(serializers.Serializer[Any]):
    id = PublicIdField("mem")
    object = serializers.CharField()
    person_id = PublicIdField("per")
    email = serializers.EmailField()
    name = serializers.CharField(allow_blank=True)
    role = serializers.ChoiceField(Role.choices, help_text=ROLE_HELP)
    collection_ids = CollectionIdsField()
    created_at = serializers.DateTimeField()
    invited_by = PublicIdField("per", allow_null=True, help_text="The person who invited the member.")
    from_groups = serializers.BooleanField(help_text="Whether the role follows the identity provider's groups.")


class MemberUpdateRequestSerializer(StrictSerializer):
    role = serializers.ChoiceField(Role.choices, required=False, help_text=ROLE_HELP)
    collection_ids = CollectionIdsField(required=False)


class InvitationRequestSerializer(StrictSerializer):
    email = serializers.EmailField(help_text="The address that may accept the invitation.")
    role = serializers.ChoiceField(Role.choices, help_text=ROLE_HELP)
    collection_ids = CollectionIdsField(required=False, default=None)


class InvitationSerializer(serializers.Serializer[Any]):
    id = PublicIdField("inv")
    object = serializers.CharField()
    email = serializers.EmailField()
    role = serializers.ChoiceField(Role.choices, help_text=ROLE_HELP)
    collection_ids = CollectionIdsField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    invited_by = PublicIdField("per", allow_null=True)
    accepted_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    mailed = serializers.BooleanField(help_text="Whether the link was mailed to the address.")


class InvitationWithLinkSerializer(InvitationSerializer):
    url = serializers.URLField(
        allow_null=True,
        help_text="The link that accepts the invitation, shown once; null if it was mailed to the address.",
    )


class DomainField(serializers.RegexField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$", **kwargs)


class SignInSettingsRequestSerializer(StrictSerializer):
    require_second_factor = serializers.BooleanField(
        required=False, help_text="Whether members must sign in with a second factor, a passkey or your provider."
    )
    oidc_issuer = serializers.URLField(
        required=False, allow_blank=True, max_length=500, help_text="The provider's issuer URL; empty for no provider."
    )
    oidc_client_id = serializers.CharField(required=False, allow_blank=True, max_length=200)
    oidc_client_secret = serializers.CharField(
        required=False, allow_blank=True, max_length=500, help_text="Kept sealed and never shown; omit it to keep it."
    )
    oidc_domains = serializers.ListField(
        child=DomainField(),
        required=False,
        max_length=50,
        help_text="Domains of the addresses that the provider may name; empty for all. A domain admits nobody.",
    )
    oidc_groups_claim = serializers.CharField(required=False, max_length=100, help_text="Claim that lists groups.")
    oidc_group_roles = serializers.DictField(
        child=serializers.ChoiceField([role.value for role in MAPPED_ROLES]),
        required=False,
        help_text="Role by group. Members of a mapped group need no invitation; ownership cannot be mapped.",
    )


class SignInSettingsSerializer(serializers.Serializer[Any]):
    object = serializers.CharField()
    require_second_factor = serializers.BooleanField()
    oidc_issuer = serializers.CharField(allow_blank=True)
    oidc_client_id = serializers.CharField(allow_blank=True)
    oidc_domains = serializers.ListField(child=serializers.CharField())
    oidc_groups_claim = serializers.CharField()
    oidc_group_roles = serializers.DictField(child=serializers.CharField())
    oidc_login_path = serializers.CharField(help_text="Where members sign in by the provider.")
    oidc_callback_path = serializers.CharField(help_text="Redirect URI, without the host, to enter at the provider.")


class MyTenantSerializer(serializers.Serializer[Any]):
    tenant_id = PublicIdField("tnt")
    slug = serializers.CharField(help_text="Value of the header `AVA-Tenant`.")
    name = serializers.CharField()
    role = serializers.ChoiceField(Role.choices, help_text=ROLE_HELP)
    scopes = serializers.ListField(child=serializers.CharField())
    collection_ids = CollectionIdsField()


class MeSerializer(serializers.Serializer[Any]):
    id = PublicIdField("per")
    object = serializers.CharField()
    email = serializers.EmailField()
    name = serializers.CharField(allow_blank=True)
    second_factor = serializers.BooleanField(help_text="Whether the person has set up a second factor.")
    tenants = MyTenantSerializer(many=True, help_text="Tenants that this session reaches.")


def member_body(membership: Membership, person: Person) -> dict[str, Any]:
    """Return a member as customers see it."""
    return MemberSerializer(
        {
            "id": membership.id,
            "object": "member",
            "person_id": person.id,
            "email": person.email,
            "name": person.name,
            "role": membership.role,
            "collection_ids": _ids(membership.collection_ids),
            "created_at": membership.created_at,
            "invited_by": membership.created_by,
            "from_groups": membership.from_groups,
        }
    ).data


def member_bodies(memberships: Sequence[Membership]) -> list[dict[str, Any]]:
    """Return members with their people, who are read in one statement."""
    people = queries.people(row.person_id for row in memberships)
    return [member_body(row, people[row.person_id]) for row in memberships]


def invitation_body(invitation: Invitation) -> dict[str, Any]:
    return InvitationSerializer(_invitation(invitation)).data


def invitation_with_link_body(invitation: Invitation, url: str) -> dict[str, Any]:
    """Return a new invitation, with its link unless the link went to the address."""
    return InvitationWithLinkSerializer({**_invitation(invitation), "url": None if invitation.mailed else url}).data


def _invitation(invitation: Invitation) -> dict[str, Any]:
    names = ("id", "email", "role", "created_at", "expires_at", "accepted_at", "revoked_at", "mailed")
    return {
        **{name: getattr(invitation, name) for name in names},
        "object": "invitation",
        "collection_ids": _ids(invitation.collection_ids),
        "invited_by": invitation.created_by,
    }


def sign_in_settings_body(row: SignInSettings | None, tenant_id: UUID) -> dict[str, Any]:
    """Return sign-in settings, the defaults if none were ever set. The client's secret is not shown."""
    path = f"/accounts/oidc/{provider_of(tenant_id)}/login/"
    shown = row or SignInSettings()
    names = (
        "require_second_factor", "oidc_issuer", "oidc_client_id", "oidc_domains", "oidc_groups_claim",
        "oidc_group_roles",
    )  # fmt: skip
    return SignInSettingsSerializer(
        {
            "object": "sign_in_settings",
            **{name: getattr(shown, name) for name in names},
            "oidc_login_path": path,
            "oidc_callback_path": f"{path}callback/",
        }
    ).data


def me_body(person: Person, memberships: Sequence[Membership], *, second_factor: bool) -> dict[str, Any]:
    """Return the signed-in person with the tenants that the session reaches."""
    tenants = [
        {
            "tenant_id": row.tenant_id,
            "slug": row.tenant.slug,
            "name": row.tenant.name,
            "role": row.role,
            "scopes": sorted(SCOPES_OF[row.role]),
            "collection_ids": _ids(row.collection_ids),
        }
        for row in memberships
    ]
    return MeSerializer(
        {
            "id": person.id,
            "object": "person",
            "email": person.email,
            "name": person.name,
            "second_factor": second_factor,
            "tenants": tenants,
        }
    ).data


def _ids(stored: Sequence[str] | None) -> list[UUID] | None:
    return None if stored is None else [UUID(one) for one in stored]
