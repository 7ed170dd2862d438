"""Text and frame vectors, BERTScore, SigLIP and speech with real weights (SigLIP: tiny and random, made here)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import bert_score
import numpy as np
import pytest
from faster_whisper import decode_audio

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.local.conse import ConseFrameEmbedder
from gpu_workers.engine.models.local.encoders import MiniLMTextEmbedder
from gpu_workers.engine.models.local.siglip import SiglipEmbedder
from gpu_workers.engine.models.local.similarity import MINILM_BASELINE, BertScoreSimilarity
from gpu_workers.engine.models.observer.detector import SsdDetector
from gpu_workers.engine.models.observer.scene import SceneClassifier
from gpu_workers.engine.models.roles import Meter, Transcriber
from tests.engine.models.tiny_models import write_siglip
from tests.engine.models.whisper_base import whisper_base
from tests.shared_data import SHARED_DATA, needs

SPEECH = SHARED_DATA / "audio" / "jfk.flac"

UNRELATED = (
    "A man in a black coat walks along a wet street.",
    "Two zebras drink from a river at dawn.",
    "The chef chops onions on a wooden board.",
    "A red bus turns left at the crossing.",
    "Snow covers the roof of a small church.",
    "A girl plays the violin on a stage.",
    "Waves break against a lighthouse.",
    "An empty office with rows of grey desks.",
    "A dog catches a yellow frisbee in the park.",
    "Workers pour concrete into a foundation.",
    "The scoreboard shows three to one.",
    "A cat sleeps on a windowsill.",
    "Fireworks light up the harbour.",
    "A surgeon puts on blue gloves.",
    "Students write an exam in silence.",
    "A tractor ploughs a brown field.",
    "The screen shows a weather map of Europe.",
    "A cyclist repairs a flat tyre.",
    "Bees crawl over a honeycomb.",
    "Passengers queue at an airport gate.",
)


@pytest.fixture(scope="module")
def minilm() -> MiniLMTextEmbedder:
    return MiniLMTextEmbedder(weights.fetch("all-minilm-l6-v2"))


@pytest.fixture(scope="module")
def similarity() -> BertScoreSimilarity:
    folder = weights.fetch("all-minilm-l6-v2")
    return BertScoreSimilarity(folder, num_layers=6, baseline=MINILM_BASELINE, name="bertscore-minilm-6")


def test_texts_of_one_meaning_are_near_each_other(minilm: MiniLMTextEmbedder) -> None:
    meter = Meter()
    rows = minilm.embed(["A dog runs.", "", "A puppy is running.", "The stock market fell."], meter=meter)
    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows[[0, 2, 3]], axis=1) == pytest.approx(1.0, abs=1e-5)
    assert not rows[1].any(), "an empty text is a zero row"
    assert rows[0] @ rows[2] > 0.7 > 0.2 > rows[0] @ rows[3]
    assert meter.calls[0].items == 4


def test_a_vector_does_not_depend_on_its_batch(minilm: MiniLMTextEmbedder) -> None:
    alone = minilm.embed([UNRELATED[0]], meter=Meter())[0]
    together = minilm.embed(UNRELATED, meter=Meter())[0]
    assert np.abs(alone - together).max() < 1e-5


def test_scores_equal_the_packages_own(similarity: BertScoreSimilarity) -> None:
    candidates, references = list(UNRELATED[:6]), [UNRELATED[0], *UNRELATED[4:9]]
    ours = similarity.score(similarity.encode(candidates, meter=Meter()), similarity.encode(references, meter=Meter()))
    theirs = bert_score.score(
        candidates, references, model_type=str(weights.fetch("all-minilm-l6-v2")), num_layers=6, device="cpu"
    )
    for mine, expected in zip((ours.precision, ours.recall, ours.f1), theirs, strict=True):
        assert np.abs(mine - expected.numpy()).max() < 1e-4
    assert ours.f1[0] == pytest.approx(1.0, abs=1e-4)


def test_empty_and_endless_texts_are_scored_too(similarity: BertScoreSimilarity) -> None:
    encoded = similarity.encode(["", "  ", "word " * 3000, "word"], meter=Meter())
    scores = similarity.score([encoded[0], encoded[3], encoded[2]], [encoded[3], encoded[1], encoded[2]])
    assert scores.f1[:2].tolist() == [0.0, 0.0]
    assert scores.f1[2] == pytest.approx(1.0, abs=1e-3)
    assert similarity.score([], []).f1.shape == (0,)


def test_the_baseline_is_the_mean_of_unrelated_pairs(similarity: BertScoreSimilarity) -> None:
    encoded = similarity.encode(UNRELATED, meter=Meter())
    pairs = list(itertools.combinations(range(len(UNRELATED)), 2))
    scores = similarity.score([encoded[a] for a, _ in pairs], [encoded[b] for _, b in pairs])
    assert float(scores.f1.mean()) == pytest.approx(MINILM_BASELINE, abs=0.01)


@pytest.mark.long
def test_a_photograph_is_nearest_to_what_it_shows(minilm: MiniLMTextEmbedder, tmp_path: Path) -> None:
    from sklearn.datasets import load_sample_images

    scene = SceneClassifier(weights.fetch("efficientnet-lite3"))
    detector = SsdDetector(weights.fetch("ssd-mobilenet-v2"))
    frames = ConseFrameEmbedder(minilm, scene, detector, cache_dir=tmp_path)
    china, flower = frames.embed_frames(load_sample_images().images, meter=Meter())
    palace = frames.embed_query("an old palace", meter=Meter())
    blossom = frames.embed_query("a flower in bloom", meter=Meter())
    assert china @ palace > flower @ palace
    assert flower @ blossom > china @ blossom
    (cached,) = tmp_path.iterdir()
    before = cached.stat().st_mtime_ns
    again = ConseFrameEmbedder(minilm, scene, detector, cache_dir=tmp_path)
    assert np.allclose(again.embed_frames(load_sample_images().images[:1], meter=Meter())[0], china, atol=1e-5)
    assert cached.stat().st_mtime_ns == before, "label vectors come from the cache"


def test_siglip_loads_from_a_folder_and_puts_texts_and_frames_into_one_space(tmp_path: Path) -> None:
    folder = write_siglip(tmp_path / "siglip", tokenizer=weights.fetch("all-minilm-l6-v2"))
    siglip, meter = SiglipEmbedder(folder, name="tiny-siglip", batch=2), Meter()
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, (40, 60, 3), dtype=np.uint8) for _ in range(3)]
    frames = siglip.embed_frames(pictures, meter=meter)
    query = siglip.embed_query("a cat " * 80, meter=meter)
    assert (siglip.dimension, frames.shape, query.shape) == (16, (3, 16), (16,))
    assert np.linalg.norm([*frames, query], axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.allclose(siglip.embed_frames(pictures[2:], meter=meter)[0], frames[2], atol=1e-5)
    assert not np.allclose(frames[0], frames[1], atol=1e-3)
    assert not np.allclose(siglip.embed_query("a dog", meter=meter), query, atol=1e-4)
    assert siglip.embed_frames([], meter=meter).shape == (0, 16)
    assert [call.items for call in meter.calls] == [3, 1, 1, 1]


@pytest.fixture(params=["in process", pytest.param("served", marks=pytest.mark.long)])
def whisper(request: pytest.FixtureRequest) -> Iterator[Transcriber]:
    """Yield Whisper base in the worker, and behind a server."""
    with whisper_base(served=request.param == "served") as transcriber:
        yield transcriber


@needs(SPEECH)
def test_speech_is_heard_in_its_language_or_in_the_one_that_is_given(whisper: Transcriber) -> None:
    samples = decode_audio(str(SPEECH))

    heard = whisper.transcribe(samples, offset_ms=0, meter=Meter())
    forced = whisper.transcribe(samples, offset_ms=0, meter=Meter(), language="de")
    unknown = whisper.transcribe(samples, offset_ms=0, meter=Meter(), language="xx")

    assert {line.language for line in heard} == {"en"}
    assert "country" in " ".join(line.text for line in heard)
    assert {line.language for line in forced} == {"de"}
    assert unknown == heard


@needs(SPEECH)
@pytest.mark.parametrize("silence_ms", [700, 2_300])
def test_a_line_begins_with_its_speech_and_not_in_the_silence_before(silence_ms: int, whisper: Transcriber) -> None:
    spoken = decode_audio(str(SPEECH))
    loud = np.flatnonzero(np.abs(spoken) > 0.05)
    begins_ms = silence_ms + int(loud[0]) // 16
    samples = np.concatenate([np.zeros(silence_ms * 16, dtype=np.float32), spoken])

    line = whisper.transcribe(samples, offset_ms=0, meter=Meter())[0]

    assert abs(line.span.start_ms - begins_ms) <= 100
    assert abs(line.words[0][0] - begins_ms) <= 100


def test_silence_and_noise_give_no_words(whisper: Transcriber) -> None:
    meter = Meter()
    assert whisper.transcribe(np.zeros(16_000, dtype=np.float32), offset_ms=0, meter=meter) == []
    noise = np.random.default_rng(0).normal(0, 0.02, 32_000).astype(np.float32)
    assert whisper.transcribe(noise, offset_ms=0, meter=meter) == []
    assert {call.stage for call in meter.calls} <= {"transcription"}
    assert sum(call.items for call in meter.calls) == 0
