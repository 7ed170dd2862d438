"""What the ledger measures, and the kinds of work that its rows come from."""

from __future__ import annotations

from django.db import models

# Source types: the kinds of work that ledger rows and model calls come from.
COMPARISON = "comparison"
CORRECTION = "correction"
EGRESS = "egress"
FAILED_CALLS = "failed_calls"
GRADE = "grade"
QUESTION = "question"
QUESTION_REVERSAL = "question_reversal"
RERATING = "rerating"
SEARCH = "search"
SEGMENT = "segment"
SEGMENT_CREDIT = "segment_credit"
SEGMENT_RESTORED = "segment_restored"
STORAGE = "storage"
WASTED = "wasted_attempt"


class UsageMeter(models.TextChoices):
    """What is measured. The unit is in the name: seconds, tokens, GB (10^9 bytes), GB for one hour, or pieces."""

    MEDIA_SECONDS = "media_seconds"
    LIVE_SECONDS = "live_seconds"
    QUESTIONS = "questions"
    SEARCHES = "searches"
    COMPARISONS = "comparisons"
    STORAGE_GB_HOURS = "storage_gb_hours"
    EGRESS_GB = "egress_gb"
    INPUT_TOKENS = "input_tokens"
    CACHED_TOKENS = "cached_tokens"
    OUTPUT_TOKENS = "output_tokens"
    DEVICE_SECONDS = "device_seconds"
