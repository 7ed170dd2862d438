"""Descriptions of 3 s chunks in the style of a vision-language model: scenes of a few chunks, varied wordings."""

from __future__ import annotations

import random

_WHO = (
    "a man in a grey coat", "two women with shopping bags", "a cyclist in a yellow vest", "a brown dog on a leash",
    "a delivery van", "a group of school children", "an elderly couple", "a worker in an orange jacket", "a raccoon",
    "a waiter with a tray", "a girl on a scooter", "a silver car", "a street musician", "a woman with a pram",
)  # fmt: skip
_WHERE = (
    "on the square in front of the station", "at the crossing beside the pharmacy", "along the river path",
    "in the middle of the parking lot", "near the fountain", "in front of the bakery", "beside the construction site",
    "at the edge of the wood", "in the kitchen next to the stove", "on the platform under the clock",
)  # fmt: skip
_DOES = (
    ("walks slowly towards the camera", "keeps walking towards the camera", "comes closer at the same slow pace"),
    ("stops and looks around", "stands still and looks to both sides", "waits, looking around"),
    ("crosses from left to right", "goes on crossing to the right", "reaches the right side of the picture"),
    ("turns back the way it came", "turns around and leaves again", "goes back, growing smaller"),
    ("puts something down on the ground", "bends down to set something on the ground", "leaves an object behind"),
)
_LIGHT = ("The light is soft.", "It is raining.", "The ground is wet.", "The sun is low.", "The scene is quiet.")
_MORE = (
    "In the background, people pass by without taking notice.", "A shop sign is partly visible behind.",
    "Several parked bicycles stand along the wall.", "A bus goes by at the far end of the street.",
    "Nothing else moves in the picture.", "Two birds are on the ground nearby.",
)  # fmt: skip


def descriptions(count: int, *, seed: int = 0) -> list[str]:
    """Return count texts in time order, 15 to 50 words each, no two equal."""
    rng = random.Random(seed)
    texts: list[str] = []
    while len(texts) < count:
        who, where, light, others = rng.choice(_WHO), rng.choice(_WHERE), rng.choice(_LIGHT), rng.sample(_MORE, 3)
        steps = rng.sample(_DOES, 3)
        for n in range(rng.randint(2, 8)):
            second = 3 * len(texts)
            does = rng.choice(steps[n % 3])
            text = f"{who} {does} {where}. {light} {' '.join(rng.sample(others, rng.randint(0, 3)))}".strip()
            clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
            texts.append(f"{text[0].upper()}{text[1:]} The clock reads {clock}.")
    return texts[:count]
