"""The routes of usage, prices and budgets."""

from __future__ import annotations

from typing import Any

from backend.billing.api import budgets, own_budgets, prices, usage

routes: list[Any] = [*usage.routes, *prices.routes, *budgets.routes, *own_budgets.routes]
