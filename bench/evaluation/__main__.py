"""`make eval`: one arm over one question set, with a report in JSON. docs/lab/evaluation.md explains sets and arms.

A stopped run resumes where it was: the file of finished items is next to the report, and model calls are cached.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.evaluation import languages
from bench.evaluation.arms import ABLATIONS, CHOICE_ARMS, METHOD_ARMS, WITHOUT_REASONER, ChoiceArm
from bench.evaluation.asking import answers
from bench.evaluation.captions import FORM, CaptionIndex
from bench.evaluation.datasets import (
    CHOICE_SETS,
    SETS,
    TAPE10,
    TAPE_SETS,
    ChoiceQuestion,
    ChoiceSet,
    Item,
    Tape,
    TapeQuery,
    UnreadableSet,
    first_items,
    read_choices,
    read_tape,
)
from bench.evaluation.localizing import ASKS_NOBODY, LOCALIZE_ARMS, LocalizeArm
from bench.evaluation.models import caption_models
from bench.evaluation.reading_set import READING_ARMS, reading_models, reading_report
from bench.evaluation.report import ItemResult, Run, read_report, report, summary
from bench.evaluation.tape10.arms import FOUND_ONLY, TAPE10_ARMS, Tape10Arm
from bench.evaluation.tape10.question import KINDS, TapeQuestion
from bench.evaluation.tape10.questions import make_questions
from bench.evaluation.tape10.world import World, make_world
from bench.evaluation.tape_arms import TAPE_ARMS, TAPE_RANKS, TapeArm
from bench.evaluation.time_questions_set import times_report
from bench.evaluation.unasked import UnaskedChat
from gpu_workers.engine.answering.presets import settings_with
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.roles import AnswerModels
from gpu_workers.engine.prompts import digest as prompts_digest

RANKS = (1, 5, 10)
APART = frozenset({"choice", "signals", "measured"})
"""Fields of an arm's outcome that its result names or holds otherwise."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    parser.add_argument("--set", required=True, choices=(*SETS, "languages", "reading", "times"))
    parser.add_argument("--data", type=Path, default=None, help="folder of the set; tape10 needs none")
    parser.add_argument("--arm", default="", help="ava where the set has it, else the set's first")
    parser.add_argument("--limit", type=_count, default=None, help="first n items, in the seed's order")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--event-words", type=_count, default=0, help="join captions to events of about so many words, as a VLM's are"
    )
    parser.add_argument("--workers", type=_count, default=1, help="questions asked at once")
    parser.add_argument("--kinds", default="", help="kinds of tape10's questions, separated by commas; all by default")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--against", default="", help="reports to compare with, separated by commas")
    options = parser.parse_args(without_empty(sys.argv[1:] if arguments is None else arguments))
    arms = arms_of(options.set)
    options.arm = options.arm or ("ava" if "ava" in arms else arms[0])
    if options.arm not in arms:
        parser.error(f"no arm {options.arm!r} for {options.set}; there are {', '.join(arms)}")
    if options.data is None and options.set != TAPE10:
        parser.error("the following arguments are required: --data")
    if options.set in ("reading", "times"):
        return _read_questions(options, parser)
    if options.event_words and options.set not in CHOICE_SETS:
        parser.error(f"{options.set} has sentences with spans of their own; --event-words is for captions")
    kinds = [kind for kind in options.kinds.split(",") if kind]
    if kinds and (options.set != TAPE10 or not set(kinds) <= set(KINDS)):
        parser.error(f"--kinds are kinds of {TAPE10}: {', '.join(KINDS)}")
    try:
        # Before any long work, so that unreadable input is reported at once.
        others = [(path, read_report(Path(path), of=options.set)) for path in options.against.split(",") if path]
        if options.set == "languages":
            return _reported(options, _in_languages(options, others))
        questions = _read(options)
    except ValueError as error:
        parser.error(str(error))
    return _reported(options, _evaluated(options, questions, others))


def _read_questions(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Report what the reader makes of questions, without asking one."""
    try:
        if options.set == "times":
            return _reported(options, times_report(options.data), text=False)
        with tempfile.TemporaryDirectory() as folder, reading_models(Path(folder), options.arm) as models:
            report = reading_report(options.data, models, limit=options.limit)
            return _reported(options, {"arm": options.arm, **report}, text=False)
    except ValueError as error:
        parser.error(str(error))


def _reported(options: argparse.Namespace, body: dict[str, Any], *, text: bool = True) -> int:
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(body, indent=1) + "\n")
        print(f"report: {options.out}", file=sys.stderr)
    print(summary(body) if text else json.dumps(body, indent=1, ensure_ascii=False))
    return 0


def arms_of(name: str) -> tuple[str, ...]:
    """Return the arms that a set can be answered with."""
    if name == TAPE10:
        return TAPE10_ARMS
    if name == "languages":
        return languages.LANGUAGE_ARMS
    if name == "reading":
        return READING_ARMS
    if name == "times":
        return ("figures",)
    return TAPE_ARMS if name in TAPE_SETS else CHOICE_ARMS + METHOD_ARMS + ABLATIONS + LOCALIZE_ARMS


def _read(options: argparse.Namespace) -> ChoiceSet | Tape | World:
    """Return the question set. Raises UnreadableSet."""
    if options.set == TAPE10:
        return make_world(options.seed)
    if options.set in TAPE_SETS:
        return read_tape(options.set, options.data, seed=options.seed)
    questions = read_choices(options.set, options.data)
    if options.arm in {"oracle_events", *LOCALIZE_ARMS}:
        marked = tuple(question for question in questions.questions if question.spans)
        if not marked:
            raise UnreadableSet(f"{options.set} in {options.data} does not say where the answers are seen")
        questions = replace(questions, questions=marked)
    if options.arm == "shuffled" and len(questions.captions) < 2:
        raise UnreadableSet(f"{options.set} in {options.data} has one video, and no other to shuffle it with")
    return questions


def _evaluated(
    options: argparse.Namespace, read: ChoiceSet | Tape | World, others: list[tuple[str, dict[str, object]]]
) -> dict[str, object]:
    folder = weights.cache_dir() / "evaluation"
    asked = _asked_of_the_tape(options, read) if isinstance(read, World) else []
    found_only = all(question.kind in FOUND_ONLY for question in asked)
    with ExitStack() as opened:
        reasons = not isinstance(read, Tape) and options.arm not in WITHOUT_REASONER | ASKS_NOBODY
        if isinstance(read, World) and options.arm == "search" and found_only:
            reasons = False
        models = opened.enter_context(caption_models(folder, reasoner=reasons))
        index = CaptionIndex(models.text_embedder, models.similarity, folder=folder / "indexes")
        reasoner = "" if isinstance(models.reasoner, UnaskedChat) else models.reasoner.name
        run = Run(
            options.set, options.arm, options.seed, options.limit, reasoner, models.text_embedder.name,
            "accuracy", options.event_words,
        )  # fmt: skip
        if isinstance(read, Tape):
            run = replace(run, measure="recall at IoU 0.5" if read.criterion == "iou" else "overlap")
            queries = first_items(read.queries, options.limit, seed=options.seed)
            ranker = TapeArm(options.arm, read, models, index, seed=options.seed)

            def rank(query: TapeQuery) -> ItemResult:
                spans = ranker.ask(query)
                hits = [read.answers(span, query) for span in spans]
                return ItemResult(query.id, "", {n: any(hits[:n]) for n in RANKS if n <= TAPE_RANKS})

            items = [rank(query) for query in tqdm(queries, desc=f"{options.set} {options.arm}", unit="query")]
        elif isinstance(read, World):
            tape10 = Tape10Arm(options.arm, read, models, seed=options.seed)
            done = _finished(options, run, models)
            items = list(_resumed(options, asked, tape10.ask, done))
        else:
            chosen = first_items(read.questions, options.limit, seed=options.seed)
            ask = _asker(options, read, models, index)
            done = _finished(options, run, models)
            items = list(_resumed(options, chosen, ask, done))
    return report(run, items, others)


def _asker(
    options: argparse.Namespace, questions: ChoiceSet, models: AnswerModels, index: CaptionIndex
) -> Callable[[ChoiceQuestion], ItemResult]:
    """Return what asks the arm a question of the set."""
    if options.arm in LOCALIZE_ARMS:
        return LocalizeArm(options.arm, questions, models, index, seed=options.seed).ask
    arm = ChoiceArm(options.arm, questions, models, index, seed=options.seed, event_words=options.event_words)

    def ask(question: ChoiceQuestion) -> ItemResult:
        outcome = arm.ask(question)
        return ItemResult(
            question.id,
            question.kind,
            {1: outcome.choice == question.truth},
            outcome.choice,
            question.truth,
            **{name: value for name, value in asdict(outcome).items() if name not in APART},
            signals=outcome.signals or {},
            measured=outcome.measured,
        )

    return ask


def _asked_of_the_tape(options: argparse.Namespace, world: World) -> list[TapeQuestion]:
    """Return the questions about the tape that a run asks."""
    kinds = options.kinds.split(",") if options.kinds else KINDS
    questions = [question for question in make_questions(world) if question.kind in kinds]
    return first_items(questions, options.limit, seed=options.seed)


def _in_languages(options: argparse.Namespace, others: list[tuple[str, dict[str, object]]]) -> dict[str, object]:
    """Return the report of the set `languages`. Raises UnreadableSet."""
    folder = weights.cache_dir() / "evaluation"
    with caption_models(folder, reasoner=options.arm not in languages.ASKS_NOBODY) as models:
        index = CaptionIndex(models.text_embedder, models.similarity, folder=folder / "indexes")
        run, items = languages.evaluated(
            options.arm, options.data, models, index, limit=options.limit, workers=options.workers
        )
    return {**report(run, items, others), "by_language": languages.by_language(items)}


def _resumed(
    options: argparse.Namespace, chosen: Sequence[Item], ask: Callable[[Item], ItemResult], finished: Path
) -> Iterator[ItemResult]:
    """Yield the result of each question, from the finished file if it is there. An item with a failed call is
    not stored."""
    finished.parent.mkdir(parents=True, exist_ok=True)
    text = finished.read_text() if finished.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        # The previous run was killed within a line.
        finished.write_text(whole)
    done = {row["id"]: ItemResult.read(row) for row in map(json.loads, whole.splitlines())}
    missing = [question for question in chosen if question.id not in done]
    right = count = 0
    with (
        finished.open("a") as written,
        tqdm(chosen, desc=f"{options.set} {options.arm}", unit="question") as bar,
        answers(missing, ask, workers=options.workers) as asked,
    ):
        for question in bar:
            item = done.get(question.id)
            if item is None:
                item = next(asked)
                if item.finish_reason != "error" and not item.failed_calls:
                    written.write(json.dumps(asdict(item)) + "\n")
                    written.flush()
            right, count = right + item.right[1], count + 1
            bar.set_postfix_str(f"{right / count:.1%} right")
            yield item


def _finished(options: argparse.Namespace, run: Run, models: AnswerModels) -> Path:
    """Return the file of finished items for this very run: its name covers everything that could change an answer."""
    settings = [settings_with(effort, models) for effort in ("medium", "paper")]
    files = [] if options.data is None else sorted(options.data.glob("*.json"))
    about = (
        FORM, prompts_digest(), _sources(), repr(settings), replace(run, limit=None),
        options.data and str(options.data.resolve()), [(path.name, path.stat().st_size) for path in files],
    )  # fmt: skip
    name = hashlib.sha256(repr(about).encode()).hexdigest()[:16]
    return weights.cache_dir() / "evaluation" / "runs" / f"{options.set}-{options.arm}-{name}.jsonl"


def _sources() -> str:
    """Return a digest of the answering code. Model calls are cached without it: a call with the same input is never
    repeated."""
    here = Path(__file__).parent
    files = [*here.glob("*.py"), *here.glob("tape10/**/*.*ml"), *here.glob("tape10/*.py")]
    files += (here.parents[1] / "gpu_workers").rglob("*.py")
    digests = [hashlib.sha256(path.read_bytes()).digest() for path in sorted(files)]
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def without_empty(arguments: Sequence[str]) -> list[str]:
    """Leave out the options that the Makefile passes although nobody set them."""
    return [argument for argument in arguments if not re.fullmatch(r"--[a-z-]+=", argument)]


if __name__ == "__main__":
    raise SystemExit(main())
