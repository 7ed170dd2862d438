"""The largest picture of each track becomes a vector of the frame embedder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpu_workers.engine.ekg import SampledFrame, Span, TrackObservation
from gpu_workers.engine.indexing.crops import with_crops
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.local.siglip import SiglipEmbedder
from gpu_workers.engine.models.roles import Meter
from tests.engine.models.tiny_models import write_siglip


def track(*boxes: tuple[int, float, float, float, float]) -> TrackObservation:
    return TrackObservation(1, "person", Span(boxes[0][0], boxes[-1][0] + 1), 0.9, boxes=boxes)


def test_the_vector_is_that_of_the_largest_box_on_a_frame(tmp_path: Path) -> None:
    siglip = SiglipEmbedder(
        write_siglip(tmp_path / "siglip", tokenizer=weights.fetch("all-minilm-l6-v2")), name="tiny-siglip"
    )
    random, meter = np.random.default_rng(0), Meter()
    frames = [SampledFrame(ms, random.integers(0, 256, (40, 80, 3), dtype=np.uint8)) for ms in (0, 200, 400)]
    small, large, unseen = (0, 0.0, 0.0, 0.1, 0.2), (200, 0.25, 0.5, 0.75, 1.0), (300, 0.0, 0.0, 1.0, 1.0)
    tracks = [track(small, large, unseen), track(unseen), track((400, 0.5, 0.0, 1.0, 0.5))]

    first, second, third = with_crops(tracks, frames, siglip, meter=meter)

    assert second.crop is None, "no frame shows this track"
    assert first.crop is not None
    assert third.crop is not None
    assert (first.crop.ms, third.crop.ms) == (200, 400)
    pictures = [frames[1].picture[20:40, 20:60], frames[2].picture[0:20, 40:80]]
    expected = siglip.embed_frames(pictures, meter=Meter())
    assert np.allclose([first.crop.embedding, third.crop.embedding], expected, atol=1e-6)
    assert [call.items for call in meter.calls] == [2]
    assert (first, second, third) == tuple(tracks), "nothing else changes"


def test_no_tracks_need_no_model_call(tmp_path: Path) -> None:
    siglip = SiglipEmbedder(
        write_siglip(tmp_path / "siglip", tokenizer=weights.fetch("all-minilm-l6-v2")), name="tiny-siglip"
    )
    meter = Meter()
    assert with_crops([], [], siglip, meter=meter) == ()
    assert meter.calls == ()
