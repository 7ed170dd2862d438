"""Writes to collections, in the caller's transaction inside the open tenant_scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from backend.library.models import Collection
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused


def create_collection(*, fields: Mapping[str, Any]) -> Collection:
    """Create a collection. Raises Refused `name_taken`."""
    try:
        # A savepoint, so that a refused name leaves the caller's transaction usable.
        with transaction.atomic():
            collection: Collection = Collection.objects.create(tenant_id=current_tenant_id(), **fields)
    except IntegrityError:
        raise _name_taken() from None
    return collection


def update_collection(*, collection: Collection, fields: Mapping[str, Any]) -> Collection:
    """Change a collection. Raises Refused `name_taken`."""
    try:
        with transaction.atomic():
            Collection.objects.filter(id=collection.id).update(**fields)
    except IntegrityError:
        raise _name_taken() from None
    updated: Collection = Collection.objects.get(id=collection.id)
    return updated


def _name_taken() -> Refused:
    return Refused("name_taken", "Another collection has this name.", pointer="/name")


def delete_collection(*, collection: Collection) -> None:
    """Delete the collection; its videos stay without a collection."""
    Collection.objects.filter(id=collection.id).delete()
