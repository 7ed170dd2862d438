"""A scripted VLM that names the colour of each picture, and so proves that the right pictures and words arrived."""

from __future__ import annotations

import re
from typing import Any

import cv2
import numpy as np

from tests.scripted_openai import ScriptedRequest

RED, GREEN, BLUE = "red", "green", "blue"
STORIES = {
    RED: "A woman in a red coat waits at a bus stop in the rain.",
    GREEN: "Two brown dogs chase a tennis ball across a lawn.",
    BLUE: "Workers unload wooden crates from a delivery van.",
}
ENTITIES = {
    RED: (("woman in red coat", "person"), ("bus stop", "place")),
    GREEN: (("brown dogs", "animal"), ("tennis ball", "object")),
    # The bus stop appears again: one entity, two events.
    BLUE: (("delivery van", "vehicle"), ("bus stop", "place")),
}


def colour_of(jpeg: bytes) -> str:
    """Return the dominant colour of a picture. Raises an error for bytes that are no JPEG."""
    assert jpeg.startswith(b"\xff\xd8")
    picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    blue, green, red = picture.reshape(-1, 3).mean(axis=0)
    assert max(red, green, blue) > 90, "no clear colour"
    return max(((red, RED), (green, GREEN), (blue, BLUE)))[1]


def chunk_n(request: ScriptedRequest) -> int:
    """Return the chunk whose description is requested."""
    found = re.search(r"^(\d+):(\d\d) to [\d:]+ of the video", request.user, re.MULTILINE)
    assert found is not None, request.user
    return (60 * int(found[1]) + int(found[2])) // 3


def description(colour: str, n: int) -> str:
    return f"{STORIES[colour]} This is moment {n}."


def see(request: ScriptedRequest) -> Any:
    """Describe by the colour that arrived; write an event from the words of its chunks."""
    if request.schema_name == "chunk_description":
        (colour,) = {colour_of(jpeg) for jpeg in request.images}
        n = chunk_n(request)
        return {"description": description(colour, n), "on_screen_clock": "", "on_screen_text": []}
    if request.schema_name in {"topic", "overview"}:
        return tell(request)
    colour = next(colour for colour, story in STORIES.items() if story in request.user)
    moments = re.findall(r"moment (\d+)", request.user)
    summary = {"summary": f"{STORIES[colour]} Seen {len(moments)} times."}
    if request.schema_name == "event_summary":
        return summary
    assert request.schema_name in {"event", "event_graph"}, request.schema_name
    names = ENTITIES[colour]
    return {
        **(summary if request.schema_name == "event" else {}),
        "entities": [
            {
                "name": name, "type": kind, "appearance": f"The {name}.", "role": "subject", "aliases": [],
                "confidence": 0.9, "frames": [0],
            }
            for name, kind in names
        ],
        "relations": [
            {
                "subject": names[0][0], "predicate": "is near", "object": names[1][0], "description": "",
                "confidence": 0.8,
            }
        ],
    }  # fmt: skip


def tell(request: ScriptedRequest) -> dict[str, Any]:
    """Answer with a topic or an overview: every story that was shown, in the order of first showing."""
    shown = sorted((s for s in STORIES.values() if s in request.user), key=request.user.index)
    names = [(name, kind) for colour, named in ENTITIES.items() if STORIES[colour] in shown for name, kind in named]
    text = " ".join(shown)
    return {
        **({"title": shown[0].split(" in ")[0], "summary": text} if request.schema_name == "topic" else {"text": text}),
        "people": [name for name, kind in names if kind == "person"],
        "places": sorted({name for name, kind in names if kind == "place"}),
    }
