"""No process of the local stack holds a secret that it does not use."""

from __future__ import annotations

from backend.env import SIGNER_KEYS
from infra.local.app_processes import WITHHELD, app_processes

SECRETS = (
    "AVA_SECRET_KEY", "AVA_CONSOLE_SECRET_KEY", "AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS", "DATABASE_PEOPLE_URL",
    "DATABASE_STAFF_URL", "DATABASE_URL", "AVA_SIGNER_KEY", "S3_SECRET_ACCESS_KEY", *SIGNER_KEYS.values(),
)  # fmt: skip
SERVING = {"AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS", "DATABASE_URL", "S3_SECRET_ACCESS_KEY"}


def test_each_process_gets_the_secrets_of_its_kind_alone() -> None:
    given = {name: f"the {name}" for name in SECRETS if name != "AVA_SIGNER_KEY"}
    given |= {"AVA_PROCESS": "api", "OTHER": "1"}
    held = {}
    for process in app_processes(8000, 8001, signer_port=8002):
        environment = process.environment(given)
        assert (environment["AVA_PROCESS"], environment["OTHER"]) == (process.kind, "1")
        held[process.name] = {name for name in SECRETS if name in environment}
        if process.name.startswith("worker-") and "AVA_SIGNER_KEY" in environment:
            own = f"AVA_SIGNER_KEY_{process.name.removeprefix('worker-').upper()}"
            assert environment["AVA_SIGNER_KEY"] == given[own]
    assert held.pop("api") == SERVING | {"AVA_SECRET_KEY", "DATABASE_PEOPLE_URL"}
    assert held.pop("console") == SERVING | {"AVA_CONSOLE_SECRET_KEY", "DATABASE_STAFF_URL"}
    assert held.pop("webhooks") == {"AVA_ENCRYPTION_KEYS", "DATABASE_URL"}
    assert held.pop("relay") == {"DATABASE_URL"}
    assert held.pop("signer") == {*SIGNER_KEYS.values(), "DATABASE_URL", "S3_SECRET_ACCESS_KEY"}
    for name in ("worker-probe", "worker-render", "worker-fetch", "worker-index", "worker-query"):
        assert held.pop(name) == {"AVA_SIGNER_KEY", "DATABASE_URL"}
    assert held == {name: {"DATABASE_URL", "S3_SECRET_ACCESS_KEY"} for name in ("worker-delete", "worker-sweep")}


def test_no_process_can_log_in_as_the_owner_and_only_the_console_as_its_reader() -> None:
    given = {name: f"the {name}" for name in SIGNER_KEYS.values()}
    for role in ("owner", "console"):
        given[f"DATABASE_{role.upper()}_URL"] = f"postgresql://{role}:the%20password@127.0.0.1:5432/ava?sslmode=disable"
    for process in app_processes(8000, 8001, signer_port=8002):
        environment = process.environment(given)
        assert environment["DATABASE_OWNER_URL"] == "postgresql://owner@127.0.0.1:5432/ava?sslmode=disable"
        assert ("password" in environment["DATABASE_CONSOLE_URL"]) == (process.kind == "console"), process.name


def test_every_kind_of_process_is_listed() -> None:
    assert {process.kind for process in app_processes(8000, 8001, signer_port=8002)} == set(WITHHELD)
