"""Small question sets in every format that bench.evaluation reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

KITCHEN = ["#C C opens the tap"] * 6 + ["#C C washes a carrot"] * 6 + ["#O the man X cuts bread with a knife"] * 6
GARDEN = ["#C C digs the soil"] * 6 + ["#C C waters the roses"] * 6 + ["#C C pushes a wheelbarrow"] * 6
WORKSHOP = ["#C C saws a plank"] * 6 + ["#C C hammers a nail"] * 6 + ["#C C paints the chair"] * 6


def egoschema_row(captions: Sequence[str], question: str, choices: Sequence[str], truth: Any) -> dict[str, Any]:
    options = {f"option {n}": text for n, text in enumerate(choices)}
    return {"question": {"question": question, **options, "truth": truth}, "captions": list(captions)}


EGOSCHEMA: Mapping[str, Any] = {
    "kitchen": egoschema_row(
        KITCHEN, "What is washed?", ["a carrot", "a shirt", "a car", "a dog", "a window"], 0
    ),
    "garden": egoschema_row(
        GARDEN, "What is watered?", ["a lawn", "the roses", "a cactus", "a horse", "a street"], 1
    ),
    "workshop": egoschema_row(
        WORKSHOP, "What is painted?", ["a wall", "a boat", "the chair", "a door", "a fence"], 2
    ),
}  # fmt: skip


def nextqa_row(
    video: str, number: int, question: str, choices: Sequence[str], answer: str, kind: str
) -> dict[str, str]:
    options = {f"a{n}": text for n, text in enumerate(choices)}
    return {
        "video_id": video, "qid": str(number), "question": question, "answer": answer, "type": kind, **options
    }  # fmt: skip


NEXTQA: Mapping[str, Any] = {
    "captions": {
        # The order of keys in JSON is arbitrary.
        "11": {"2": "The dog drinks.", "0": "A dog walks around a green container.", "1": "The dog bends down."},
        "22": {"0": "A skater jumps.", "1": "A skater spins on the ice."},
    },
    "questions": [
        nextqa_row("11", 4, "why does the dog bend", ["jump", "to drink", "sleep", "bark", "dig"], "to drink", "CW"),
        nextqa_row("22", 0, "what follows the jump", ["fall", "sit", "wave", "spin", "leave"], "spin", "TN"),
        nextqa_row("99", 0, "what of a video without captions", ["a", "b", "c", "d", "e"], "a", "TN"),
    ],
}  # fmt: skip

SPANS: Mapping[str, Any] = {"11": {"duration": 3, "location": {"4": [[1.0, 2.5], [2.8, 2.8]]}, "fps": 30}}


def annotated(duration: float, stamps: Sequence[Sequence[float]], sentences: Sequence[str]) -> dict[str, Any]:
    return {"duration": duration, "timestamps": stamps, "sentences": sentences}


ACTIVITYNET: Mapping[str, Any] = {
    "v_boat": {
        "annotator_1": annotated(60.0, [[0, 20], [20, 60]], ["A boat leaves the harbour.", " Two men catch a fish. "]),
        "annotator_2": annotated(59.5, [[1, 19.5], [30, 59]], ["A boat sails away.", "The men pull a fish out."]),
    },
    "v_piano": {
        "annotator_1": annotated(30.0, [[0, 30]], ["A girl plays the piano."]),
        "annotator_2": annotated(30.0, [[2, 10], [12, 13]], ["A girl sits at a piano.", "  "]),
    },
    "v_alone": {"annotator_1": annotated(1000.0, [[0, 10]], ["Nobody described this one twice."])},
}

TACOS: Mapping[str, Any] = {
    "s1.avi": {
        "timestamps": [[0, 50], [60, 100], [0, 40], [70, 100], [10, 100]],
        "sentences": ["He takes a knife.", "He peels garlic.", "A knife is taken.", "Garlic is peeled.", "He cooks."],
        "fps": 10.0,
        "num_frames": 100,
    },
    "s2.avi": {
        "timestamps": [[5, 20], [0, 25]],
        "sentences": ["She washes beans.", "Beans are washed."],
        "fps": 5.0,
        "num_frames": 50,
    },
}


def written(folder: Path, **files: Any) -> Path:
    """Write a JSON file for each name, a text unchanged, and return folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder
