"""`python -m infra.sample_video` draws the sample video that the web app offers, web/sample/crossing.mp4.

It is drawn here and nowhere else, so every installation may serve it: a crossing with a traffic light, cars, a van and
people, and a shop whose lights go out at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path

import av
import numpy
from PIL import Image, ImageDraw, ImageFont

from infra.local.bootstrap import PROJECT

OUT = PROJECT / "web" / "sample" / "crossing.mp4"
WIDTH, HEIGHT, RATE, SECONDS = 640, 360, 10, 45
ROAD = (235, 325)
_SKY, _WALL, _ASPHALT, _DARK = (176, 205, 230), (201, 178, 150), (84, 86, 92), (30, 32, 38)

# kind, colour, second at which it enters, seconds that it takes, direction, height of its lower edge
_PASSING = (
    ("car", (196, 40, 38), 2, 6, 1, 270),
    ("car", (36, 82, 170), 12, 7, -1, 315),
    ("van", (235, 235, 230), 20, 8, 1, 270),
    ("car", (230, 180, 40), 36, 6, -1, 315),
)
_WALKING = (
    ((200, 60, 120), 5, 12, 1, 226),
    ((40, 130, 70), 16, 14, -1, 226),
    ((60, 60, 160), 29, 8, 1, 352),
)


def main() -> int:
    """Draw the video. Returns the exit status."""
    OUT.parent.mkdir(parents=True, exist_ok=True)
    encode(OUT)
    print(f"sample_video: {OUT.relative_to(PROJECT)}, {OUT.stat().st_size} bytes")
    return 0


def encode(path: Path) -> None:
    """Write all frames as H.264."""
    with av.open(str(path), "w", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=RATE, options={"crf": "27", "preset": "slow", "g": "20"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for number in range(RATE * SECONDS):
            frame = av.VideoFrame.from_ndarray(numpy.asarray(drawn(number / RATE)), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def drawn(second: float) -> Image.Image:
    """Return the picture at a second."""
    image = Image.new("RGB", (WIDTH, HEIGHT), _SKY)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 60, 330, 228), fill=_WALL)
    lit = (255, 226, 150) if second < 38 else _DARK
    pen.rectangle((40, 130, 150, 200), fill=lit)
    pen.rectangle((190, 130, 235, 228), fill=(110, 70, 40))
    pen.rectangle((40, 84, 290, 116), fill=(120, 30, 40))
    pen.text((110, 88), "BAKERY", fill="white", font=ImageFont.load_default(22))
    pen.rectangle((0, 228, WIDTH, ROAD[0]), fill=(150, 150, 148))
    pen.rectangle((0, ROAD[0], WIDTH, ROAD[1]), fill=_ASPHALT)
    pen.rectangle((0, ROAD[1], WIDTH, HEIGHT), fill=(150, 150, 148))
    for left in range(0, WIDTH, 60):
        pen.rectangle((left, 279, left + 30, 282), fill=(230, 230, 225))
    for top in range(ROAD[0] + 4, ROAD[1], 16):
        pen.rectangle((400, top, 450, top + 8), fill="white")
    _traffic_light(pen, second)
    for colour, begin, lasts, step, floor in _WALKING:
        if begin <= second < begin + lasts:
            _person(pen, colour, _place(second, begin, lasts, step, 30), floor, second)
    for kind, colour, begin, lasts, step, floor in _PASSING:
        if begin <= second < begin + lasts:
            _vehicle(pen, kind, colour, _place(second, begin, lasts, step, 120), floor)
    return image


def _place(second: float, begin: float, lasts: float, step: int, length: int) -> int:
    gone = (second - begin) / lasts
    return int(-length + (WIDTH + 2 * length) * (gone if step > 0 else 1 - gone))


def _traffic_light(pen: ImageDraw.ImageDraw, second: float) -> None:
    pen.rectangle((478, 120, 484, 230), fill=_DARK)
    pen.rounded_rectangle((470, 60, 492, 122), 4, fill=_DARK)
    shown = 0 if 14 <= second < 20 else 1 if 12 <= second < 14 else 2
    for n, colour in enumerate(((230, 40, 40), (240, 190, 40), (50, 200, 90))):
        pen.ellipse((474, 64 + 19 * n, 488, 78 + 19 * n), fill=colour if n == shown else (60, 62, 66))


def _person(pen: ImageDraw.ImageDraw, colour: tuple[int, int, int], x: int, floor: int, second: float) -> None:
    swing = 7 if int(second * 4) % 2 else -7
    pen.line((x, floor - 24, x + swing, floor), fill=_DARK, width=5)
    pen.line((x, floor - 24, x - swing, floor), fill=_DARK, width=5)
    pen.rounded_rectangle((x - 8, floor - 58, x + 8, floor - 22), 6, fill=colour)
    pen.line((x, floor - 50, x + swing, floor - 30), fill=colour, width=5)
    pen.ellipse((x - 7, floor - 74, x + 7, floor - 60), fill=(224, 184, 150))


def _vehicle(pen: ImageDraw.ImageDraw, kind: str, colour: tuple[int, int, int], x: int, floor: int) -> None:
    if kind == "van":
        pen.rounded_rectangle((x, floor - 62, x + 116, floor - 10), 6, fill=colour)
        pen.rectangle((x + 86, floor - 54, x + 110, floor - 34), fill=(120, 160, 190))
        pen.text((x + 14, floor - 46), "POST", fill=(180, 40, 40), font=ImageFont.load_default(20))
    else:
        pen.rounded_rectangle((x + 22, floor - 48, x + 80, floor - 22), 10, fill=colour)
        pen.rectangle((x + 32, floor - 42, x + 70, floor - 28), fill=(150, 190, 215))
        pen.rounded_rectangle((x, floor - 32, x + 104, floor - 10), 8, fill=colour)
    for wheel in (x + 14, x + 76):
        pen.ellipse((wheel, floor - 18, wheel + 18, floor), fill=(20, 20, 22))


if __name__ == "__main__":
    sys.exit(main())
