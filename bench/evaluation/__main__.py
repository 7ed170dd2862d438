"""`make eval`: one arm over one question set, with a report in JSON. docs/evaluation.md explains sets and arms.

A run that is stopped goes on where it was: finished items are kept beside the report, model calls by what was asked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeVar

from tqdm import tqdm

from bench.evaluation.arms import ABLATIONS, CHOICE_ARMS, TAPE_ARMS, TAPE_RANKS, WITHOUT_REASONER, ChoiceArm, TapeArm
from bench.evaluation.cached_calls import CachedChat, CachedTextEmbedder, CallCache
from bench.evaluation.captions import FORM, CaptionIndex
from bench.evaluation.datasets import SETS, ChoiceQuestion, TapeQuery, UnreadableSet, read_choices, read_tape
from bench.evaluation.report import ItemResult, Run, read_report, report, summary
from bench.evaluation.unasked import UnaskedChat
from gpu_workers.answering.presets import settings_for
from gpu_workers.models import weights
from gpu_workers.models.profiles import ModelSettings, load_answer_models
from gpu_workers.models.roles import AnswerModels
from gpu_workers.prompts import digest as prompts_digest
from infra.local.stack import Stack

Item = TypeVar("Item", ChoiceQuestion, TapeQuery)
RANKS = (1, 5, 10)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    parser.add_argument("--set", required=True, choices=SETS)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--arm", required=True)
    parser.add_argument("--limit", type=_count, default=None, help="first n items, in the seed's order")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--against", default="", help="reports to compare with, separated by commas")
    options = parser.parse_args(_without_empty(sys.argv[1:] if arguments is None else arguments))
    known = TAPE_ARMS if options.set in {"activitynet", "tacos"} else CHOICE_ARMS + ABLATIONS
    if options.arm not in known:
        parser.error(f"no arm {options.arm!r} for {options.set}; there are {', '.join(known)}")
    others = [Path(path) for path in options.against.split(",") if path]
    for path in others:
        if not path.is_file():
            parser.error(f"no report {path} to compare with")
    try:
        body = _evaluated(options, [(str(path), read_report(path)) for path in others])
    except UnreadableSet as error:
        parser.error(str(error))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(body, indent=1) + "\n")
        print(f"report: {options.out}", file=sys.stderr)
    print(summary(body))
    return 0


def _evaluated(options: argparse.Namespace, others: list[tuple[str, dict[str, object]]]) -> dict[str, object]:
    tape = options.set in {"activitynet", "tacos"}
    folder = weights.cache_dir() / "evaluation"
    with ExitStack() as opened:
        models = opened.enter_context(_models(folder, reasoner=not tape and options.arm not in WITHOUT_REASONER))
        index = CaptionIndex(models.text_embedder, models.similarity, folder=folder / "indexes")
        asked = "" if isinstance(models.reasoner, UnaskedChat) else models.reasoner.name
        run = Run(
            options.set, options.arm, options.seed, options.limit, asked, models.text_embedder.name,
            "accuracy",
        )  # fmt: skip
        if tape:
            joined = read_tape(options.set, options.data, seed=options.seed)
            run = replace(run, measure="recall at IoU 0.5" if joined.criterion == "iou" else "overlap")
            queries = _chosen(joined.queries, options)
            ranker = TapeArm(options.arm, joined, models, index, seed=options.seed)

            def rank(query: TapeQuery) -> ItemResult:
                spans = ranker.ask(query)
                hits = [joined.answers(span, query) for span in spans]
                return ItemResult(query.id, "", {n: any(hits[:n]) for n in RANKS if n <= TAPE_RANKS})

            items = [rank(query) for query in tqdm(queries, desc=f"{options.set} {options.arm}", unit="query")]
        else:
            questions = read_choices(options.set, options.data)
            wanted = _chosen(questions.questions, options)
            if options.arm == "oracle_events":
                wanted = [question for question in wanted if question.spans]
            arm = ChoiceArm(options.arm, questions, models, index, seed=options.seed)

            def ask(question: ChoiceQuestion) -> ItemResult:
                said = arm.ask(question)
                return ItemResult(
                    question.id,
                    question.kind,
                    {1: said.choice == question.truth},
                    said.choice,
                    question.truth,
                    **{name: value for name, value in asdict(said).items() if name not in {"choice", "signals"}},
                    signals=said.signals or {},
                )

            done = _finished(options, run, models)
            items = list(_resumed(wanted, ask, done, label=f"{options.set} {options.arm}"))
    return report(run, items, others)


def _resumed(
    wanted: Sequence[ChoiceQuestion], ask: Callable[[ChoiceQuestion], ItemResult], kept: Path, *, label: str
) -> Iterator[ItemResult]:
    """The result of each question, out of kept where it is there already. An error of the model is not kept."""
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {row["id"]: ItemResult.read(row) for row in rows}
    kept.parent.mkdir(parents=True, exist_ok=True)
    right = count = 0
    with kept.open("a") as written, tqdm(wanted, desc=label, unit="question") as bar:
        for question in bar:
            item = done.get(question.id)
            if item is None:
                item = ask(question)
                if item.finish_reason != "error":
                    written.write(json.dumps(asdict(item)) + "\n")
                    written.flush()
            right, count = right + item.right[1], count + 1
            bar.set_postfix_str(f"{right / count:.1%} right")
            yield item


def _finished(options: argparse.Namespace, run: Run, models: AnswerModels) -> Path:
    """Where the finished items of this very run are kept: whatever could change an answer is in its name."""
    settings = [settings_for(effort, models_profile=models.profile) for effort in ("medium", "paper")]
    about = (
        FORM, prompts_digest(), repr(settings), replace(run, limit=None), str(options.data.resolve()),
        [(path.name, path.stat().st_size) for path in sorted(options.data.glob("*.json"))],
    )  # fmt: skip
    name = hashlib.sha256(repr(about).encode()).hexdigest()[:16]
    return weights.cache_dir() / "evaluation" / "runs" / f"{options.set}-{options.arm}-{name}.jsonl"


def _chosen(items: Sequence[Item], options: argparse.Namespace) -> list[Item]:
    """All of them, or limit of them, by the digest of seed and id: a longer run holds the items of a shorter one."""
    order = sorted(items, key=lambda item: hashlib.sha256(f"{options.seed} {item.id}".encode()).digest())
    return order if options.limit is None else order[: options.limit]


@contextmanager
def _models(folder: Path, *, reasoner: bool) -> Iterator[AnswerModels]:
    """The models of the environment's profile, with what they answered kept. Without REASONER_URL the embedded reasoner
    is started, if the arm asks one."""
    cache = CallCache(folder / "calls.sqlite")
    settings = ModelSettings.from_env()
    with ExitStack() as opened:
        if reasoner and not settings.reasoner_url:
            place = opened.enter_context(tempfile.TemporaryDirectory(prefix="ava-eval-"))
            stack = opened.enter_context(Stack(Path(place), frozenset({"llama"}), durable=False))
            started = {name: value for service in stack.services for name, value in service.env().items()}
            settings = ModelSettings.from_env({**os.environ, **started})
        elif not reasoner:
            settings = replace(settings, reasoner_url=settings.reasoner_url or "http://127.0.0.1:9/v1")
        models = load_answer_models(settings)
        embedder = CachedTextEmbedder(models.text_embedder, cache)
        yield replace(
            models,
            reasoner=CachedChat(models.reasoner, cache) if reasoner else UnaskedChat(),
            text_embedder=embedder,
            # A caption stands for its second's frame, so both are in the space of texts.
            frame_embedder=embedder,
            checker=None,
        )


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def _without_empty(arguments: Sequence[str]) -> list[str]:
    """Options that the Makefile passes on although nobody set them are left out."""
    return [argument for argument in arguments if not argument.endswith("=")]


if __name__ == "__main__":
    raise SystemExit(main())
