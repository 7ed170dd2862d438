"""The usage ledger and what values it: price books, plans, subscriptions, budgets."""

from backend.billing.models.budgets import OpenSpending, TenantBudget, UsageMonth
from backend.billing.models.days import UsageDay
from backend.billing.models.ledger import BillingSource, ModelCall, UsageEvent
from backend.billing.models.meters import (
    COMPARISON,
    CORRECTION,
    EGRESS,
    GRADE,
    QUESTION,
    QUESTION_REVERSAL,
    SEARCH,
    SEGMENT,
    SEGMENT_CREDIT,
    SEGMENT_RESTORED,
    STORAGE,
    WASTED,
    UsageMeter,
)
from backend.billing.models.plans import (
    BillingAccount,
    Plan,
    PlanAllowance,
    PlanLimit,
    PlanTier,
    PlanVersion,
    Subscription,
    TierMode,
)
from backend.billing.models.prices import BookKind, Price, PriceBook
from backend.billing.models.usage_hours import InvariantResult, StaleHour, UsageHour

__all__ = [
    "COMPARISON",
    "CORRECTION",
    "EGRESS",
    "GRADE",
    "QUESTION",
    "QUESTION_REVERSAL",
    "SEARCH",
    "SEGMENT",
    "SEGMENT_CREDIT",
    "SEGMENT_RESTORED",
    "STORAGE",
    "WASTED",
    "BillingAccount",
    "BillingSource",
    "BookKind",
    "InvariantResult",
    "ModelCall",
    "OpenSpending",
    "Plan",
    "PlanAllowance",
    "PlanLimit",
    "PlanTier",
    "PlanVersion",
    "Price",
    "PriceBook",
    "StaleHour",
    "Subscription",
    "TenantBudget",
    "TierMode",
    "UsageDay",
    "UsageEvent",
    "UsageHour",
    "UsageMeter",
    "UsageMonth",
]
