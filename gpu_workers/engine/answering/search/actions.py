"""The moves between states of the search tree: root, F, B and RQ (AVA, section 5.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import event_context, event_text
from gpu_workers.engine.answering.wording import as_data, choice_lines, search_line
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.models.served.structured import read_object
from gpu_workers.engine.ports import Hit
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.fusion import RankedEvent, ranked, reranked
from gpu_workers.engine.retrieval.tri_view import (
    Retrieved,
    ViewQueries,
    read_queries,
    requery_schema,
    retrieve,
    rewrite_schema,
)

NEIGHBOUR_SHARE = 0.9
"""Share of its source's score that a neighbour gets: it ranks below the source and above the next events, so that both
survive the cap. The paper ranks by section 5.1 only, which says nothing about events that no view found."""

SUB_QUERY_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class State:
    """A state of the tree. path: actions taken, "" at the root. events: best first, at most settings.tree.event_cap.
    top_similarity: strongest retrieval hit on the way. failed: code of a model error the state was made without."""

    path: str
    events: tuple[RankedEvent, ...]
    sub_queries: tuple[str, ...] = ()
    top_similarity: float = 0.0
    failed: str = ""

    @property
    def depth(self) -> int:
        return self.path.count("/") + 1 if self.path else 0

    def after(self, action: str) -> str:
        return f"{self.path}/{action}" if self.path else action


@dataclass(frozen=True, slots=True)
class Requery:
    """A new search of action RQ; queries is None when the call failed (code in failed)."""

    sub_query: str = ""
    queries: ViewQueries | None = None
    failed: str = ""
    halt: Halt | None = None


def root_state(asked: Asked, calls: Calls) -> State:
    """Retrieve for the question; after a failed rewrite, by its own words, and after a failed reranker, in the order of
    the views. Raises ModelError of an embedder."""
    text = asked.query
    words = asked.understood.words
    queries = ViewQueries(words.events or text, words.entity or text, words.scene or asked.frame_query)
    failed = ""
    if asked.settings.retrieval.rewriting and not words.events:
        try:
            queries = _rewrite(asked, calls, fallback=text)
        except Halt as halt:
            calls.halt(halt)
        except ModelError as error:
            failed = error.code
    retrieved = _retrieve(asked, calls, queries)
    ranking: Sequence[RankedEvent] = retrieved.ranking
    try:
        ranking = _reranked(asked, calls, ranking, text)
    except ModelError as error:
        failed = failed or error.code
    try:
        ranking = _over_videos(asked, calls, ranking, queries)
    except ModelError as error:
        failed = failed or error.code
    events = tuple(_with_stretch(asked, ranking)[: asked.settings.tree.event_cap])
    return State("", events, top_similarity=retrieved.top_similarity, failed=failed)


def _over_videos(
    asked: Asked, calls: Calls, ranking: Sequence[RankedEvent], queries: ViewQueries
) -> Sequence[RankedEvent]:
    """Return the ranking with events of each video that the question compares. Raises ModelError of an embedder."""
    shown = math.ceil(asked.settings.prompt.sa_ratio * asked.settings.tree.event_cap)
    extents = asked.graph.extents() if len(asked.recordings) > 1 else {}

    def find(video_id: UUID) -> Sequence[RankedEvent]:
        span = extents.get(video_id)
        return () if span is None else _retrieve(narrow({video_id: span}), calls, queries).ranking

    def narrow(spans: Mapping[UUID, Span]) -> Asked:
        return replace(asked, graph=asked.graph.narrowed(spans))

    def videos_of(event_ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
        return {event_id: event.video_id for event_id, event in asked.graph.load_events(event_ids).items()}

    return over_videos(asked, ranking, shown=shown, videos_of=videos_of, find=find)


def _with_stretch(asked: Asked, ranking: Sequence[RankedEvent]) -> Sequence[RankedEvent]:
    """Return the ranking, followed by the other events of the time that the question names if all of them fit: what
    happened then may be like nothing that the question says."""
    time, most = asked.understood.time, asked.settings.tree.event_cap
    if time is None or not time.spans:
        return ranking
    places = asked.graph.timeline(limit=most + 1)
    if len(places) > most:
        return ranking
    known = {event.event_id for event in ranking}
    lowest = min((event.score for event in ranking), default=1.0)
    others = (place.event_id for place in places if place.event_id not in known)
    return [*ranking, *(RankedEvent(event_id, lowest / 2) for event_id in others)]


def _reranked(asked: Asked, calls: Calls, ranking: Sequence[RankedEvent], text: str) -> Sequence[RankedEvent]:
    """Return the ranking after a reranker, if one is served and the effort asks for it. Raises ModelError."""
    reranker, head = asked.models.reranker, ranking[: asked.settings.retrieval.rerank]
    if reranker is None or not head:
        return ranking
    events = asked.graph.load_events([event.event_id for event in head])
    if any(event.event_id not in events for event in head):
        return ranking
    return reranked(ranking, text, [event_text(events[event.event_id]) for event in head], reranker, meter=calls.meter)


def step_forward(asked: Asked, state: State) -> State:
    """Add the next event of each listed one (action F)."""
    return _step(asked, state, "F", "next")


def step_backward(asked: Asked, state: State) -> State:
    """Add the previous event of each listed one (action B)."""
    return _step(asked, state, "B", "previous")


STEPS: Mapping[str, Callable[[Asked, State], State]] = {"F": step_forward, "B": step_backward}
"""Actions that need no model call."""


def requery_task(asked: Asked, calls: Calls, state: State) -> Callable[[], Requery]:
    """Return the call for the reasoner's new search, ready to run in another thread: the graph is read here and now.

    The task makes one model call and raises neither Halt nor ModelError.
    """
    question = asked.question
    reasoner = asked.models.reasoner
    ids = [event.event_id for event in state.events]
    context = event_context(
        ids,
        asked.graph.load_events(ids),
        (),
        count_tokens=reasoner.count_tokens,
        max_tokens=min(asked.settings.tree.requery_tokens, asked.settings.prompt.context_tokens),
        all_in_brief=True,
    )
    name = "requery" if asked.settings.tree.requery_per_view else "requery_keywords"
    prompt = load(name, question.profile).substitute(
        events=context.text,
        question=question.question,
        choices=choice_lines(question.choices),
        searched="; ".join([question.question, *state.sub_queries]),
        language=search_line(asked.question_language),
    )
    return partial(_ask_requery, asked, calls, prompt, asked.seed_of(state.after("RQ")))


def requeried(asked: Asked, calls: Calls, state: State, requery: Requery) -> State:
    """Add the events that the new search finds (action RQ); scores of events found again are added up."""
    path = state.after("RQ")
    if requery.queries is None:
        return replace(state, path=path, failed=requery.failed)
    try:
        retrieved = _retrieve(asked, calls, requery.queries)
    except ModelError as error:
        return replace(state, path=path, failed=error.code)
    return State(
        path,
        _merged(state.events, retrieved.ranking, asked.settings.tree.event_cap),
        (*state.sub_queries, requery.sub_query),
        max(state.top_similarity, retrieved.top_similarity),
    )


def _ask_requery(asked: Asked, calls: Calls, prompt: str, seed: int) -> Requery:
    try:
        samples = calls.ask(
            [Message("user", (prompt,))],
            stage="requery",
            meter=calls.meter,
            schema=requery_schema(per_view=asked.settings.tree.requery_per_view),
            max_tokens=160,
            seed=seed,
        )
    except Halt as halt:
        return Requery(failed=halt.code, halt=halt)
    except ModelError as error:
        return Requery(failed=error.code)
    fields = read_object(samples[0].text)
    if fields is None:
        return Requery(failed="unreadable")
    query = (
        fields.get("sub_query") if asked.settings.tree.requery_per_view else read_queries(fields, fallback="").events
    )
    # The model has read text from the video: its words are only used as a search, cut to that length.
    sub_query = as_data(query)[:SUB_QUERY_CHARACTERS] if isinstance(query, str) else ""
    if not sub_query:
        return Requery(failed="unreadable")
    return Requery(sub_query, read_queries(fields, fallback=sub_query))


def _rewrite(asked: Asked, calls: Calls, *, fallback: str) -> ViewQueries:
    question = asked.question
    prompt = load("rewrite", question.profile).substitute(
        question=asked.searched,
        choices=choice_lines(question.choices),
        language=search_line(asked.question_language),
    )
    samples = calls.ask(
        [Message("user", (prompt,))],
        stage="rewrite",
        meter=calls.meter,
        schema=rewrite_schema(),
        max_tokens=160,
        seed=asked.seed_of("rewrite"),
    )
    fields = read_object(samples[0].text)
    if fields is None:
        raise ModelError("unreadable", "the rewritten queries are no JSON object", retryable=False)
    return read_queries(fields, fallback=fallback)


def _retrieve(asked: Asked, calls: Calls, queries: ViewQueries) -> Retrieved:
    return retrieve(
        asked.graph,
        queries,
        asked.settings.retrieval,
        text_embedder=asked.models.text_embedder,
        frame_embedder=asked.models.frame_embedder,
        meter=calls.meter,
        text=asked.searched,
        exact=asked.understood.quoted,
    )


def _step(asked: Asked, state: State, action: str, direction: str) -> State:
    keep = max(1, len(state.events) - math.floor(asked.settings.tree.drop_worst * len(state.events)))
    sources = state.events[:keep]
    ids = [event.event_id for event in sources]
    neighbours = asked.graph.next_events(ids) if direction == "next" else asked.graph.previous_events(ids)
    listed = set(ids)
    best: dict[UUID, RankedEvent] = {}
    for event in sources:
        neighbour = neighbours.get(event.event_id)
        if neighbour is None or neighbour in listed or neighbour in best:
            continue
        reason = Hit(neighbour, 0.0, direction, event.event_id)
        best[neighbour] = RankedEvent(neighbour, NEIGHBOUR_SHARE * event.score, (reason,))
    events = ranked([*sources, *best.values()])[: asked.settings.tree.event_cap]
    return replace(state, path=state.after(action), events=tuple(events), failed="")


def _merged(old: Sequence[RankedEvent], new: Sequence[RankedEvent], cap: int) -> tuple[RankedEvent, ...]:
    events = {event.event_id: event for event in old}
    for event in new:
        listed = events.get(event.event_id)
        events[event.event_id] = (
            event
            if listed is None
            else RankedEvent(event.event_id, listed.score + event.score, listed.reasons + event.reasons)
        )
    return tuple(ranked(events.values())[:cap])


# --- rankings over several videos ------------------------------------------------------------------------------------

MOST_VIDEOS = 6
"""Maximum number of videos that are compared: each gets two of the twelve events that an answer reads."""

MOST_EACH = 3
"""Maximum number of events of a video that move up in the ranking."""


def compared_videos(asked: Asked, ranked_videos: Sequence[UUID], *, most: int = MOST_VIDEOS) -> list[UUID]:
    """Return the videos that a question compares, the most relevant first, at most that many; none if it does not.

    ranked_videos: in the order of their best events.
    """
    several = asked.understood.comparison != "none" or len(asked.understood.videos) > 1
    if len(asked.recordings) < 2 or not several:
        return []
    known = [video_id for video_id in ranked_videos if video_id in asked.recordings]
    return list(dict.fromkeys([*known, *asked.recordings]))[:most]


def spread_over(
    ranking: Sequence[RankedEvent], video_of: Mapping[UUID, UUID], videos: Sequence[UUID], *, shown: int
) -> list[RankedEvent]:
    """Return the ranking with the best events of each of videos among its first shown.

    video_of: the video of each event. The n-th event keeps the n-th score, so that the order lasts in a later sort.
    """
    each = max(1, min(MOST_EACH, shown // max(1, 2 * len(videos))))
    first: list[RankedEvent] = []
    for video_id in videos:
        first += [event for event in ranking if video_of.get(event.event_id) == video_id][:each]
    lifted = {event.event_id for event in first[:shown]}
    free = shown - len(lifted)
    others = [event for event in ranking if event.event_id not in lifted]
    head = {event.event_id for event in others[: max(0, free)]} | lifted
    order = [event for event in ranking if event.event_id in head] + [e for e in ranking if e.event_id not in head]
    return [replace(event, score=place.score) for event, place in zip(order, ranking, strict=True)]


def over_videos(
    asked: Asked,
    ranking: Sequence[RankedEvent],
    *,
    shown: int,
    videos_of: Callable[[Sequence[UUID]], Mapping[UUID, UUID]],
    find: Callable[[UUID], Sequence[RankedEvent]],
) -> list[RankedEvent]:
    """Return the ranking for a question that compares videos, with events of each; other rankings as they are.

    videos_of: the videos of events. find: searches one video. It is asked only for videos that the ranking lacks.
    """
    if len(asked.recordings) < 2:
        return list(ranking)
    video_of = dict(videos_of([event.event_id for event in ranking]))
    in_order = list(dict.fromkeys(video_of[event.event_id] for event in ranking if event.event_id in video_of))
    videos = compared_videos(asked, in_order)
    if len(videos) < 2:
        return list(ranking)
    extended = list(ranking)
    lowest = min((event.score for event in ranking), default=1.0)
    for video_id in videos:
        if video_id not in in_order:
            found = [replace(event, score=min(event.score, lowest)) for event in find(video_id)[:MOST_EACH]]
            video_of |= {event.event_id: video_id for event in found}
            extended += found
    return spread_over(extended, video_of, videos, shown=shown)
