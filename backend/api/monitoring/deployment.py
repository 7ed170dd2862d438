"""The checks of `manage.py check --deploy`: settings that are missing, or that contradict each other, by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.http.request import validate_host

from gpu_workers.engine.models.model_table import ROLES, preset
from gpu_workers.engine.models.settings import ModelSettings, on_private_network

SUSPENDED_WITHIN_SECONDS = 10
"""Time in which the requests, jobs, webhooks and streams of a suspended tenant stop."""
RUN_IN_PROCESS = ("text_embedder", "frame_embedder", "transcriber")
"""Roles whose …_MODEL names a model in the worker's process if they have no server."""
LEAST_SECRET = 32
"""Shortest secret in characters that is taken for one."""


def check_deployment(*, app_configs: Sequence[AppConfig] | None, **options: Any) -> list[CheckMessage]:
    """Run the checks as Django's checks of a deployment."""
    return [*_addresses(os.environ), *_secrets(os.environ), *_service(), *model_messages(os.environ)]


def model_messages(env: Mapping[str, str]) -> list[CheckMessage]:
    """Return what the variables of the models lack, or where they contradict each other."""
    try:
        chosen = preset(env.get("MODEL_PRESET") or "embedded")
        models = ModelSettings.from_env(env)
    except ValueError as error:
        return [Error(str(error), id="ava.E001")]
    # The roles in both lists are played by the index worker itself if it has a card.
    served = [role for role in ROLES if role in chosen.roles and role not in chosen.in_process]
    found: list[CheckMessage] = [
        Error(
            f"{role.upper()}_URL is not set, but preset {chosen.name} serves this role",
            hint="Set it to the preset's server; another model in its place would not fit the indexes.",
            id="ava.E002",
        )
        for role in served
        if not models.role(role).url
    ]
    if "reasoner" not in served and not models.reasoner.url:
        found.append(Error("REASONER_URL is not set: videos are indexed, and every question fails", id="ava.E003"))
    if chosen.name == "hosted" and not models.describer.url:
        found.append(Warning("DESCRIBER_URL is not set: the observer describes instead of a model", id="ava.W001"))
    for role in ROLES:
        name, address = role.upper(), models.role(role)
        if not address.url:
            own = () if role in RUN_IN_PROCESS else ("MODEL",)
            left = [f"{name}_{part}" for part in (*own, "API_KEY", "CONTEXT_TOKENS") if env.get(f"{name}_{part}")]
            found += [Error(f"{variable} is set, but {name}_URL is not", id="ava.E004") for variable in left]
        elif not address.model and role != "checker":
            found.append(
                Warning(f"{name}_MODEL is not set: the only model that the server lists is used", id="ava.W002")
            )
        if address.url.startswith("http://") and not on_private_network(address.url):
            found.append(Warning(f"{name}_URL sends the key in plain text over a public network", id="ava.W003"))
    keyless = sorted({role.upper() for role in ROLES if models.role(role).url and not models.role(role).api_key})
    if keyless:
        # The API needs no key, and gets none; so this is an error of workers only.
        text = f"MODEL_API_KEY is not set, nor a key for {', '.join(keyless)}: workers need one"
        found.append(Warning(text, hint="Nothing is wrong in an API process.", id="ava.W004"))
    return found


def _addresses(env: Mapping[str, str]) -> Iterator[CheckMessage]:
    public = urlsplit(settings.PUBLIC_URL)
    host, local = public.hostname or "", _is_loopback(public.hostname or "")
    if public.scheme != "https" and not local:
        yield Error(
            "AVA_PUBLIC_URL is not an https URL: keys and sessions would cross the network in plain text", id="ava.E005"
        )
    if not validate_host(host, settings.ALLOWED_HOSTS):
        yield Error(f"AVA_ALLOWED_HOSTS does not name {host}, the host of AVA_PUBLIC_URL", id="ava.E006")
    storage = urlsplit(settings.S3_ENDPOINT_URL).hostname or ""
    if storage and _is_loopback(storage) and not local:
        yield Error(f"S3_ENDPOINT_URL is {storage}: customers cannot reach presigned URLs there", id="ava.E007")
    if bool(env.get("S3_ACCESS_KEY_ID")) != bool(env.get("S3_SECRET_ACCESS_KEY")):
        yield Error("one of S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY is set without the other", id="ava.E008")


def _secrets(env: Mapping[str, str]) -> Iterator[CheckMessage]:
    own = "AVA_CONSOLE_SECRET_KEY" if settings.PROCESS == "console" else "AVA_SECRET_KEY"
    values = {own: [settings.SECRET_KEY]}
    values |= {
        "AVA_KEY_PEPPERS": [*settings.KEY_PEPPERS.values()],
        "AVA_ENCRYPTION_KEYS": [*settings.ENCRYPTION_KEYS.values()],
    }
    for name, secrets in values.items():
        if any(len(secret) < LEAST_SECRET for secret in secrets):
            yield Error(f"{name} holds a secret of less than {LEAST_SECRET} characters", id="ava.E009")
    flat = [secret for secrets in values.values() for secret in secrets]
    if len(set(flat)) < len(flat):
        yield Error(f"{', '.join(values)}: two of their secrets are the same", id="ava.E010")


def _service() -> Iterator[CheckMessage]:
    if settings.DEBUG:
        yield Error("AVA_DEBUG is on: errors would show settings and code to customers", id="ava.E011")
    if settings.HEARTBEAT_SECONDS * 2 > settings.LEASE_SECONDS:
        text = f"AVA_HEARTBEAT_SECONDS ({settings.HEARTBEAT_SECONDS}) is more than half of AVA_LEASE_SECONDS"
        yield Error(f"{text} ({settings.LEASE_SECONDS}): one late heartbeat loses a job", id="ava.E012")
    if settings.HEARTBEAT_SECONDS * 2 > SUSPENDED_WITHIN_SECONDS:
        text = f"AVA_HEARTBEAT_SECONDS ({settings.HEARTBEAT_SECONDS}) is more than half of {SUSPENDED_WITHIN_SECONDS} s"
        yield Warning(f"{text}, within which the work of a suspended tenant stops", id="ava.W006")
    for name, allowed in (
        ("AVA_WEBHOOK_ALLOW_PRIVATE", settings.WEBHOOK_ALLOW_PRIVATE),
        ("AVA_SOURCE_ALLOW_PRIVATE", settings.SOURCE_ALLOW_PRIVATE),
    ):
        if allowed:
            yield Warning(f"{name} is on: customers' URLs may name machines of this network", id="ava.W005")


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "127.0.0.1", "::1") or host.endswith(".localhost")
