"""A provider's models have token rates of their own in the cost book, whatever the preset and the role.

`manage.py check --deploy --database default` reports what is missing, and a worker waits for it before its first task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import DatabaseError
from django.utils import timezone

from backend.billing.models import UsageMeter
from backend.billing.rates import rates_at
from backend.billing.services.machines.device_time import MEASURED_ROLES, device_rates_at
from gpu_workers.engine.models.model_table import ROLES
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.models.settings import ModelSettings, RoleSettings

HOSTED = "hosted"
HINT = (
    "Append prices of this model to the book `cost`, in the console or by `manage.py prices append`. If the server is "
    "yours, name its host in OWN_MODEL_HOSTS."
)
TOKEN_METERS = (UsageMeter.INPUT_TOKENS, UsageMeter.OUTPUT_TOKENS)


def check_hosted_rates(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Return an error for each hosted model whose tokens would be valued with the rate of models on own devices: 0."""
    if "default" not in (databases or ()):
        return []
    try:
        return [Error(words, hint=HINT, id="billing.E001") for words in _faults()]
    except DatabaseError as error:
        return [Error(f"The cost book cannot be read: {error}", id="billing.E002")]


def require_hosted_rates() -> None:
    """Raise a ModelError that a later attempt may not meet, if a hosted model's tokens would cost nothing."""
    try:
        faults = _faults()
    except DatabaseError as error:
        raise ModelError("cost_book_away", f"The cost book cannot be read: {error}", retryable=True) from error
    if faults:
        raise ModelError("unpriced_model", f"{' '.join(faults)} {HINT}", retryable=True)


def _faults() -> list[str]:
    settings = ModelSettings.from_env()
    hosted = hosted_roles(settings)
    faults = [
        f"{name.upper()}_URL names no server of this network, and {name.upper()}_MODEL is not set, so no cost can be "
        "found for its tokens."
        for name, role in hosted.items()
        if not role.model
    ]
    meters: dict[str, tuple[UsageMeter, ...]] = {}
    for name, role in hosted.items():
        # A model that writes in any role is charged for what it writes, too.
        if role.model and meters.get(role.model) != TOKEN_METERS:
            meters[role.model] = TOKEN_METERS if name in MEASURED_ROLES else TOKEN_METERS[:1]
    faults += [
        f"The cost book has no {' and '.join(missing)} of the hosted model {model}, so its tokens cost nothing."
        for model, missing in missing_rates(meters).items()
    ]
    return faults


def hosted_roles(settings: ModelSettings) -> dict[str, RoleSettings]:
    """Return the roles that a provider's models play, by name.

    Under the preset `hosted` these are the roles whose models write, wherever their servers are: an address of this
    network may be a gateway to a provider. Under any preset these are the roles whose servers are not the operator's.
    """
    found = {name: settings.role(name) for name in ROLES}
    return {
        name: role
        for name, role in found.items()
        if (settings.preset == HOSTED and name in MEASURED_ROLES and role.model and not settings.is_declared_own(role))
        or (role.url and not settings.is_own(role))
    }


def missing_rates(meters: Mapping[str, Sequence[UsageMeter]]) -> dict[str, list[str]]:
    """Return the token meters without a cost row of the model's own, by model. meters: those that each model needs.

    A model with all rows is left out, and a model with a measured rate: it is a served model that costs device time.
    """
    if not meters:
        return {}
    now = timezone.now()
    rates, measured = rates_at(now).rates, device_rates_at(now).rates
    missing = {
        model: [meter.value for meter in needed if ("cost", meter.value, model, "") not in rates]
        for model, needed in sorted(meters.items())
        if model not in measured
    }
    return {model: lacking for model, lacking in missing.items() if lacking}
