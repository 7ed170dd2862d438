"""The routes of usage, prices, budgets and invoices."""

from __future__ import annotations

from typing import Any

from backend.billing.api import accounts, budgets, invoices, own_budgets, prices, usage

routes: list[Any] = [
    *usage.routes,
    *prices.routes,
    *budgets.routes,
    *own_budgets.routes,
    *invoices.routes,
    *accounts.routes,
]
