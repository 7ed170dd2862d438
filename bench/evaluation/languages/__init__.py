"""Searches and answers in other languages: 100 queries of the ActivityNet tape, translated by hand, 25 per language.

queries.json holds the translations by the id of the tape's query; the English sentences and the events are the data
set's own. The queries were the first 100 of at most 14 words, in the order of first_items() for seed 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from bench.evaluation.asking import answers
from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import Tape, TapeQuery, UnreadableSet, first_items, read_tape
from bench.evaluation.models import unlimited_calls
from bench.evaluation.report import ItemResult, Run
from bench.evaluation.tape_arms import TAPE_RANKS, TAPE_RETRIEVAL, TapeArm
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.presets import settings_with
from gpu_workers.engine.answering.reading.restating import detect_language, translate
from gpu_workers.engine.languages.detection import language_of, may_be_in
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.roles import AnswerModels, Meter

QUERIES = Path(__file__).with_name("queries.json")
SEED = 0
"""Seed of the tape whose queries were translated."""

SEARCHING = ("english", "as_written", "translated", "detected")
ANSWERING = ("answered",)
LANGUAGE_ARMS = SEARCHING + ANSWERING
"""english: the data set's sentences, the reference. as_written: the translations, as they are. translated: their
translations into English by the reasoner. detected: whether the language of the translation is found. answered: whether
an open question about it is answered in its language."""

ASKS_NOBODY = ("english", "as_written", "detected")

QUESTION = {
    "de": "Wer macht das, und womit? {text}",
    "es": "¿Quién hace esto y con qué? {text}",
    "zh": "谁在做这件事，用什么做？{text}",
    "ar": "من يفعل هذا وبماذا؟ {text}",
}
"""An open question about a query, in its language."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A query of the tape in another language."""

    query: TapeQuery
    language: str
    text: str


def read_translations(tape: Tape) -> list[Translated]:
    """Return the translated queries in the file's order. Raises UnreadableSet if the tape lacks one."""
    queries = {query.id: query for query in tape.queries}
    rows = json.loads(QUERIES.read_text(encoding="utf-8"))
    missing = [name for name in rows if name not in queries]
    if missing:
        raise UnreadableSet(f"the tape has no query {missing[0]}: these are translations for seed {SEED}")
    return [Translated(queries[name], row["language"], row["text"]) for name, row in rows.items()]


def evaluated(
    arm: str, data: Path, models: AnswerModels, index: CaptionIndex, *, limit: int | None, workers: int = 1
) -> tuple[Run, list[ItemResult]]:
    """Return the results of an arm over the translated queries. Raises UnreadableSet."""
    tape = read_tape("activitynet", data, seed=SEED)
    translations = {one.query.id: one for one in read_translations(tape)}
    chosen = first_items([one.query for one in translations.values()], limit, seed=SEED)
    measure = "recall at IoU 0.5" if arm in ("english", "as_written", "translated") else "accuracy"
    reasoner = "" if arm in ASKS_NOBODY else models.reasoner.name
    run = Run("languages", arm, SEED, limit, reasoner, models.text_embedder.name, measure)
    ask = _searching(arm, tape, models, index) if arm in SEARCHING else _answering(tape, models, index)
    with answers([translations[query.id] for query in chosen], ask, workers=workers) as asked:
        return run, list(tqdm(asked, desc=f"languages {arm}", unit="query", total=len(chosen)))


def _searching(arm: str, tape: Tape, models: AnswerModels, index: CaptionIndex) -> Callable[[Translated], ItemResult]:
    ranker = TapeArm("ava", tape, models, index, seed=SEED)

    def ask(one: Translated) -> ItemResult:
        if arm == "detected":
            found = language_of(one.text)
            return ItemResult(one.query.id, one.language, {1: found == one.language}, int(bool(found)), 1, detail=found)
        meter = Meter()
        text = {"english": one.query.text, "as_written": one.text}.get(arm) or in_english(one.text, models, meter)
        spans = ranker.ask(replace(one.query, text=text))
        hits = [tape.answers(span, one.query) for span in spans]
        found_by = {rank: any(hits[:rank]) for rank in (1, 5, 10) if rank <= TAPE_RANKS}
        calls = [call for call in meter.calls if call.completion_tokens]
        return ItemResult(one.query.id, one.language, found_by, detail="", calls=len(calls))

    return ask


def in_english(text: str, models: AnswerModels, meter: Meter) -> str:
    """Return the words that a question is searched by: its translation, or itself if it has none."""
    models = replace(models, embedder_languages=("en",))
    question = QuestionInput(text)
    asked = Asked(question, InMemoryGraph([]), models, settings_with("medium", models), searched=text)
    return translate(detect_language(asked), unlimited_calls(models, meter)).searched


def _answering(tape: Tape, models: AnswerModels, index: CaptionIndex) -> Callable[[Translated], ItemResult]:
    graph = InMemoryGraph([index.of_events(f"{tape.name}-{SEED}", tape.events)])
    settings = settings_with("low", models)
    settings = replace(settings, retrieval=replace(TAPE_RETRIEVAL, events=settings.retrieval.events))

    def ask(one: Translated) -> ItemResult:
        question = QuestionInput(QUESTION[one.language].format(text=one.text), effort="low")
        answer = answer_question(question, graph, models, settings=settings)
        right = bool(answer.text) and may_be_in(one.language, answer.text)
        usage = answer.usage
        return ItemResult(
            one.query.id,
            one.language,
            {1: right},
            1 if answer.text else None,
            1,
            finish_reason=answer.finish_reason,
            detail=answer.text[:200],
            calls=sum(bool(call.completion_tokens) for call in usage.calls),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            seconds=sum(call.wall_ms for call in usage.calls) / 1_000,
            degraded=answer.degraded,
        )

    return ask


def by_language(items: Sequence[ItemResult]) -> dict[str, dict[str, float]]:
    """Return per language the number of items and the share right at each rank."""
    groups: dict[str, list[ItemResult]] = {}
    for item in items:
        groups.setdefault(item.kind, []).append(item)
    return {
        kind: {"n": len(group)}
        | {f"R@{rank}": sum(item.right[rank] for item in group) / len(group) for rank in group[0].right}
        for kind, group in sorted(groups.items())
    }
