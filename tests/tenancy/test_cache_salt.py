"""The salt that keeps tenants' prompts apart in a model server's cache."""

from __future__ import annotations

from uuid import UUID

from django.test import override_settings

from backend.tenancy.secrets import cache_salt

ACME, GLOBEX = UUID(int=1), UUID(int=2)


def test_each_tenant_has_a_salt_of_its_own_that_stays() -> None:
    assert cache_salt(ACME) == cache_salt(ACME)
    assert cache_salt(ACME) != cache_salt(GLOBEX)
    assert str(ACME) not in cache_salt(ACME)


def test_another_installation_has_other_salts() -> None:
    here = cache_salt(ACME)
    with override_settings(CACHE_SALT_KEY="another key of another installation"):
        assert cache_salt(ACME) != here
