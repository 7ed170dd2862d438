"""People who sign in, what they are in each tenant, and how a tenant lets them in."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from uuid6 import uuid7

from backend.tenancy.models import TenantRow


def written_email(address: str) -> str:
    """Return an e-mail address as it is stored and compared: without spaces at its ends, in lower case."""
    return address.strip().lower()


class People(BaseUserManager["Person"]):
    """Creates people. Without a password nobody can sign in by password."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> Person:
        """Create a person. Raises ValueError without an address, IntegrityError if the address is taken."""
        address = written_email(email)
        if not address:
            raise ValueError("a person has an e-mail address")
        person = self.model(email=address, **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> Person:
        return self.create_user(email, password, **{**fields, "is_staff": True, "is_superuser": True})

    def get_by_natural_key(self, username: str | None) -> Person:
        return self.get(email=written_email(username or ""))


class Person(AbstractBaseUser, PermissionsMixin):
    """One human being, known by an e-mail address. Staff of the operator are never members of a tenant."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, default="", blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    # Sessions with no authentication since then have ended; null for none.
    sessions_since = models.DateTimeField(null=True)
    # The tenant whose unmailed invitation or identity provider made the account; null once a mail has proven that the
    # person reads the address. Until then the account reaches that tenant alone.
    vouched_by = models.UUIDField(null=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[People] = People()

    class Meta:
        verbose_name_plural = "people"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Two spellings of one address would be two people.
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="people_person_email_lower"),
        ]

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.get_full_name()


class Departure(models.Model):
    """Somebody to erase unless a membership keeps them; the API looks at it once it is due (services.departures).

    tenant_id: the tenant that was left, whose provider's identities of the person end; null for a new account that no
    tenant has taken in yet. person_id: null for all identities of the tenant's provider. A trigger writes a row for
    each membership, and for the sign-in settings, that app_rw deletes.
    """

    tenant_id = models.UUIDField(null=True)
    person_id = models.UUIDField(null=True)
    due_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"departure {self.pk}"


class Role(models.TextChoices):
    """What a member may do in a tenant; backend.people.roles maps roles to scopes."""

    OWNER = "owner"
    ADMIN = "admin"
    DEVELOPER = "developer"
    ANALYST = "analyst"
    VIEWER = "viewer"
    BILLING = "billing"


class Membership(TenantRow):
    """One person in one tenant."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=16, choices=Role)
    # Ids of the collections whose videos the member sees; null for all.
    collection_ids = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    # The person who invited; null if a key, the operator or the identity provider let the member in.
    created_by = models.UUIDField(null=True)
    # Whether the role follows the groups of the tenant's identity provider.
    from_groups = models.BooleanField(default=False)
    # Whether the person accepted the membership in a session of their own. Without that, sessions of the tenant's
    # provider alone reach the tenant, and the tenant's audit log gets no events of the account.
    accepted = models.BooleanField(default=True)
    # Sessions with no authentication since then do not reach the tenant; null for none.
    sessions_since = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["tenant", "person"], name="people_membership_once"),
        ]


class Invitation(TenantRow):
    """An offer of a membership to the holder of an e-mail address. Only a digest of its token is stored."""

    email = models.EmailField()
    role = models.CharField(max_length=16, choices=Role)
    collection_ids = models.JSONField(null=True)
    digest = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    # The person or the key that made it, with which it ends; both null for an operator or the identity provider.
    created_by = models.UUIDField(null=True)
    created_by_key = models.UUIDField(null=True)
    # Whether the identity provider named the person, so that the role follows its groups.
    from_groups = models.BooleanField(default=False)
    # Shown to the invited person.
    created_by_name = models.CharField(max_length=254, default="")
    # Whether the token went to the address alone, so that it proves the address.
    mailed = models.BooleanField(default=False)
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.UUIDField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["tenant", "email"],
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="people_invitation_one_open",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["digest"], name="people_invitation_digest"),
            # The pages of a person show what waits for them in any tenant.
            models.Index(
                fields=["email"],
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="people_invitation_email",
            ),
        ]


class SignInSettings(TenantRow):
    """How the members of a tenant sign in: a second factor, and the tenant's OpenID Connect provider."""

    require_second_factor = models.BooleanField(default=False)
    # "" for no provider.
    oidc_issuer = models.URLField(max_length=500, default="", blank=True)
    oidc_client_id = models.CharField(max_length=200, default="", blank=True)
    oidc_client_secret = models.BinaryField(default=bytes)
    # Domains of the addresses that the provider may name; empty for all.
    oidc_domains = models.JSONField(default=list)
    oidc_groups_claim = models.CharField(max_length=100, default="groups")
    # Role by group of the provider.
    oidc_group_roles = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(TenantRow.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["tenant"], name="people_signinsettings_once"),
        ]
