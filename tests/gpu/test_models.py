"""Models in process on a device: vectors and scores are those of the CPU, and the device's time is on the meter."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_workers.engine.models.roles import Meter

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")

TEXTS = [
    "A brown dog runs across a wet road.",
    "The dog crosses the street in the rain.",
    "Two people sit at a table and eat soup.",
    "",
    "A white van stops at the blue house; the driver gets out, opens the back and carries a box. " * 6,
]


@pytest.fixture(scope="module")
def minilm() -> Path:
    """Return the folder of the embedded encoder: AVA_MINILM, or the weights that the service fetches."""
    from gpu_workers.engine.models import weights

    given = os.environ.get("AVA_MINILM")
    return Path(given) if given else weights.fetch("all-minilm-l6-v2")


def test_auto_takes_the_device() -> None:
    pytest.importorskip("openai", reason="the client of model servers is not installed")
    from gpu_workers.engine.models.bindings import device_of
    from gpu_workers.engine.models.settings import ModelSettings

    assert device_of(ModelSettings.from_env({"MODEL_DEVICE": "auto"})) == "cuda"
    assert device_of(ModelSettings.from_env({"MODEL_DEVICE": "cuda:0"})) == "cuda:0"


def on_both(run: Callable[[str, Meter], NDArray[np.float32]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return what the CPU and the device give; the device's call must have occupied it."""
    meter = Meter()
    found = run("cuda", meter)
    assert all(call.device_ms for call in meter.calls)
    return run("cpu", Meter()), found


def test_text_vectors_are_those_of_the_cpu(minilm: Path) -> None:
    from gpu_workers.engine.models.local.encoders import MiniLMTextEmbedder

    cpu, cuda = on_both(lambda device, meter: MiniLMTextEmbedder(minilm, device=device).embed(TEXTS, meter=meter))
    assert np.abs(cpu - cuda).max() < 2e-3
    assert not cuda[3].any(), "an empty text has no vector"


def test_scores_are_those_of_the_cpu(minilm: Path) -> None:
    from gpu_workers.engine.models.local.similarity import BertScoreSimilarity

    def scores(device: str, meter: Meter) -> NDArray[np.float32]:
        model = BertScoreSimilarity(minilm, num_layers=6, baseline=0.0, name="minilm", device=device)
        encoded = model.encode(TEXTS, meter=meter)
        return np.array(model.score([encoded[0]] * len(TEXTS), list(encoded)).f1, dtype=np.float32)

    cpu, cuda = on_both(scores)
    assert np.abs(cpu - cuda).max() < 2e-3
    assert cuda[0] == pytest.approx(1, abs=2e-3)
    assert cuda[1] > cuda[2]
