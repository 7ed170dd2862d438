"""No process of the local stack holds a secret that it does not use."""

from __future__ import annotations

from infra.local.app_processes import WITHHELD, app_processes

SECRETS = (
    "AVA_SECRET_KEY", "AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS", "DATABASE_PEOPLE_URL", "DATABASE_STAFF_URL",
    "DATABASE_URL", "AVA_SIGNER_KEY", "S3_SECRET_ACCESS_KEY",
)  # fmt: skip


def test_each_process_gets_the_secrets_of_its_kind_alone() -> None:
    given = dict.fromkeys(SECRETS, "secret") | {"AVA_PROCESS": "api", "OTHER": "1"}
    held = {}
    for process in app_processes(8000, 8001, signer_port=8002):
        environment = process.environment(given)
        assert (environment["AVA_PROCESS"], environment["OTHER"]) == (process.kind, "1")
        held[process.name] = {name for name in SECRETS if name in environment}
    assert held.pop("api") == set(SECRETS) - {"DATABASE_STAFF_URL", "AVA_SIGNER_KEY"}
    assert held.pop("console") == set(SECRETS) - {"DATABASE_PEOPLE_URL", "AVA_SIGNER_KEY"}
    assert held.pop("webhooks") == {"AVA_ENCRYPTION_KEYS", "DATABASE_URL", "S3_SECRET_ACCESS_KEY"}
    assert held.pop("signer") == {"AVA_SIGNER_KEY", "DATABASE_URL", "S3_SECRET_ACCESS_KEY"}
    for name in ("worker-probe", "worker-fetch", "worker-index", "worker-query"):
        assert held.pop(name) == {"AVA_SIGNER_KEY", "DATABASE_URL"}
    assert "relay" in held
    assert set(map(frozenset, held.values())) == {frozenset({"DATABASE_URL", "S3_SECRET_ACCESS_KEY"})}


def test_every_kind_of_process_is_listed() -> None:
    assert {process.kind for process in app_processes(8000, 8001, signer_port=8002)} == set(WITHHELD)
