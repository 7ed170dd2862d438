"""Questions about the whole tape, or about all of a stretch: an answer must name every topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.evaluation.tape10.number_questions import stretch
from bench.evaluation.tape10.question import Drawing, TapeQuestion, capital
from bench.evaluation.tape10.scenes import NAMES, scene
from bench.evaluation.tape10.time_questions import Draw, question, several
from bench.evaluation.tape10.world import Part
from gpu_workers.engine.ekg import Span

TOPIC_FORMS = {"all": 4, "when": 36, "steps": 15, "scene": 5}
"""Number of questions of each form."""

FEWEST, MOST = 2, 7
"""Number of topics that a stretch holds."""

SCENE_WORDS = {"shop": "shop", "street": "street", "wildlife": "forest", "kitchen": "kitchen", "office": "office"}


def topics_in(parts: Sequence[Part], span: Span) -> list[Part] | None:
    """Return the topics that lie in span as a whole; None if one that is cut lies in it for more than half."""
    cut = [part for part in parts if part.span.overlaps(span) and not span.holds(part.span)]
    for part in cut:
        inside = part.span.cut_to(span)
        if inside is not None and 2 * inside.duration_ms > part.span.duration_ms:
            return None
    return [part for part in parts if span.holds(part.span)]


def whole(drawing: Drawing) -> TapeQuestion | None:
    keys = tuple(scene(name).scene for name in NAMES)
    text = drawing.sentence("whole.all", {})
    return question(drawing, "whole", "all", text, "topics", span=drawing.world.span, topics=keys)


def _of_stretch(form: str) -> Draw:
    def draw(drawing: Drawing) -> TapeQuestion | None:
        drawn = stretch(drawing, most_ms=7_200_000)
        if drawn is None:
            return None
        when, span = drawn
        parts = topics_in(drawing.world.parts, span)
        if parts is None or not FEWEST <= len(parts) <= MOST:
            return None
        text = capital(drawing.sentence(f"whole.{form}", {"when": when, "When": capital(when)}))
        keys = tuple(part.key for part in parts)
        return question(drawing, "whole", form, text, "topics", span=span, topics=keys)

    return draw


def of_scene(drawing: Drawing) -> TapeQuestion | None:
    name = drawing.rng.choice(NAMES)
    keys = tuple(part.key for part in drawing.world.parts if part.scene == name)
    text = drawing.sentence("whole.scene", {"scene": SCENE_WORDS[name]})
    return question(drawing, "whole", "scene", text, "topics", topics=keys, scene=name)


def topic_questions(drawing: Drawing) -> Iterator[TapeQuestion]:
    draws: dict[str, Draw] = {
        "all": whole, "when": _of_stretch("when"), "steps": _of_stretch("steps"), "scene": of_scene,
    }  # fmt: skip
    for form, count in TOPIC_FORMS.items():
        yield from several(drawing, draws[form], count)
