"""The one head of all methods that gather evidence by tools: what was shown becomes an answer with its citations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpu_workers.engine.answering.contract import Answer, NodeRecord
from gpu_workers.engine.answering.identity import ANSWER_PROMPTS, CITATION_PROMPTS
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.tools.contract import Artifact
from gpu_workers.engine.answering.tools.desk import Desk
from gpu_workers.engine.models.roles import ModelError

DOSSIER_PROMPTS = ANSWER_PROMPTS | CITATION_PROMPTS | {"dossier_rules", "dossier_question", "judge_choice"}


def answer_from(
    desk: Desk,
    *,
    records: Sequence[NodeRecord],
    top_similarity: float,
    needs: Iterable[Artifact],
    proposed: ParsedAnswer | None = None,
    hint: str = "",
    error: ModelError | None = None,
) -> Answer:
    """Return the answer that desk.sightings give, in the same way for every method.

    records: of the steps so far. needs: of the method; what is missing of them is told in Answer.degraded. proposed:
    the method's own answer, its cited numbers those of the sightings. It stands alone at effort `paper`; else it counts
    only if nothing better can be had. hint: what the method worked out itself, in words. error: what ended the
    method's own steps early; raised if there is nothing to answer from.
    """
    raise NotImplementedError
