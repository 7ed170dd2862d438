"""The vote of a question: which answer is given after nodes that disagree were looked at again, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import NodeRecord
from gpu_workers.engine.answering.looking.frame_check import check_suspects
from gpu_workers.engine.answering.looking.rounds import inspect
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.consistency import AnswerVote, group_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, best_first
from gpu_workers.engine.models.calibration import Calibration


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer that a method settles on, with its score, its margin and its source.

    node: the node whose answer is given: an SA node, or the CA or IN node that looked again.
    score: the node's consistency score S (eq. 6); after the support of choices has been weighed (choices.support), the
    total of S and support.
    margin: score less the score of the best other answer; the whole score if there is no other answer.
    source: the node whose events are cited: an inspection that names its frames, else the SA node that gives the same
    answer. None if only frames gave it: then node is cited.
    vote: the consistency score S, when score also includes choice support; None if no sample chose this answer, or if
    score is S itself.
    """

    node: AnswerNode
    score: float
    margin: float
    source: AnswerNode | None
    vote: float | None = None


def vote(asked: Asked, calls: Calls, nodes: Sequence[AnswerNode]) -> tuple[Verdict | None, list[NodeRecord]]:
    """Return the verdict over the nodes of a search, and the records of the looks that it took.

    The best node of each distinct answer is a rival. If the rivals disagree, or the best one is in doubt, and
    settings.look.check asks for it, the two best are looked at again: by a frame check (CA) or an inspection (IN). The
    look's findings decide between them. If the look fails or finds nothing, the best rival wins. The verdict is None if
    no node answers and frames do not help.
    """
    rivals = best_rivals(asked, calls, nodes)
    best = _without_look(rivals)
    suspects = _suspects(rivals, nodes)
    if not suspects or not _look_is_due(asked, calls, rivals):
        return best, []
    look_again = inspect if asked.settings.look.mode == "inspect" else check_suspects
    with calls.timed("check"):
        checked, records = look_again(asked, calls, suspects)
    return _weigh(asked, calls, rivals, checked) or best, records


def _look_is_due(asked: Asked, calls: Calls, rivals: Sequence[AnswerNode]) -> bool:
    """Whether to look again: never without a checker or after the search was halted."""
    settings = asked.settings
    if settings.look.check == "off" or calls.halted or asked.models.checker is None:
        return False
    doubtful = not rivals or rivals[0].score < settings.tree.gate
    return len(rivals) > 1 or (doubtful and settings.look.check == "on_doubt")


def _suspects(rivals: Sequence[AnswerNode], nodes: Sequence[AnswerNode]) -> list[AnswerNode]:
    """Return the two best rivals; without any, the best abstention: frames may show more than the events say."""
    if rivals:
        return list(rivals[:2])
    return sorted((node for node in nodes if node.answer is not None), key=lambda node: -node.score)[:1]


def best_rivals(asked: Asked, calls: Calls, nodes: Sequence[AnswerNode]) -> list[AnswerNode]:
    """Return the best node of each distinct answer, best first."""
    answering = best_first(nodes)
    return [answering[group[0]] for group in sorted(_grouped(asked, calls, answering))]


def doubted_refusal(nodes: Sequence[AnswerNode]) -> AnswerNode | None:
    """Return a node that gives an answer which its own samples held back, the best of all nodes; None without one.

    One sample may answer where most abstain, and a sample may abstain and write the answer next to it.
    """
    found: list[tuple[tuple[bool, float], AnswerNode]] = []
    for node in nodes:
        for one in node.votes:
            parsed = [(index, node.draw.parsed[index]) for index in one.members]
            for index, sample in parsed:
                if sample is not None and (sample.sufficient or sample.withheld):
                    found.append(((sample.sufficient, one.score), _giving(node, one, index, sample)))
                    break
    return max(found, key=lambda each: each[0])[1] if found else None


def _giving(node: AnswerNode, vote: AnswerVote, index: int, sample: ParsedAnswer) -> AnswerNode:
    """Return the node as if only this sample had voted."""
    given = replace(sample, text=sample.withheld or sample.text, sufficient=True, withheld="")
    parsed = [given if place == index else one for place, one in enumerate(node.draw.parsed)]
    alone = replace(vote, representative=index, members=(index,))
    return replace(node, draw=replace(node.draw, parsed=parsed), votes=(alone,))


def _agree(asked: Asked, calls: Calls, left: AnswerNode, right: AnswerNode) -> bool:
    """Whether two nodes give one answer."""
    return len(_grouped(asked, calls, [left, right])) == 1


def _grouped(asked: Asked, calls: Calls, nodes: Sequence[AnswerNode]) -> list[tuple[int, ...]]:
    answers, models = [node.answer for node in nodes], asked.models
    thresholds = models.calibration.thresholds
    return group_answers(
        answers, models.similarity, thresholds, calls.meter, asked.question.question, entailer=asked.entailer
    )


def _without_look(rivals: Sequence[AnswerNode]) -> Verdict | None:
    """Return the verdict without a look: the best rival."""
    if not rivals:
        return None
    best = rivals[0]
    margin = best.score - (rivals[1].score if len(rivals) > 1 else 0.0)
    return Verdict(best, best.score, margin, best)


def _weigh(asked: Asked, calls: Calls, rivals: Sequence[AnswerNode], checked: Sequence[AnswerNode]) -> Verdict | None:
    """Return the verdict after a look; None if the look decides nothing.

    The best looking node's answer is taken. With settings.tree.adaptive an answer that no SA node gave must also have a
    higher S than the best rival; preset `paper` takes it in any case (AVA, section 5.3).
    """
    looks = best_rivals(asked, calls, checked)
    if not looks:
        return None
    best = looks[0]
    agreeing = next((rival for rival in rivals if _agree(asked, calls, rival, best)), None)
    if agreeing is None and asked.settings.tree.adaptive and rivals and rivals[0].score > best.score:
        return None
    score = max(best.score, agreeing.score if agreeing else 0.0)
    others = [node.score for node in looks[1:]]
    if not others:
        others = [node.score for node in rivals if node is not agreeing]
    # An inspection names the frames it rests on; a frame check only sees, and the agreeing node says which events.
    source = best if best.seen else agreeing
    return Verdict(best, score, max(0.0, score - max(others, default=0.0)), source)


# --- confidence ---------------------------------------------------------------------------------------------------

Head = Literal["support", "votes", "sample"]
"""How an answer was drawn from what was shown: by the support of each choice, by votes or by a single sample."""

CONTRADICTED_MOST = 0.5
"""Maximum confidence of an answer with a statement that its evidence contradicts, whatever its votes say."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What distinguishes right answers from wrong ones, each in 0..1.

    score: S of the answer, or its total with the events' support. margin: over the best other answer. similarity: of
    the strongest retrieval hit. support: the answer's share of the events' support (choices.support), None if the
    support was not computed. supported, contradicted: shares of the answer's statements that the cited evidence
    supports and contradicts, before any revision; None if none was judged.
    """

    score: float
    margin: float
    similarity: float
    support: float | None = None
    supported: float | None = None
    contradicted: float | None = None

    def named(self) -> dict[str, float]:
        """Return the signals that were computed, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def unconfirmed(gate: float, similarity: float) -> Signals:
    """Return the signals of an answer that a single sample gave. gate: S from which an answer is no longer in doubt.

    A lone sample agrees with itself, and no trace can agree with its own, so its S would be the trade-off of eq. 6,
    whatever it says. Nothing confirms it and nothing speaks against it: it stands at the gate, and half of what counts
    for it might have counted for another answer.
    """
    return Signals(gate, gate / 2, similarity)


def confidence(signals: Signals, calibration: Calibration, head: Head | None = None) -> float | None:
    """Return the chance that the answer is right, as it was measured on answers of this head by these models.

    head: by default support if the signals have it, else votes. None if nothing was measured. An answer with a
    contradicted statement is never surer than CONTRADICTED_MOST.
    """
    fit = calibration.confidence_of(head or ("votes" if signals.support is None else "support"))
    if fit is None:
        return None
    values: Mapping[str, float] = signals.named()
    weighted = sum(weight * values.get(name, 0.0) for name, weight in fit.value.weights().items())
    sure = 1.0 / (1.0 + math.exp(-(fit.value.bias + weighted)))
    return min(sure, CONTRADICTED_MOST) if signals.contradicted else sure
