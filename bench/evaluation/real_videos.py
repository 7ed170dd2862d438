"""`make eval-videos`: open questions about real recordings through answering methods, for a person to judge.

    make eval-videos DATA=../shared/data/video OUT=answers METHODS=ava,videoagent PARTS=first,second

DATA: the folder with the files that real_questions.PROFILES names. OUT gets <method>.json with answers and citations,
the cited frames as JPEG, and unjudged.json with what nobody has judged yet, in the form of real_verdicts.json. A
stopped run goes on where it was. Prints for each method and part right, wrong and abstained by the verdicts so far,
how many of the citations marked supported do support their answer, and what the method cost.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

from tqdm import tqdm

from bench.evaluation.cached_calls import CachedChat, CachedTextEmbedder, CallCache
from bench.evaluation.models import answering_models
from bench.evaluation.real_questions import PROFILES, QUESTIONS, Part, Verdict, plain, read_verdicts, supports, verdict
from docs.examples.index_a_file import index_file
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import EFFORTS, Answer, Effort, QuestionInput
from gpu_workers.engine.answering.methods import METHODS
from gpu_workers.engine.ekg import Chunk, Event, LinkedMention, ObjectState, Topic
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.bindings import load_index_models
from gpu_workers.engine.models.observer.checker import ObserverChecker
from gpu_workers.engine.models.roles import AnswerModels, IndexModels, Meter
from gpu_workers.engine.models.settings import ModelSettings

FORM = 1
"""Raised if the same file gives another index."""

Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--methods", default=",".join(METHODS), help="names, separated by commas")
    parser.add_argument("--effort", default="low", choices=EFFORTS)
    parser.add_argument("--parts", default="first", help="parts of the questions, separated by commas")
    options = parser.parse_args(arguments)
    methods = [name for name in options.methods.split(",") if name]
    if unknown := sorted(set(methods) - set(METHODS)):
        parser.error(f"no method {', '.join(unknown)}; there are {', '.join(METHODS)}")
    parts = [part for part in QUESTIONS if part in options.parts.split(",")]
    if unknown := sorted(set(options.parts.split(",")) - set(QUESTIONS)):
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(QUESTIONS)}")
    options.out.mkdir(parents=True, exist_ok=True)
    with _models() as (settings, models):
        graphs = _graphs(options.data, load_index_models(settings))
        for method in methods:
            _ask_all(method, parts, options.effort, graphs, models, options.out)
    print(table(options.out, methods, parts))


def table(out: Path, methods: Sequence[str], parts: Sequence[Part]) -> str:
    """Return a line per method and part, and write what has no verdict to unjudged.json."""
    judged = read_verdicts()
    lines = [
        "method           part   "
        + " ".join(f"{kind:>9}" for kind in get_args(Verdict))
        + "   calls  tokens  seconds   supported citations that support"
    ]
    open_answers: dict[str, Any] = {}
    open_citations: dict[str, Any] = {}
    for method in methods:
        stored: list[Row] = json.loads(_answers(out, method).read_text())
        for part in parts:
            rows = [row for row in stored if row["question"] in QUESTIONS[part].get(row["video"], ())]
            counts: Counter[str] = Counter()
            citations: Counter[bool | None] = Counter()
            for row in rows:
                where = (row["video"], row["question"], row["answer"])
                kind = verdict(*where, row["finish_reason"], judged)
                counts[kind] += 1
                if kind == "unjudged":
                    _place(open_answers, row["video"], row["question"])[plain(row["answer"])] = ""
                for span in (_span(cited) for cited in row["citations"] if cited["status"] == "supported"):
                    said = supports(*where, span, judged)
                    citations[said] += 1
                    if said is None:
                        _place(open_citations, row["video"], row["question"], plain(row["answer"]))[span] = None
            cost = [sum(row[name] for row in rows) / max(1, len(rows)) for name in ("calls", "tokens", "seconds")]
            lines.append(
                f"{method:<16} {part:<6} "
                + " ".join(f"{counts[kind]:>9}" for kind in get_args(Verdict))
                + f" {cost[0]:>7.1f} {cost[1]:>7.0f} {cost[2]:>8.1f}"
                + f"   {citations[True]} of {citations[True] + citations[False]}, {citations[None]} unjudged"
            )
    unjudged = {"answers": open_answers, "citations": open_citations}
    (out / "unjudged.json").write_text(json.dumps(unjudged, indent=1, ensure_ascii=False) + "\n")
    return "\n".join(lines)


def _span(citation: Row) -> str:
    """Return the name of a citation among those of one answer: its seconds."""
    start, end = citation["seconds"]
    return f"{start:g}-{end:g}"


def _place(tree: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        tree = tree.setdefault(name, {})
    return tree


@contextmanager
def _models() -> Iterator[tuple[ModelSettings, AnswerModels]]:
    """Yield the models of the environment; the same call of the reasoner is made once."""
    cache = CallCache(weights.cache_dir() / "evaluation" / "calls.sqlite")
    with answering_models() as (settings, models):
        chat = CachedChat(models.reasoner, cache)
        embedder = CachedTextEmbedder(models.text_embedder, cache)
        measured = isinstance(models.checker, ObserverChecker)
        checker = ObserverChecker(chat) if measured else models.checker
        yield settings, replace(models, reasoner=chat, text_embedder=embedder, checker=checker)


def _graphs(data: Path, seeing: IndexModels) -> dict[str, InMemoryGraph]:
    graphs = {}
    with tqdm(PROFILES.items(), unit="video") as bar:
        for name, profile in bar:
            bar.set_description(f"indexing {name}")
            graphs[name] = _indexed(data / f"{name}.mp4", seeing, profile).graph()
    return graphs


def _indexed(path: Path, seeing: IndexModels, profile: str) -> MemoryIndex:
    """Return the index of a file, kept under a name that covers the file, the models and the shape of what is kept."""
    names = (seeing.describer.name, seeing.text_embedder.name, seeing.frame_embedder.name, seeing.similarity.name)
    shapes = [[field.name for field in fields(kind)] for kind in (Chunk, Event, LinkedMention, ObjectState, Topic)]
    digest = hashlib.sha256(repr((FORM, shapes, path.read_bytes(), profile, names)).encode())
    kept = weights.cache_dir() / "evaluation" / "videos" / f"{path.stem}-{digest.hexdigest()[:20]}.pickle"
    if kept.exists():
        cached: MemoryIndex = pickle.loads(kept.read_bytes())  # noqa: S301 - written by this function
        return cached
    index = index_file(path, seeing, profile=profile, meter=Meter())
    kept.parent.mkdir(parents=True, exist_ok=True)
    partial = kept.with_suffix(".part")
    partial.write_bytes(pickle.dumps(index))
    partial.replace(kept)
    return index


def _ask_all(
    method: str,
    parts: Sequence[Part],
    effort: Effort,
    graphs: dict[str, InMemoryGraph],
    models: AnswerModels,
    out: Path,
) -> None:
    """Ask every question of the parts that the method's file does not hold yet."""
    path = _answers(out, method)
    rows: list[Row] = json.loads(path.read_text()) if path.exists() else []
    done = {(row["video"], row["question"], row["effort"]) for row in rows}
    asked = [(name, text) for part in parts for name, texts in QUESTIONS[part].items() for text in texts]
    for name, text in tqdm(asked, desc=method, unit="question"):
        if (name, text, effort) in done:
            continue
        question = QuestionInput(text, profile=PROFILES[name], method=method, effort=effort)
        answer = answer_question(question, graphs[name], models)
        rows.append(_row(name, question, answer, graphs[name], out))
        path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def _answers(out: Path, method: str) -> Path:
    return out / f"{method}.json"


def _row(name: str, question: QuestionInput, answer: Answer, graph: InMemoryGraph, out: Path) -> Row:
    events = graph.load_events([citation.event_id for citation in answer.citations])
    calls = [call for call in answer.usage.calls if call.completion_tokens]
    return {
        "video": name,
        "question": question.question,
        "effort": question.effort,
        "answer": answer.text,
        "finish_reason": answer.finish_reason,
        "detail": answer.detail,
        "degraded": list(answer.degraded),
        "confidence": None if answer.confidence is None else round(answer.confidence, 3),
        "calls": len(calls),
        "tokens": sum(call.prompt_tokens + call.completion_tokens for call in calls),
        "seconds": round(sum(call.wall_ms for call in answer.usage.calls) / 1000, 1),
        "citations": [
            {
                "seconds": [citation.start_ms / 1000, citation.end_ms / 1000],
                "status": citation.status,
                "quote": citation.quote,
                "event": events[citation.event_id].summary,
                "frame": _frame(name, citation.event_id, citation.frame_ms, graph, out),
            }
            for citation in answer.citations
        ],
    }


def _frame(name: str, event_id: UUID, ms: int | None, graph: InMemoryGraph, out: Path) -> str | None:
    for frame in graph.frames_of([event_id], limit=10_000):
        if frame.ms == ms:
            path = out / f"{name}-{ms}.jpg"
            path.write_bytes(graph.jpeg(frame))
            return path.name
    return None


if __name__ == "__main__":
    main()
