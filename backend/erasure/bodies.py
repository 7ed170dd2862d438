"""The erasure of a tenant on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rest_framework import serializers

from backend.api.bodies import StrictSerializer
from backend.api.public_ids import encode

STATUSES = ("erasing", "erased")


class TenantErasureRequestSerializer(StrictSerializer):
    slug = serializers.CharField(max_length=63, help_text="Slug of the tenant: an erasure cannot be undone.")


class ErasureCertificateSerializer(serializers.Serializer[Any]):
    """What was counted after the erasure."""

    asked_at = serializers.CharField(help_text="When the erasure was asked for.")
    erased_at = serializers.CharField(help_text="When nothing was left.")
    objects = serializers.IntegerField(help_text="Objects in storage that are left.")
    unfinished_uploads = serializers.IntegerField(help_text="Uploads in storage that nobody completed.")
    rows = serializers.IntegerField(help_text="Rows that are left, over all tables.")
    vectors = serializers.IntegerField(help_text="Rows with a vector that are left.")
    vertices = serializers.IntegerField(help_text="Vertices of the graph that are left.")
    edges = serializers.IntegerField(help_text="Edges of the graph that are left.")
    people = serializers.IntegerField(
        help_text="Accounts of people who were members of this tenant alone, and identities of its provider, that "
        "are left."
    )


class TenantErasureSerializer(serializers.Serializer[Any]):
    object = serializers.CharField(help_text="Always `tenant_erasure`.")
    tenant_id = serializers.CharField(help_text="Id of the tenant.")
    status = serializers.ChoiceField(STATUSES, help_text="`erased` once the certificate is written.")
    certificate = ErasureCertificateSerializer(allow_null=True, help_text="Null while the erasure goes on.")


class TenantErasureBegunSerializer(TenantErasureSerializer):
    ticket = serializers.CharField(help_text="Opens `GET /v1/tenant/erasure` for 400 days. It is shown once.")


def erasure_body(tenant_id: UUID, certificate: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return how far the erasure of a tenant is. certificate: the stored one, None while there is none."""
    shown = None
    if certificate is not None:
        shown = {str(name): certificate[str(name)] for name in ErasureCertificateSerializer().fields}
        shown["rows"] = sum(certificate["rows"].values())
    return {
        "object": "tenant_erasure",
        "tenant_id": encode("tnt", tenant_id),
        "status": STATUSES[certificate is not None],
        "certificate": shown,
    }
