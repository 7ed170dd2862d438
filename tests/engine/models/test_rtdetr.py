"""RT-DETR by transformers: a tiny random one, saved to a folder and loaded as the presets with a GPU load theirs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import huggingface_hub.constants
import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import RTDetrV2ForObjectDetection

from gpu_workers.engine.ekg import CHUNK_MS, Picture, SampledFrame, Span
from gpu_workers.engine.models import bindings, weights
from gpu_workers.engine.models.local import rtdetr
from gpu_workers.engine.models.local.rtdetr import RtDetrDetector
from gpu_workers.engine.models.model_table import table
from gpu_workers.engine.models.observer import detection
from gpu_workers.engine.models.observer.detection import FLOOR, LABELS, Detection
from gpu_workers.engine.models.observer.detector import SsdDetector
from gpu_workers.engine.models.observer.following import Follower
from gpu_workers.engine.models.observer.movement import thumbnail
from gpu_workers.engine.models.roles import ChunkView, Meter, SegmentView
from gpu_workers.engine.models.settings import ModelSettings
from gpu_workers.engine.models.weights import WeightsCorrupt, WeightsUnavailable
from tests.engine.models.test_observer import ScriptedDetector, ScriptedScene
from tests.engine.models.tiny_models import write_rtdetr, write_siglip

PUBLISHED = (
    "person bicycle car motorbike aeroplane bus train truck boat traffic_light fire_hydrant stop_sign "
    "parking_meter bench bird cat dog horse sheep cow elephant bear zebra giraffe backpack umbrella handbag tie "
    "suitcase frisbee skis snowboard sports_ball kite baseball_bat baseball_glove skateboard surfboard "
    "tennis_racket bottle wine_glass cup fork knife spoon bowl banana apple sandwich orange broccoli carrot "
    "hot_dog pizza donut cake chair sofa pottedplant bed diningtable toilet tvmonitor laptop mouse remote "
    "keyboard cell_phone microwave oven toaster sink refrigerator book clock vase scissors teddy_bear hair_drier "
    "toothbrush"
)
"""Labels of PekingU/rtdetr_v2_r50vd, with _ for spaces."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rtdetr(tmp_path_factory.mktemp("models") / "rtdetr")


def noise(count: int) -> list[Picture]:
    random = np.random.default_rng(0)
    return [random.integers(0, 256, (90, 160, 3), dtype=np.uint8) for _ in range(count)]


def by_hand(folder: Path, picture: Picture) -> list[tuple[str, float, tuple[float, ...]]]:
    """Return (label, score, corners as fractions) of the ten surest pairs of a query and a label, surest first."""
    model = RTDetrV2ForObjectDetection.from_pretrained(folder).eval()
    small = np.asarray(Image.fromarray(picture).resize((64, 64), Image.Resampling.BILINEAR), dtype=np.float32) / 255
    with torch.inference_mode():
        outputs = model(pixel_values=torch.from_numpy(small.transpose(2, 0, 1).copy())[None])
    scores = 1 / (1 + np.exp(-outputs.logits[0].numpy()))
    pairs = sorted(np.ndindex(*scores.shape), key=lambda pair: -scores[pair])[:10]
    rows = []
    for query, label in pairs:
        x, y, w, h = outputs.pred_boxes[0, query].tolist()
        corners = tuple(min(1.0, max(0.0, value)) for value in (x - w / 2, y - h / 2, x + w / 2, y + h / 2))
        rows.append((model.config.id2label[label], float(scores[query, label]), corners))
    return rows


def test_a_batch_gives_categories_scores_and_boxes_in_fractions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The random model finds boxes of 5 % in every picture, of which none may be dropped here."""
    monkeypatch.setattr(rtdetr, "suppress", list)
    detector, meter = RtDetrDetector(folder, name="tiny-rtdetr", batch=2), Meter()
    found = detector.detect_all(noise(3), meter=meter)
    assert len(found) == 3
    for picture, mine in zip(noise(3), found, strict=True):
        names = {"person": "person", "motorbike": "motorcycle", "tvmonitor": "television"}
        expected = [row for row in by_hand(folder, picture) if row[1] > FLOOR and row[0] in names]
        assert expected
        assert [one.category for one in mine] == [names[label] for label, _, _ in expected]
        assert [one.confidence for one in mine] == pytest.approx([score for _, score, _ in expected], abs=1e-4)
        boxes, corners = [one.box for one in mine], [row[2] for row in expected]
        assert np.allclose(boxes, corners, atol=1e-4)
    (call,) = meter.calls
    assert (call.stage, call.model, call.items, call.device_ms is not None) == ("detection", "tiny-rtdetr", 3, True)


def test_of_two_boxes_on_one_thing_the_better_one_is_kept(folder: Path) -> None:
    detector = RtDetrDetector(folder, name="tiny-rtdetr")
    (found,) = detector.detect_all(noise(1), meter=Meter())
    assert found == detection.suppress(found)
    assert detector.detect_all([], meter=Meter()) == []


def test_every_label_of_the_published_model_is_a_category_of_its_own() -> None:
    categories = [rtdetr._category(label.replace("_", " ")) for label in PUBLISHED.split()]
    assert len(categories) == len(set(categories)) == 80
    assert set(categories) == {label for label in LABELS if label not in ("", "-")}


class ScriptedBatch:
    """Finds what ScriptedDetector finds, in batches, and notes their sizes."""

    name, batch = "scripted", 4

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def detect_all(self, pictures: Sequence[Picture], *, meter: Meter) -> list[list[Detection]]:
        self.sizes.append(len(pictures))
        return [ScriptedDetector().detect(picture) for picture in pictures]


def walk(frames: int, fps: float) -> SegmentView:
    """Return one chunk in which a red person walks to the right."""
    pictures = []
    for n in range(frames):
        picture = np.full((240, 320, 3), (90, 100, 80), dtype=np.uint8)
        picture[80:200, 40 + 4 * n : 90 + 4 * n] = (200, 20, 20)
        pictures.append(SampledFrame(round(n * 1000 / fps), picture))
    return SegmentView(Span(0, CHUNK_MS), (ChunkView(0, Span(0, CHUNK_MS), tuple(pictures)),))


def test_a_detector_on_a_gpu_sees_every_frame_in_batches() -> None:
    detector, view = ScriptedBatch(), walk(30, 10.0)
    follower = Follower(detector, ScriptedScene(), fps=10.0)
    thumbnails = {frame.ms: thumbnail(frame.picture) for frame in view.chunks[0].frames}
    (person,) = follower.follow(view, thumbnails, meter=Meter()).tracks
    assert detector.sizes == [4, 4, 4, 4, 4, 4, 4, 2]
    assert person.category == "person"
    assert person.ms == list(range(0, 3_000, 100)), "seen on each frame, none filled in"
    assert [round(box[0] * 320) for box in person.boxes] == [40 + 4 * n for n in range(30)]


def test_a_real_model_follows_a_segment(folder: Path) -> None:
    meter, view = Meter(), walk(15, 5.0)
    follower = Follower(RtDetrDetector(folder, name="tiny-rtdetr", batch=4), ScriptedScene())
    thumbnails = {frame.ms: thumbnail(frame.picture) for frame in view.chunks[0].frames}
    follower.follow(view, thumbnails, meter=meter)
    assert sum(call.items for call in meter.calls if call.stage == "detection") == 15


def test_presets_with_a_gpu_name_it_and_the_others_keep_their_own() -> None:
    for one in table().presets.values():
        settings = ModelSettings.from_env({"MODEL_PRESET": one.name})
        expected = ("PekingU/rtdetr_v2_r50vd", True) if one.gpu_gib else ("ssd-mobilenet-v2", False)
        assert (one.in_process["detector"], settings.detector_batch > 1) == expected
    changed = {"MODEL_PRESET": "gpu-48gb", "DETECTOR_MODEL": "mine", "DETECTOR_FPS": "8", "DETECTOR_BATCH": "32"}
    mine = ModelSettings.from_env(changed)
    assert (mine.detector, mine.detector_fps, mine.detector_batch) == ("mine", 8.0, 32)


def test_a_worker_without_a_gpu_keeps_its_own_whatever_the_preset() -> None:
    """Its model servers have the preset's cards; it has none, and takes seconds for a picture."""
    settings = ModelSettings.from_env({"MODEL_PRESET": "gpu-48gb", "MODEL_DEVICE": "cpu"})
    assert isinstance(bindings._detector(settings), SsdDetector)


def test_the_bindings_load_the_folder_that_is_named(folder: Path) -> None:
    settings = ModelSettings(detector=str(folder), detector_fps=8.0, detector_batch=3, device="cpu")
    found = bindings._detector(settings)
    assert isinstance(found, RtDetrDetector)
    assert (found.name, found.batch) == (str(folder), 3)
    assert isinstance(bindings._detector(ModelSettings()), SsdDetector)
    follower = bindings._follower(settings)
    assert (follower.fps, follower.detector_name) == (8.0, str(folder))


def test_a_folder_that_holds_no_whole_detector_is_named(folder: Path, tmp_path: Path) -> None:
    def refused(path: Path, words: str) -> None:
        with pytest.raises(WeightsCorrupt, match=words) as caught:
            RtDetrDetector(path, name="mine")
        assert str(path) in str(caught.value)
        assert (caught.value.code, caught.value.retryable) == ("weights_corrupt", False)

    empty = tmp_path / "empty"
    empty.mkdir()
    refused(empty, "mine: .* has no detector that can be loaded")

    cut = write_rtdetr(tmp_path / "cut")
    whole = (cut / "model.safetensors").read_bytes()
    (cut / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    refused(cut, "has no detector that can be loaded")

    partial = write_rtdetr(tmp_path / "partial")
    tensors = load_file(partial / "model.safetensors")
    del tensors["model.enc_output.0.weight"]
    save_file(tensors, partial / "model.safetensors", metadata={"format": "pt"})
    refused(partial, r"lacks 1 weights, such as model\.enc_output\.0\.weight")

    other = write_siglip(tmp_path / "siglip", tokenizer=weights.fetch("all-minilm-l6-v2"))
    refused(other, "has no detector that can be loaded")

    refused(write_rtdetr(tmp_path / "strange", labels=("gazebo", "minaret")), "none of the categories")


def test_weights_that_cannot_be_had_say_which_commit_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(bindings, "_device", lambda name: "cuda")
    settings = ModelSettings.from_env({"MODEL_PRESET": "gpu-24gb"})
    with pytest.raises(WeightsUnavailable, match="PekingU/rtdetr_v2_r50vd at 282494075698"):
        bindings._detector(settings)
