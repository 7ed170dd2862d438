"""The routes of usage and of budgets."""

from __future__ import annotations

from typing import Any

from backend.billing.api import budgets, prices, usage

routes: list[Any] = [*usage.routes, *prices.routes, *budgets.routes]
