"""`make eval-videos`: the questions of a manifest, asked about video files. docs/lab/video-benchmarks.md explains it.

Rows are written to OUT as they come, one file per arm and shard, so a stopped run goes on where it was, and workers
with different shards may share OUT. The report and the table are made of everything that OUT holds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from tqdm import tqdm

from bench.evaluation.__main__ import without_empty
from bench.evaluation.asking import answers
from bench.evaluation.datasets import first_items
from bench.evaluation.report import Run
from bench.evaluation.videos.ablations import Ablation, UnknownSetting
from bench.evaluation.videos.bare_models import BARE_ARMS, NotConfigured, bare_arm
from bench.evaluation.videos.engine import EngineArm, VideoIndexes, engine_models, read_prices
from bench.evaluation.videos.formats import FORMATS, read_questions
from bench.evaluation.videos.manifest import UnreadableManifest, VideoQuestion, shard, with_files
from bench.evaluation.videos.results import VideoAnswer, VideoResult, again, arm_report, graded, table, unjudged
from bench.evaluation.videos.service import ServiceArm, UploadedVideos
from bench.evaluation.videos.verdicts import Judged, read_verdicts
from gpu_workers.engine.answering.contract import EFFORTS
from gpu_workers.engine.answering.methods import METHODS
from gpu_workers.engine.answering.presets import settings_for
from gpu_workers.engine.models.calibration import UNMEASURED
from infra.local.demo.client import Client

KEY = "AVA_API_KEY"
_SHARD = re.compile(r"([1-9]\d*)/([1-9]\d*)")


class VideoArm(Protocol):
    """Answers a question about a video. settings: a text that changes with what could change an answer."""

    @property
    def settings(self) -> str: ...

    def ask(self, question: VideoQuestion) -> VideoAnswer: ...


@dataclass(frozen=True, slots=True)
class _Written:
    """Where the rows of one arm are. label: of the arm in the report."""

    out: Path
    label: str
    shard: tuple[int, int]

    @property
    def file(self) -> Path:
        number, of = self.shard
        return self.out / f"{_slug(self.label)}.{number}of{of}.jsonl"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(without_empty(sys.argv[1:] if arguments is None else arguments))
    methods = [name for name in options.methods.split(",") if name]
    known = [*METHODS, *(() if options.service else BARE_ARMS)]
    if unknown := sorted(set(methods) - set(known)):
        parser.error(f"no method {', '.join(unknown)}; there are {', '.join(known)}")
    if options.service and options.ablate:
        parser.error("a service has its own settings: leave out --ablate")
    if options.service and not os.environ.get(KEY):
        parser.error(f"set {KEY} to an API key of the service")
    try:
        number, of = _shard(options.shard)
        ablation = Ablation.read(options.ablate)
        if _ablates(ablation, methods):
            _ = ablation.index
        read = read_questions(options.format, options.manifest)
        wanted = [one for one in read if not options.kinds or one.kind in options.kinds.split(",")]
        questions = first_items(wanted, options.limit, seed=options.seed)
        mine = sorted(shard(questions, number, of), key=lambda one: (one.video, one.id))
        files = with_files(mine, options.videos)
        judged = read_verdicts(options.verdicts) if options.verdicts else {}
        prices = json.loads(options.prices.read_text()) if options.prices else {}
        read_prices(prices)
    except (UnreadableManifest, UnknownSetting, OSError, ValueError, TypeError, ArithmeticError) as error:
        parser.error(str(error))
    options.out.mkdir(parents=True, exist_ok=True)
    with _arms(options, methods, files, ablation, prices) as arms:
        for label, arm in arms:
            _ask_all(_Written(options.out, label, (number, of)), arm, mine, judged, workers=options.workers)
    print(write_report(options.out, options.manifest.stem, judged))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make eval-videos", description=__doc__)
    parser.add_argument("--manifest", type=Path, required=True, help="questions, in the form that --format names")
    parser.add_argument(
        "--videos", type=Path, required=True, help="folder with the files, which it may sort in folders"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for rows, pictures and the report")
    parser.add_argument("--format", default="manifest", choices=tuple(FORMATS))
    parser.add_argument("--methods", default="ava", help="methods and baselines, separated by commas")
    parser.add_argument("--effort", default="medium", choices=EFFORTS)
    parser.add_argument("--ablate", default="", help="settings to change, such as depth=1,views=event+entity")
    parser.add_argument("--shard", default="1/1", help="i/n: the videos of worker i of n")
    parser.add_argument("--service", default="", help=f"URL of a running service; {KEY} holds its key")
    parser.add_argument("--prices", type=Path, default=None, help="JSON file of prices by model")
    parser.add_argument("--verdicts", type=Path, default=None, help="JSON file of what a person said of open answers")
    parser.add_argument("--kinds", default="", help="kinds of questions, separated by commas; all by default")
    parser.add_argument("--limit", type=int, default=None, help="first n questions, in the seed's order")
    parser.add_argument("--seed", type=int, default=0, help="order of the questions for --limit")
    parser.add_argument("--workers", type=int, default=1, help="questions asked at once")
    return parser


def _shard(text: str) -> tuple[int, int]:
    found = _SHARD.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise ValueError(f"--shard is i/n with i from 1 to n, not {text!r}")
    return int(found[1]), int(found[2])


def _ablates(ablation: Ablation, methods: Sequence[str]) -> bool:
    """Whether there is something to change, and every method has it. Raises UnknownSetting."""
    for method in methods if ablation.values else ():
        if method in BARE_ARMS:
            raise UnknownSetting(f"{method} has no settings to ablate")
        ablation.search(settings_for("medium", UNMEASURED), method)
    return bool(ablation.values)


@contextmanager
def _arms(
    options: argparse.Namespace,
    methods: Sequence[str],
    files: Mapping[str, Path],
    ablation: Ablation,
    prices: Mapping[str, Mapping[str, str]],
) -> Iterator[list[tuple[str, VideoArm]]]:
    """Yield the arms with their labels."""
    label = " ".join(filter(None, (options.effort, ablation.label)))
    if options.service:
        uploaded = UploadedVideos(Client(options.service.rstrip("/"), os.environ[KEY]), files)
        yield [(f"{name} {label} (service)", ServiceArm(name, options.effort, uploaded)) for name in methods]
        return
    with engine_models() as (seeing, models):
        indexes, priced = VideoIndexes(files, seeing, ablation.index), read_prices(prices)
        arms: list[tuple[str, VideoArm]] = []
        for name in methods:
            if name in BARE_ARMS:
                try:
                    arms.append((name, bare_arm(name, models.checker, indexes, priced)))
                except NotConfigured as error:
                    raise SystemExit(str(error)) from error
            else:
                arm = EngineArm(name, options.effort, ablation, indexes, models, priced, options.out)
                arms.append((f"{name} {label}", arm))
        yield arms


def _ask_all(
    written: _Written, arm: VideoArm, questions: Sequence[VideoQuestion], judged: Judged, *, workers: int
) -> None:
    """Ask every question that no file of the arm holds yet."""
    about = hashlib.sha256(arm.settings.encode()).hexdigest()[:16]
    _mend(written.file)
    done = {
        line["row"]["item"]["id"]
        for line in _lines(written.out)
        if (line["arm"], line["settings"]) == (written.label, about)
    }
    missing = [question for question in questions if question.id not in done]
    bar = tqdm(missing, desc=written.label, unit="question")
    with written.file.open("a") as file, answers(missing, arm.ask, workers=workers) as given:
        for question in bar:
            row = graded(question, next(given), judged)
            line = {"arm": written.label, "settings": about, "row": asdict(row)}
            if row.item.finish_reason != "error" and not row.item.failed_calls:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
            else:
                bar.write(f"{question.id}: {row.item.detail or 'calls failed'}; it will be asked again by the next run")


def _mend(file: Path) -> None:
    """Cut off the line within which a stopped run of this arm and shard ended."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, encoding="utf-8")


def _lines(out: Path) -> Iterator[dict[str, Any]]:
    """Yield the whole lines of all arms and shards; another worker may just be writing one."""
    for path in sorted(out.glob("*.*of*.jsonl")):
        text = path.read_text(encoding="utf-8")
        yield from map(json.loads, text[: text.rfind("\n") + 1].splitlines())


def write_report(out: Path, name: str, judged: Judged) -> str:
    """Write report.json and unjudged.json about everything that OUT holds; return the table."""
    by_arm: dict[str, dict[str, VideoResult]] = {}
    for line in _lines(out):
        row = VideoResult.read(line["row"])
        by_arm.setdefault(line["arm"], {})[row.item.id] = row
    reports: dict[str, dict[str, Any]] = {}
    left: list[VideoResult] = []
    for label, rows in sorted(by_arm.items(), key=lambda pair: (not pair[0].startswith("ava "), pair[0])):
        today = again(list(rows.values()), judged)
        left += today
        reports[label] = arm_report(Run(name, label, 0, None, "", "", "accuracy"), today, judged)
    (out / "report.json").write_text(json.dumps(reports, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (out / "unjudged.json").write_text(
        json.dumps(unjudged(left, judged), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return table(reports) if reports else "no question was answered"


def _slug(label: str) -> str:
    return re.sub(r"[^A-Za-z0-9=+.,_-]+", "_", label).strip("_")


if __name__ == "__main__":
    raise SystemExit(main())
