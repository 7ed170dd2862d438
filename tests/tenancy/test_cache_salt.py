"""The salt that keeps tenants' prompts apart in a model server's cache, and what is shown of a cache without salt."""

from __future__ import annotations

from uuid import UUID

from django.test import override_settings

from backend.questions.services.consumption import usage_of
from backend.tenancy.secrets import cache_salt
from gpu_workers.engine.models.roles import ModelCall

ACME, GLOBEX = UUID(int=1), UUID(int=2)


def test_each_tenant_has_a_salt_of_its_own_that_stays() -> None:
    assert cache_salt(ACME) == cache_salt(ACME)
    assert cache_salt(ACME) != cache_salt(GLOBEX)
    assert str(ACME) not in cache_salt(ACME)


def test_another_installation_has_other_salts() -> None:
    here = cache_salt(ACME)
    with override_settings(CACHE_SALT_KEY="another key of another installation"):
        assert cache_salt(ACME) != here


def test_tokens_of_a_cache_that_tenants_share_are_not_shown_as_cached() -> None:
    apart = ModelCall("rewrite", "vllm", 10, prompt_tokens=5_000, cached_tokens=4_000)
    shared = ModelCall("answer", "hosted", 10, prompt_tokens=7_000, cached_tokens=6_000, cache_shared=True)
    shown = usage_of([apart, shared])
    assert (shown["calls"], shown["prompt_tokens"], shown["cached_tokens"]) == (2, 12_000, 4_000)
