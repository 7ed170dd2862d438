"""`avp_lite`: plan looks, observe, reflect, over the whole scope (after Active Video Perception, arXiv 2512.05774, from
the paper's description only).

It begins with the overview and the events that fit the question, so that its looks need not search for them.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.agent.dossier import DOSSIER_PROMPTS, answer_from
from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.tools.searching import event_lines, show_overview
from gpu_workers.engine.answering.agent.trail import Trail
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer, NodeRecord, PartialAnswer
from gpu_workers.engine.answering.identity import OBSERVE_PROMPTS, QUESTION_PROMPTS
from gpu_workers.engine.answering.looking.rounds import look_in_rounds
from gpu_workers.engine.answering.method_settings import AVP_LITE, AvpSettings
from gpu_workers.engine.answering.methods.avp_lite.whole_scope import SCAN_PROMPTS, ScopeInspection
from gpu_workers.engine.answering.methods.contract import TypicalCalls
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.models.roles import ModelError
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.retrieval.tri_view import ViewQueries, retrieve

EVENTS = 16
"""Events that the first plan reads; an answer of `ava` reads as many."""

OBSERVE = "observe"


class AvpLite:
    name = "avp_lite"
    version = "3"
    description = "Plans where to look, looks at frames anywhere in the video, and goes on until what it saw is enough."
    needs: frozenset[Artifact] = frozenset({"events", "frames", "topics", "checker"})
    typical_calls: TypicalCalls = {"low": (4, 7), "medium": (4, 19), "high": (4, 31), "paper": (3, 18)}
    prompts = QUESTION_PROMPTS | OBSERVE_PROMPTS | DOSSIER_PROMPTS | SCAN_PROMPTS

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = AVP_LITE[asked.settings.effort]
        if asked.settings.effort == "paper":
            asked = replace(asked, settings=changed(asked.settings, check_samples=1))
        desk = Desk(asked, calls)
        trail = Trail(desk, total=2)
        rounds: list[NodeRecord] = []
        proposed: list[ParsedAnswer] = []
        error: ModelError | None = None
        try:
            if desk.extents:
                events, about = _begin(desk, trail)
                if {"frames", "checker"} <= desk.artifacts:
                    with calls.timed("search"):
                        rounds = _look(desk, settings, events, about, proposed, first=len(trail.records) + 1)
        except Halt as halt:
            calls.halt(halt)
        except ModelError as failure:
            error = failure
        return answer_from(
            desk,
            records=[*trail.records, *rounds],
            top_similarity=desk.top_similarity,
            needs=self.needs,
            proposed=proposed[-1] if proposed else None,
            error=error,
        )


def _begin(desk: Desk, trail: Trail) -> tuple[list[StoredEvent], str]:
    """Return the events that fit the question, best first, and the overview. Raises ModelError of an embedder."""
    asked = desk.asked
    with trail.step("overview") as step:
        about = show_overview(desk) if "topics" in desk.artifacts else ""
        step.observation, step.error = about, "" if about else "nothing_found"
    query = asked.query
    with trail.step("clip_search", query=query) as step:
        found = retrieve(
            asked.graph,
            ViewQueries.same(query),
            asked.settings.retrieval,
            text_embedder=asked.models.text_embedder,
            frame_embedder=asked.models.frame_embedder,
            meter=desk.meter,
        )
        desk.matched([found.top_similarity])
        events = desk.load(event.event_id for event in found.ranking[:EVENTS])
        step.events, step.error = events, "" if events else "nothing_found"
        in_time = sorted(events, key=lambda event: (event.video_id, event.span))
        step.observation = "\n".join(event_lines(desk, in_time, desk.observation_tokens))
    return events, about


def _look(
    desk: Desk,
    settings: AvpSettings,
    events: list[StoredEvent],
    about: str,
    proposed: list[ParsedAnswer],
    *,
    first: int,
) -> list[NodeRecord]:
    """Look in rounds; add the answer of each round that has one to proposed. Return the records of the rounds."""
    inspection = ScopeInspection.of(desk, events, about=about, looks=settings.looks)
    level = 0

    def take(node: AnswerNode) -> None:
        nonlocal level
        level += 1
        answer = node.answer
        if answer is not None and node.answers:
            proposed.append(answer)
            desk.calls.on_partial(
                PartialAnswer(answer.text, answer.choice, node.score, f"S{first + level - 1:02}", level)
            )

    _, records = look_in_rounds(desk.asked, desk.calls, inspection, rounds=settings.rounds, on_round=take)
    return [
        replace(
            record,
            path=f"S{number:02}",
            depth=1,
            action=OBSERVE,
            detail={
                "tool": OBSERVE,
                "arguments": {},
                "observation": "\n".join(record.seen),
                "forced": "",
                "error": record.error,
            },
        )
        for number, record in enumerate(records, start=first)
    ]
