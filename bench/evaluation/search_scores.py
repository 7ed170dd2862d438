"""Scores of searches: fits the curves of gpu_workers/engine/retrieval/score_curves.json, and measures how they hold.

    python -m bench.evaluation.search_scores ../shared/data [--write] [--videos 300]

DATA: a folder with text/activitynet*.json and with the recordings of search_queries.json in video/. The text embedder
is that of the environment (TEXT_EMBEDDER_MODEL). Curves are fitted on the first half of the queries and everything
printed is of the second half. --write puts the curves into the file, under the names of the embedders.

Written descriptions: each sentence of ActivityNet's second annotator, with the event of the first annotator that
covers the same time (intersection over union of at least 0.5), and with the best event of another video. Measured
descriptions and frames: each query of search_queries.json with each recording. Queries that fit and queries that do not
weigh the same, so a score is the chance where half of all searches have something to find.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from sklearn.linear_model import LogisticRegression

from bench.evaluation.cached_calls import CachedTextEmbedder, CallCache
from bench.evaluation.datasets import Sentence, annotated_videos
from bench.evaluation.halves import half_of
from bench.evaluation.statistics import auroc
from bench.evaluation.videos.engine import VideoIndexes
from gpu_workers.engine.ekg import Event, EventRecord, Span, Vector, stable_id
from gpu_workers.engine.indexing.assembly import embedded_text
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.bindings import frame_embedder, load_index_models, text_embedder
from gpu_workers.engine.models.calibration import EMBEDDED_TEXT_EMBEDDER
from gpu_workers.engine.models.model_table import find_model
from gpu_workers.engine.models.roles import FrameEmbedder, Meter, TextEmbedder
from gpu_workers.engine.models.settings import MINILM, ModelSettings, RoleSettings
from gpu_workers.engine.retrieval.find_events import FindSettings, QueryVectors, embed_search, find_events
from gpu_workers.engine.retrieval.scored_search import MOST_PARTS, score_events, scoring_of
from gpu_workers.engine.retrieval.scores import CURVES, KINDS, USUAL_MINUTES, Kind, curves, evidence

QUERIES = Path(__file__).with_name("search_queries.json")
LEAST_OVERLAP = 0.5
LIMIT = 16
LEAST = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Minimum scores that the report compares."""
COMMAND = "python -m bench.evaluation.search_scores DATA --write"
SOURCES: Mapping[Kind, str] = {
    "description": "ActivityNet Captions, development half: sentences of one annotator over those of the other",
    "measurement": "eight recordings and the queries of bench/evaluation/search_queries.json",
    "frame": "eight recordings and the queries of bench/evaluation/search_queries.json",
    "words": "ActivityNet Captions, development half: sentences of one annotator over those of the other",
    "name": "eight recordings and the queries of bench/evaluation/search_queries.json",
}

Best = dict[Kind, float]
"""The highest similarity of each kind in one search."""


@dataclass(frozen=True, slots=True)
class Searched:
    """One search of one scope. fits: whether the scope shows what was searched for. best: of the event that fits, or
    of any event if none does. score: of the best result."""

    query: str
    language: str
    fits: bool
    best: Best
    score: float
    minutes: float = USUAL_MINUTES

    @property
    def half(self) -> str:
        return half_of(self.query)


class Searcher:
    """Searches like the product, with one binding of embedders."""

    def __init__(self, text: TextEmbedder, frames: FrameEmbedder) -> None:
        self._text, self._frames = text, frames
        self._vectors: dict[tuple[str, bool], QueryVectors] = {}

    def search(
        self, graph: InMemoryGraph, query: str, *, key: str, language: str, fits: bool, event: UUID | None = None,
        frames: bool = True,
    ) -> Searched:  # fmt: skip
        """Search a graph. key: what halves are made of. event: the event whose evidence counts; the best if None."""
        views = {} if frames else {"frame": 0.0}
        settings = FindSettings.of("hybrid", limit=LIMIT, weights=views)
        vectors = self._vectors_of(query, settings, frames)
        ranking = find_events(graph, query, settings, vectors)
        events = graph.load_events([found.event_id for found in ranking])
        minutes = sum(span.duration_ms for span in graph.extents().values()) / 60_000
        scoring = scoring_of(
            query, settings, text_embedder=self._text.name, frame_embedder=self._frames.name, minutes=minutes
        )
        scored = score_events(graph, ranking, events, vectors, scoring)
        near = graph.similarities(list(events), text=vectors.text, frame=vectors.frame, limit=MOST_PARTS)
        best: Best = {}
        for found in scored:
            if event is None or found.ranked.event_id == event:
                measured = any(chunk.facts for chunk in events[found.ranked.event_id].chunks)
                own = near.get(found.ranked.event_id)
                for kind, value in evidence(own, found.ranked.reasons, measured=measured):
                    best[kind] = max(value, best.get(kind, -1.0))
        of_event = [found.score for found in scored if event is None or found.ranked.event_id == event]
        return Searched(key, language, fits, best, max(of_event, default=0.0), minutes)

    def _vectors_of(self, query: str, settings: FindSettings, frames: bool) -> QueryVectors:
        if (query, frames) not in self._vectors:
            self._vectors[query, frames] = embed_search(
                query, settings, text_embedder=self._text, frame_embedder=self._frames, meter=Meter()
            )
        return self._vectors[query, frames]

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return list(self._text.embed(texts, meter=Meter()))


def described(
    searcher: Searcher, people: Mapping[str, MemoryVideo], queries: Mapping[str, Sequence[Sentence]]
) -> list[Searched]:
    """Return searches of single videos that people described: each query in its own video, and in another one."""
    graphs = {name: InMemoryGraph([video]) for name, video in people.items()}
    random_video = random.Random(1)
    made = []
    for name, video in people.items():
        for sentence in queries[name]:
            overlaps = [_overlap(sentence.span, record.event.span) for record in video.events]
            nearest = int(np.argmax(overlaps))
            if overlaps[nearest] < LEAST_OVERLAP:
                continue
            searches: dict[str, Any] = {"key": name, "language": "en", "frames": False}
            event_id = video.events[nearest].event.id
            made.append(searcher.search(graphs[name], sentence.text, fits=True, event=event_id, **searches))
            other = random_video.choice([one for one in people if one != name])
            made.append(searcher.search(graphs[other], sentence.text, fits=False, **searches))
    return made


def _overlap(one: Span, other: Span) -> float:
    shared = min(one.end_ms, other.end_ms) - max(one.start_ms, other.start_ms)
    return shared / (max(one.end_ms, other.end_ms) - min(one.start_ms, other.start_ms))


def _described_video(searcher: Searcher, name: str, sentences: Sequence[Sentence]) -> MemoryVideo:
    video = stable_id("evaluation", name)
    vectors = searcher.embed([sentence.text for sentence in sentences])
    events = [
        Event(stable_id("event", video, n), n, sentence.span, n, n + 1, sentence.text, vector)
        for n, (sentence, vector) in enumerate(zip(sentences, vectors, strict=True))
    ]
    return MemoryVideo(video, [EventRecord(event, (), (), ()) for event in events])


def recorded(searcher: Searcher, recordings: Mapping[str, MemoryVideo], asked: Mapping[str, Any]) -> list[Searched]:
    """Return searches of single recordings, in every language that a query has."""
    graphs = {name: InMemoryGraph([video]) for name, video in recordings.items()}
    made = []
    for row in asked["queries"]:
        for language in ("en", "de", "es"):
            text = row["text"] if language == "en" else row.get(language)
            for name, graph in graphs.items():
                if text and name not in row.get("maybe", ()):
                    fits = name in row["fits"]
                    made.append(searcher.search(graph, text, key=row["text"], language=language, fits=fits))
    return made


def fitted(kind: Kind, searches: Sequence[Searched]) -> dict[str, Any] | None:
    """Return the curve of one kind; None if the searches have too little of it. Both outcomes weigh the same."""
    pairs = [(one.best[kind], one.fits) for one in searches if kind in one.best]
    right = [fits for _, fits in pairs]
    if min(sum(right), len(right) - sum(right)) < 8:
        return None
    model = LogisticRegression(C=100.0, class_weight="balanced")
    model.fit(np.asarray([[value] for value, _ in pairs]), right)
    return {"slope": round(float(model.coef_[0][0]), 3), "offset": round(float(model.intercept_[0]), 3)}


def fitted_growth(of_people: Sequence[Searched], nonsense: Sequence[Searched]) -> float:
    """Return by how much the log-odds of a description fall for each e-fold of the scope's length.

    Descriptions that fit weigh as much as the best ones for nonsense in scopes of many lengths.
    """
    fitting = [one.best["description"] for one in of_people if one.fits and "description" in one.best]
    sizes = [float(np.log(one.minutes / USUAL_MINUTES)) for one in nonsense]
    # A description fits just as well in a long scope, so those that fit stand at every length.
    rows = [(value, size) for value in fitting for size in sorted(set(sizes))[:: len(set(sizes)) // 8 or 1]]
    wrong = [(one.best.get("description", 0.0), size) for one, size in zip(nonsense, sizes, strict=True)]
    model = LogisticRegression(C=100.0, class_weight="balanced")
    model.fit(np.asarray(rows + wrong), [True] * len(rows) + [False] * len(wrong))
    alone = LogisticRegression(C=100.0, class_weight="balanced")
    pairs = [(one.best["description"], one.fits) for one in of_people if "description" in one.best]
    alone.fit(np.asarray([[value] for value, _ in pairs]), [fits for _, fits in pairs])
    return round(float(-model.coef_[0][1] / model.coef_[0][0] * alone.coef_[0][0]), 3)


def figures(searches: Sequence[Searched]) -> dict[str, Any]:
    """Return how the scores hold: AUROC, and at several minimum scores what is found, empty and right.

    score_n_mean_share: for each fifth of the scores their number, their mean and the share that fits. Searches that fit
    weigh as much in this share, and in precision, as those that do not.
    """
    fits = [one.fits for one in searches]
    positive = [one.score for one in searches if one.fits]
    negative = [one.score for one in searches if not one.fits]
    result: dict[str, Any] = {"n": len(searches), "fit": len(positive)}
    if positive and negative:
        result["auroc"] = round(auroc([one.score for one in searches], fits) or 0.0, 3)
        result["score_n_mean_share"] = [
            [low / 5, len(right) + len(wrong), round(float(np.mean(right + wrong)), 2), round(_share(
                len(right) / len(positive), len(wrong) / len(negative)), 2)]
            for low in range(5)
            for right, wrong in [(_fifth(positive, low), _fifth(negative, low))]
            if right or wrong
        ]  # fmt: skip
    for least in LEAST:
        found = [float(np.mean([score >= least for score in scores])) for scores in (positive, negative) if scores]
        figure = {} if not negative else {"empty": round(1 - found[-1], 3)}
        if positive and negative:
            figure |= {"recall": round(found[0], 3), "precision": round(_share(*found), 3)}
        result[f"at {least}"] = figure
    return result


def _fifth(scores: Sequence[float], low: int) -> list[float]:
    return [score for score in scores if min(int(5 * score), 4) == low]


def _share(right: float, wrong: float) -> float:
    return right / (right + wrong) if right + wrong else 0.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--videos", type=int, default=300, help="described videos")
    parser.add_argument("--write", action="store_true", help="fit, and write score_curves.json")
    options = parser.parse_args(arguments)
    settings = ModelSettings.from_env()
    cache = CallCache(weights.cache_dir() / "evaluation" / "calls.sqlite")
    text, frames = CachedTextEmbedder(text_embedder(settings), cache), frame_embedder(settings)
    searcher = Searcher(text, frames)
    asked = json.loads(QUERIES.read_text(encoding="utf-8"))
    # The recordings are seen once; their texts are embedded again below.
    seeing = load_index_models(replace(settings, text_embedder=RoleSettings()))
    files = {name: options.data / "video" / f"{name}.mp4" for name in asked["recordings"]}
    indexes = VideoIndexes(files, seeing)
    recordings = {
        name: _embedded(searcher, indexes.index(name, profile=profile).video())
        for name, profile in asked["recordings"].items()
    }
    annotated = annotated_videos(options.data / "text", options.videos)
    people = {name: _described_video(searcher, name, first) for name, first, _ in annotated}
    queries = {name: second for name, _, second in annotated}

    def run() -> tuple[list[Searched], list[Searched]]:
        return described(searcher, people, queries), recorded(searcher, recordings, asked)

    of_people, of_recordings = run()
    if options.write:
        first = [one for one in of_people if one.half == "first"]
        growth = fitted_growth(first, _nonsense(searcher, people, asked))
        heard = [one for one in of_recordings if one.half == "first"]
        row = find_model(settings.text_embedder.model or MINILM)
        languages = row.languages if row is not None else ("en",)
        _write(first, heard, growth, text=text.name, frames=frames.name, languages=languages)
        curves.cache_clear()
        of_people, of_recordings = run()
    report = {"text": text.name, "frames": frames.name, "descriptions": figures(_second(of_people))}
    for language in ("en", "de", "es"):
        report[f"recordings, {language}"] = figures([one for one in _second(of_recordings) if one.language == language])
    scopes = {
        "each recording": [InMemoryGraph([video]) for video in recordings.values()],
        "all recordings": [InMemoryGraph(recordings.values())],
        f"{len(people)} described videos": [InMemoryGraph(people.values())],
    }
    for scope, graphs in scopes.items():
        found = [
            searcher.search(graph, query, key=query, language="en", fits=False, frames="described" not in scope)
            for graph in graphs
            for query in asked["nonsense"]
            if half_of(query) == "second"
        ]
        worst = sorted(((one.score, one.query) for one in found), reverse=True)[:5]
        report[f"nonsense in {scope}"] = figures(found) | {"worst": worst}
    print(json.dumps(report, indent=1, ensure_ascii=False))


def _second(searches: Sequence[Searched]) -> list[Searched]:
    return [one for one in searches if one.half == "second"]


def _embedded(searcher: Searcher, video: MemoryVideo) -> MemoryVideo:
    """Return a recording's index with its descriptions and lines in the space of the searcher's text embedder."""
    chunks = {chunk.n: chunk for chunk in video.chunks}
    texts = []
    for record in video.events:
        event = record.event
        texts.append(
            embedded_text(event.summary, [chunks[n] for n in range(event.first_chunk, event.end_chunk) if n in chunks])
        )
    rows = searcher.embed(texts)
    events = [
        replace(record, event=replace(record.event, embedding=row))
        for record, row in zip(video.events, rows, strict=True)
    ]
    lines = [line for chunk in video.chunks for line in chunk.transcript]
    spoken = dict(zip([line.text for line in lines], searcher.embed([line.text for line in lines]), strict=True))
    return replace(
        video,
        events=events,
        chunks=[
            replace(chunk, transcript=tuple(replace(line, embedding=spoken[line.text]) for line in chunk.transcript))
            for chunk in video.chunks
        ],
    )


def _nonsense(searcher: Searcher, people: Mapping[str, MemoryVideo], asked: Mapping[str, Any]) -> list[Searched]:
    """Return searches for the first half of the nonsense in scopes of 1 to 128 videos of the first half."""
    drawn = random.Random(2)
    names = [name for name in people if half_of(name) == "first"]
    return [
        searcher.search(graph, query, key=query, language="en", fits=False, frames=False)
        for size in (1, 1, 1, 1, 4, 4, 4, 16, 16, 64, 128)
        for graph in [InMemoryGraph(people[name] for name in drawn.sample(names, min(size, len(names))))]
        for query in asked["nonsense"]
        if half_of(query) == "first"
    ]


def _write(
    of_people: Sequence[Searched],
    of_recordings: Sequence[Searched],
    growth: float,
    *,
    text: str,
    frames: str,
    languages: Sequence[str],
) -> None:
    """Put the curves of every kind, fitted on the first half, into the file.

    languages: that the text embedder knows; empty for all. What does not depend on it (frames, words, names) is fitted
    with the embedded one. There are no labelled searches of speech: lines share the
    curve of descriptions. growth was fitted to descriptions.
    """
    table = json.loads(CURVES.read_text(encoding="utf-8"))["curves"]
    by_source: Mapping[Kind, Sequence[Searched]] = {
        "description": of_people, "words": of_people, "measurement": of_recordings, "frame": of_recordings,
        "name": of_recordings,
    }  # fmt: skip
    names = {"frame": frames, "words": "", "name": ""}
    for kind, searches in by_source.items():
        known = [one for one in searches if one.language == "en" or not languages or one.language in languages]
        curve = fitted(kind, [one for one in known if kind == "measurement" or one.language == "en"])
        if curve is not None:
            of_letters = kind in ("words", "name")
            row = {
                **curve, "growth": 0.0 if of_letters else growth,
                "languages": [] if of_letters else ["en"] if kind == "frame" else list(languages),
                "data": SOURCES[kind], "command": COMMAND,
            }  # fmt: skip
            if kind not in names or text == EMBEDDED_TEXT_EMBEDDER:
                table.setdefault(kind, {})[names.get(kind, text)] = row
            if kind == "description":
                table.setdefault("speech", {})[text] = {**row, "data": f"{row['data']}; not measured on speech"}
    ordered = {kind: dict(sorted(table[kind].items())) for kind in KINDS if kind in table}
    CURVES.write_text(json.dumps({"curves": ordered}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
