"""The routes of usage and of budgets."""

from __future__ import annotations

from typing import Any

from backend.billing.api import budgets, own_budgets, usage

routes: list[Any] = [*usage.routes, *budgets.routes, *own_budgets.routes]
