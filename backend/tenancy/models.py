"""Tenants and their API keys, and the base of every row that belongs to a tenant."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from django.db import models
from uuid6 import uuid7

from backend.tenancy.context import current_tenant_id


class Fence(models.TextChoices):
    """What a tenant that moves may still do: draining ends its running jobs, closed opens no tenant_scope."""

    NONE = ""
    DRAINING = "draining"
    CLOSED = "closed"


class Tenant(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=63, unique=True)
    plan = models.CharField(max_length=32, default="standard")
    # The cell that holds the tenant's rows and objects; "shared" where the service has a single cell.
    placement = models.CharField(max_length=63, default="shared")
    # Set while the tenant moves to another cell, in the cell that it leaves.
    fence = models.CharField(max_length=16, choices=Fence.choices, default=Fence.NONE, blank=True)
    # Where notices to the tenant are mailed; empty for nowhere.
    notice_email = models.EmailField(default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    suspended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["id"], condition=~models.Q(fence=""), name="tenant_fenced")]

    def __str__(self) -> str:
        return self.name


class TenantScopedManager(models.Manager[Any]):
    """The second layer behind row-level security: every query filters by the tenant of the open tenant_scope."""

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(tenant_id=current_tenant_id())


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


class ApiKey(TenantRow):
    """An API key `vk_live_<public>_<secret><crc>`, of which only an HMAC is stored."""

    name = models.CharField(max_length=100, default="")
    public_id = models.CharField(max_length=16, unique=True)
    digest = models.BinaryField(max_length=32)
    pepper_id = models.PositiveSmallIntegerField()
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
