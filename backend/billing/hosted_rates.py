"""A provider's models have token rates of their own in the cost book.

`manage.py check --deploy --database default` reports what is missing, and a worker waits for it before its first task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import DatabaseError
from django.utils import timezone

from backend.billing.models import UsageMeter
from backend.billing.rates import rates_at
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.models.settings import ModelSettings

HOSTED = "hosted"
HINT = "Append prices of this model to the book `cost`, in the console or by `manage.py prices append`."
TOKEN_METERS = (UsageMeter.INPUT_TOKENS, UsageMeter.OUTPUT_TOKENS)
ROLES = ("describer", "checker", "reasoner")


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
    if settings.preset != HOSTED:
        return []
    return [
        f"The cost book has no {' and '.join(meters)} of the hosted model {model}, so its tokens cost nothing."
        for model, meters in missing_rates(sorted({settings.role(role).model for role in ROLES} - {""})).items()
    ]


def missing_rates(models: Sequence[str]) -> dict[str, list[str]]:
    """Return the token meters without a cost row of the model's own, by model; models with all rows are left out."""
    rates = rates_at(timezone.now()).rates
    missing = {
        name: [meter.value for meter in TOKEN_METERS if ("cost", meter.value, name, "") not in rates] for name in models
    }
    return {model: meters for model, meters in missing.items() if meters}
