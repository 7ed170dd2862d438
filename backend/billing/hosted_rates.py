"""`manage.py check --deploy --database default`: a provider's models have token rates of their own in the cost book."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import DatabaseError
from django.utils import timezone

from backend.billing.models import UsageMeter
from backend.billing.rates import rates_at
from gpu_workers.engine.models.settings import ModelSettings

HOSTED = "hosted"
TOKEN_METERS = (UsageMeter.INPUT_TOKENS, UsageMeter.OUTPUT_TOKENS)
ROLES = ("describer", "checker", "reasoner")


def check_hosted_rates(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Return an error for each hosted model whose tokens would be valued with the rate of models on own devices: 0."""
    if "default" not in (databases or ()):
        return []
    settings = ModelSettings.from_env()
    if settings.preset != HOSTED:
        return []
    names = sorted({settings.role(role).model for role in ROLES} - {""})
    try:
        missing = missing_rates(names)
    except DatabaseError as error:
        return [Error(f"The cost book cannot be read: {error}", id="billing.E002")]
    return [
        Error(
            f"The cost book has no {' and '.join(meters)} of the hosted model {model}, so its tokens cost nothing.",
            hint="Add rows for this model in the console, under Billing, Price books; device_seconds of it cost 0.",
            id="billing.E001",
        )
        for model, meters in missing.items()
    ]


def missing_rates(models: Sequence[str]) -> dict[str, list[str]]:
    """Return the token meters without a cost row of the model's own, by model; models with all rows are left out."""
    rates = rates_at(timezone.now()).rates
    missing = {
        name: [meter.value for meter in TOKEN_METERS if ("cost", meter.value, name, "") not in rates] for name in models
    }
    return {model: meters for model, meters in missing.items() if meters}
