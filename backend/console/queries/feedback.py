"""Reads of what customers say about answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.console.queries.role import rows


@dataclass(frozen=True, slots=True)
class Band:
    """Judged answers of one range of confidence. low: the range's lower bound, None without confidence."""

    low: float | None
    judged: int
    right: int
    confidence: float | None

    @property
    def right_percent(self) -> float:
        return 100 * self.right / self.judged

    @property
    def name(self) -> str:
        return "none given" if self.low is None else f"{self.low:.1f} to {self.low + BAND:.1f}"


BAND = 0.2


def calibration(since: datetime) -> list[Band]:
    """Return judged answers by confidence. If confidence is well calibrated, it equals the share of right answers."""
    by_band = rows(
        """
        SELECT CASE WHEN confidence >= 1 THEN 4 ELSE floor(round(confidence::numeric, 6) * 5)::int END AS band,
            count(*) AS judged, count(*) FILTER (WHERE f.verdict = 'right') AS good, avg(confidence) AS confidence
        FROM questions_feedback f JOIN questions_question q ON q.tenant_id = f.tenant_id AND q.id = f.question_id
        WHERE f.updated_at >= %(since)s GROUP BY 1 ORDER BY 1 DESC NULLS LAST
        """,
        {"since": since},
    )
    return [
        Band(None if row["band"] is None else row["band"] * BAND, row["judged"], row["good"], row["confidence"])
        for row in by_band
    ]


def right_percent(bands: Sequence[Band]) -> float | None:
    """Return the percentage of right answers over all bands; None if none was judged."""
    judged = sum(band.judged for band in bands)
    return 100 * sum(band.right for band in bands) / judged if judged else None
