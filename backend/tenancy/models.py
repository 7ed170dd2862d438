"""Tenants and their API keys, and the base of every row that belongs to a tenant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db import models
from uuid6 import uuid7

from backend.tenancy import keys
from backend.tenancy.context import current_collections, current_tenant_id


class Fence(models.TextChoices):
    """What a tenant that moves may still do: draining ends its running jobs, closed opens no tenant_scope."""

    NONE = ""
    DRAINING = "draining"
    CLOSED = "closed"


NOTICE_ROLES = ("owner", "admin", "billing")
"""Roles of members who may get a tenant's notices. The policy of people_person shows these members' addresses alone."""


FIRST_PLAN = "standard"
"""Plan of a new tenant, and of a tenant without a subscription."""


def notice_roles() -> list[str]:
    """Return the roles that get the notices of a new tenant."""
    return list(NOTICE_ROLES)


class Tenant(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=63, unique=True)
    # The plan that the tenant was last subscribed to; what it pays is in its subscriptions.
    plan = models.CharField(max_length=32, default=FIRST_PLAN)
    # Set while the tenant moves to another installation, in the installation that it leaves.
    fence = models.CharField(max_length=16, choices=Fence.choices, default=Fence.NONE, blank=True)
    # Where notices to the tenant are mailed; empty for nowhere.
    notice_email = models.EmailField(default="", blank=True)
    # Whether a reader of that address wants them, or the operator has set it; without that only a link is mailed there,
    # whose token comes from notice_proof.
    notice_confirmed = models.BooleanField(default=True)
    notice_proof = models.UUIDField(null=True)
    # Roles whose members are mailed the notices too, among NOTICE_ROLES.
    notice_roles = models.JSONField(default=notice_roles, blank=True)
    # Origins of web pages that may use the tenant's keys (backend.tenancy.origins).
    allowed_origins = models.JSONField(default=list, blank=True)
    # Origins of web pages that may show the tenant's shares in a frame.
    embed_origins = models.JSONField(default=list, blank=True)
    # Requests that staff allow each minute in place of AVA_RATE_LIMIT_PER_MINUTE; each member has as many.
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    # Jobs of each class that staff allow to run at once, where that is fewer than the caps of the class and the plan.
    jobs_at_once = models.PositiveSmallIntegerField(null=True, blank=True)
    # The tenant whose test keys work in this one (backend.tenancy.sandboxes).
    sandbox_of = models.UUIDField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    suspended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            # Each claim of a job asks for the suspended, the moving and the slowed tenants of the installation.
            models.Index(fields=["id"], condition=models.Q(suspended_at__isnull=False), name="tenant_suspended"),
            models.Index(fields=["id"], condition=~models.Q(fence=""), name="tenant_fenced"),
            models.Index(fields=["id"], condition=models.Q(jobs_at_once__isnull=False), name="tenant_slowed"),
        ]

    def __str__(self) -> str:
        return self.name


class TenantScopedManager(models.Manager[Any]):
    """The second layer behind row-level security: every query filters by the tenant of the open tenant_scope, and by
    the collections that the caller is limited to."""

    def get_queryset(self) -> models.QuerySet[Any]:
        rows = super().get_queryset().filter(tenant_id=current_tenant_id())
        collections = current_collections()
        limit = None if collections is None else self.model.within(collections)
        return rows if limit is None else rows.filter(limit)


class TenantRow(models.Model):
    """Base of all tenant data. Composite foreign keys and policies come from backend.tenancy.ddl in migrations."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # The composite key's DDL adds the constraint. No reverse accessor, because tables are read through queries.py.
    tenant = models.ForeignKey(Tenant, on_delete=models.DO_NOTHING, related_name="+", db_index=False)

    objects: ClassVar[TenantScopedManager] = TenantScopedManager()
    # For the dispatch and console roles, which cross tenants by declaration.
    unscoped: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta:
        abstract = True
        base_manager_name = "unscoped"

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q | None:
        """Return the condition on the rows that a member limited to these collections sees.

        None where rows are reached through others alone: those of a video or of a question.
        """
        return None


class Ending(TenantRow):
    """A right that has ended, until the ledger in object storage has it (library.services.ended_rights).

    Triggers write the rows (backend.tenancy.ddl.noted_endings). kind: a value of the ledger's Deleted. subject_id: the
    row whose right has ended.
    """

    kind = models.CharField(max_length=32)
    subject_id = models.UUIDField()
    ended_at = models.DateTimeField(db_index=True)


class ApiKey(TenantRow):
    """An API key `vk_live_<public>_<secret><crc>`, of which only an HMAC is stored.

    A test key, `vk_test_…`, belongs to the tenant whose members manage it, and works in that tenant's sandbox.
    """

    name = models.CharField(max_length=100, default="")
    test = models.BooleanField(default=False)
    public_id = models.CharField(max_length=16, unique=True)
    digest = models.BinaryField(max_length=32)
    pepper_id = models.PositiveSmallIntegerField()
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    last_used_ip = models.GenericIPAddressField(null=True)
    # The key that made this one, if a key did; a person's key names the person.
    parent_id = models.UUIDField(null=True)
    created_by_person_id = models.UUIDField(null=True)
    # Networks from which the key may be used (CIDR); empty for everywhere.
    allowed_ips = models.JSONField(default=list)
    # Null for no limit besides the tenant's.
    requests_per_minute = models.PositiveIntegerField(null=True)

    @property
    def hint(self) -> str:
        """Return the beginning of the key, by which its holder recognises it."""
        return keys.hint(self.public_id, test=self.test)
