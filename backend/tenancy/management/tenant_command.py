"""What the commands about one tenant share."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.tenancy import queries
from backend.tenancy.models import Tenant


class TenantCommand(BaseCommand):
    """A command about the tenant that its option `slug` names."""

    def tenant(self, options: dict[str, Any]) -> Tenant:
        """Return the tenant. Raises CommandError if there is none."""
        tenant = queries.tenant_of_slug(options["slug"])
        if tenant is None:
            raise CommandError(f"There is no tenant with the slug {options['slug']}.")
        return tenant
