"""The usage ledger and what values it: price books, plans, subscriptions, budgets."""

from backend.billing.models.budgets import OpenSpending, TenantBudget, UsageMonth
from backend.billing.models.days import UsageDay
from backend.billing.models.ledger import BillingSource, ModelCall, UsageEvent
from backend.billing.models.meters import (
    GRADE,
    QUESTION,
    QUESTION_REVERSAL,
    SEARCH,
    SEGMENT,
    SEGMENT_CREDIT,
    SEGMENT_RESTORED,
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

__all__ = [
    "GRADE",
    "QUESTION",
    "QUESTION_REVERSAL",
    "SEARCH",
    "SEGMENT",
    "SEGMENT_CREDIT",
    "SEGMENT_RESTORED",
    "WASTED",
    "BillingAccount",
    "BillingSource",
    "BookKind",
    "ModelCall",
    "OpenSpending",
    "Plan",
    "PlanAllowance",
    "PlanLimit",
    "PlanTier",
    "PlanVersion",
    "Price",
    "PriceBook",
    "Subscription",
    "TenantBudget",
    "TierMode",
    "UsageDay",
    "UsageEvent",
    "UsageMeter",
    "UsageMonth",
]
