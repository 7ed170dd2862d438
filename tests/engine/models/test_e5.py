"""The multilingual encoder: its 4-bit file is read as its form says, and it finds across languages."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from gpu_workers.engine.models import weights
from gpu_workers.engine.models.local.e5 import _BLOCK, E5TextEmbedder, read_packed, unpacked
from gpu_workers.engine.models.model_table import find_model, speaks
from gpu_workers.engine.models.roles import Meter, embed_queries


def test_a_block_of_weights_is_its_scale_times_each_half_less_eight() -> None:
    # Byte n holds weight n in its low half and weight n + 16 in its high half.
    halves = bytes(low | high << 4 for low, high in zip(range(16), range(15, -1, -1), strict=True))
    block = np.frombuffer(struct.pack("<e", 0.5) + halves, _BLOCK).reshape(1, 1)

    [row] = unpacked(block)

    assert row[:16].tolist() == [0.5 * (n - 8) for n in range(16)]
    assert row[16:].tolist() == [0.5 * (n - 8) for n in range(15, -1, -1)]


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.bin").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match=r"other\.bin is not of form E5S1"):
        read_packed(tmp_path / "other.bin")


def test_the_table_says_which_models_know_english_alone() -> None:
    assert find_model("multilingual-e5-small").languages == ()  # type: ignore[union-attr]
    assert [speaks(name, "de") for name in ("all-minilm-l6-v2", "multilingual-e5-small", "smollm2")] == [
        False, True, False,
    ]  # fmt: skip
    assert speaks("a model of the customer's own", "de")
    assert speaks("all-minilm-l6-v2", "en")


@pytest.mark.slow
def test_questions_in_four_languages_find_the_same_english_events() -> None:
    embedder = E5TextEmbedder(weights.fetch("multilingual-e5-small"), name="multilingual-e5-small", batch=2)
    meter = Meter()
    events = ["A man opens the door.", "A dog plays with a ball.", "A woman peels potatoes in a kitchen."]
    asked = ["Wer öffnet die Tür?", "¿Quién juega con una pelota?", "狗在玩球", "امرأة تقشر البطاطس"]

    stored = embedder.embed([*events, ""], meter=meter)
    cosines = embed_queries(embedder, asked, meter=meter) @ stored.T

    assert cosines.argmax(axis=1).tolist() == [0, 1, 1, 2]
    assert np.linalg.norm(stored[:3], axis=1) == pytest.approx(1.0, abs=1e-5)
    assert not stored[3].any()
    assert [call.items for call in meter.calls] == [4, 4]
    # The published tokenizer cuts this text so.
    ids = embedder.token_ids("query: how much protein")
    assert ids == [0, 41, 1294, 12, 3642, 5045, 21308, 2]
    assert len(embedder.token_ids("Wort " * 2_000)) == 512
