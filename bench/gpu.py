"""Prints the figures of a machine with an NVIDIA device, one JSON line each: python -m bench.gpu [--only NAME].

Needs no server and no weights: the networks are those of the presets with random weights, which take as long.
Exits with status 1 if a figure misses its target, or if the measurement itself fails with a traceback.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import av
import numpy as np

from bench.figures import Figures, at_least, at_most, ratio, show_progress, side_by_side
from bench.runner import print_figures
from gpu_workers.engine.ekg import CHUNK_MS, Span
from gpu_workers.engine.indexing.frame_samples import DECODER_THREADS, FrameSamples
from gpu_workers.engine.indexing.segments import plan_segments
from gpu_workers.engine.models.roles import Meter

FPS, MAX_SIDE = 2.0, 768
"""Frame rate and largest side, as in the service."""
SECONDS, RATE = 60, 25
SIZES = {"hd": (1280, 720), "uhd": (3840, 2160)}
REPEATS = 3
TEXTS_AN_HOUR, FRAMES_AN_HOUR = 1_650, 7_200
"""Texts that the merge encodes for an hour of video (1,200 descriptions, 450 events), frames at FPS."""
HOUR_S = 123
"""Seconds of an H100 that docs/lab/hour-of-video.md assumes for the VLM and the LLM of an hour of video."""
DETECTED, STREAMS = 1_000, 8
"""Pictures that the detector is shown, and streams in real time that one device is to follow: a worker's segments at
once."""
SHARE = 0.1
"""Part of HOUR_S below which docs/lab/hour-of-video.md puts the embedders."""

FIGURES: Mapping[str, tuple[str, str]] = {
    "nvdec_hd": ("gpu", "hd"),
    "nvdec_hd_cpu": ("gpu", "hd"),
    "nvdec_uhd": ("gpu", "uhd"),
    "nvdec_uhd_cpu": ("gpu", "uhd"),
    "deberta_an_hour": ("gpu", "deberta"),
    "siglip_an_hour": ("gpu", "siglip"),
    "rtdetr_streams": ("gpu", "rtdetr"),
}


def hd() -> Figures:
    yield from _nvdec("hd", seconds=SECONDS)


def uhd() -> Figures:
    yield from _nvdec("uhd", seconds=SECONDS // 3)


def _nvdec(name: str, *, seconds: int) -> Figures:
    path, spans = _clip(name, seconds), plan_segments(seconds * 1000)
    used: dict[str, float] = {}

    def sample(choice: str) -> None:
        before = time.process_time()
        _sample(path, spans, choice)
        used[choice] = time.process_time() - before

    cpu, device = side_by_side(REPEATS, partial(sample, "off"), partial(sample, "cuda"))
    width, height = SIZES[name]
    reference = (
        f"sampling {seconds} s of {width} x {height} H.264 at {FPS:g} pictures per second on the CPU of the same "
        f"machine with {DECODER_THREADS} threads of {os.cpu_count()} cores"
    )
    times = f"{cpu.median:.2f} s; NVDEC {device.median:.2f} s"
    yield at_least(f"nvdec_{name}", ratio(cpu, device), 1.0, f"{reference} ({times})")
    times = f"{used['off']:.2f} CPU seconds; NVDEC {used['cuda']:.2f}"
    yield at_least(f"nvdec_{name}_cpu", used["off"] / used["cuda"], 2.0, f"{reference} ({times})")


def _sample(path: Path, spans: Sequence[Span], choice: str) -> None:
    with _hwaccel(choice):
        for span in spans:
            samples = FrameSamples(str(path), span, fps=FPS, max_side=MAX_SIDE, hold_ms=CHUNK_MS)
            for _ in samples:
                pass
            if samples.hardware_failure is not None:
                raise AssertionError(samples.hardware_failure)


@contextmanager
def _hwaccel(choice: str) -> Iterator[None]:
    before = os.environ.get("AVA_HWACCEL")
    os.environ["AVA_HWACCEL"] = choice
    try:
        yield
    finally:
        os.environ.pop("AVA_HWACCEL")
        if before is not None:
            os.environ["AVA_HWACCEL"] = before


@cache
def _clip(name: str, seconds: int) -> Path:
    """Write a picture that moves everywhere, with noise, as H.264 with B-frames."""
    path = Path(tempfile.mkdtemp(prefix="ava-bench-")) / f"{name}.mp4"
    show_progress(f"making {path.name}")
    width, height = SIZES[name]
    rng = np.random.default_rng(1)
    scene = np.repeat(np.repeat(rng.integers(0, 255, (height // 40, width // 20, 3), np.uint8), 40, 0), 40, 1)
    noise = rng.integers(0, 12, (8, height, width, 3), np.uint8)
    with av.open(str(path), "w") as container:
        options = {"preset": "veryfast", "b": "4M", "bf": "3", "g": str(2 * RATE)}
        stream = container.add_stream("libx264", rate=RATE, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for n in range(seconds * RATE):
            shift = 4 * n % width
            picture = np.ascontiguousarray(scene[:height, shift : shift + width]) // 2 + noise[n % len(noise)]
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = n, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def deberta() -> Figures:
    from gpu_workers.engine.models.local.similarity import DEBERTA_LAYER, BertScoreSimilarity

    with tempfile.TemporaryDirectory() as folder:
        _write_deberta(Path(folder))
        model = BertScoreSimilarity(folder, num_layers=DEBERTA_LAYER, baseline=0, name="deberta-xlarge", device="cuda")
        rng = np.random.default_rng(2)
        texts = [" ".join(f"w{n}" for n in rng.integers(0, 9_000, rng.integers(30, 70))) for _ in range(TEXTS_AN_HOUR)]
        yield from _an_hour(
            "deberta", len(texts), "texts of 30 to 70 words, deberta-xlarge", partial(model.encode, texts)
        )


def siglip() -> Figures:
    from gpu_workers.engine.models.local.siglip import SiglipEmbedder

    with tempfile.TemporaryDirectory() as folder:
        _write_siglip(Path(folder))
        model = SiglipEmbedder(folder, name="siglip2-base-patch16-384", device="cuda")
        picture = np.random.default_rng(3).integers(0, 255, (432, 768, 3), np.uint8)
        pictures = [picture] * FRAMES_AN_HOUR
        yield from _an_hour(
            "siglip", len(pictures), "frames, siglip2-base-patch16-384", partial(model.embed_frames, pictures)
        )


def rtdetr() -> Figures:
    import torch

    from gpu_workers.engine.models.local.rtdetr import RtDetrDetector
    from gpu_workers.engine.models.observer.following import TRACKED_FPS

    with tempfile.TemporaryDirectory() as folder:
        _write_rtdetr(Path(folder))
        model = RtDetrDetector(folder, name="rtdetr_v2_r50vd", device="cuda")
        pictures = [np.random.default_rng(4).integers(0, 255, (432, 768, 3), np.uint8)] * DETECTED
        run = partial(model.detect_all, pictures)
        run(meter=Meter())  # the first call also chooses kernels
        meter = Meter()
        (wall,) = side_by_side(1, partial(run, meter=meter))
        device_s = sum(call.device_ms or 0 for call in meter.calls) / 1000
        reference = (
            f"one stream at {TRACKED_FPS:g} pictures per second; {DETECTED} pictures in batches of {model.batch}, "
            f"rtdetr_v2_r50vd with random weights, took {wall.median:.2f} s, {device_s:.2f} s of them on the "
            f"{torch.cuda.get_device_name()}"
        )
        yield at_least("rtdetr_streams", DETECTED / wall.median / TRACKED_FPS, STREAMS, reference)


def _an_hour(name: str, count: int, what: str, run: Any) -> Figures:
    import torch

    run(meter=Meter())  # the first call also chooses kernels
    meter = Meter()
    (wall,) = side_by_side(1, partial(run, meter=meter))
    device_s = sum(call.device_ms or 0 for call in meter.calls) / 1000
    reference = (
        f"{HOUR_S} s, the time that docs/lab/hour-of-video.md assumes for the VLM and the LLM of an hour on an H100; "
        f"{count} {what} with random weights took {wall.median:.2f} s, {device_s:.2f} s of them on the "
        f"{torch.cuda.get_device_name()}"
    )
    yield at_most(f"{name}_an_hour", wall.median / HOUR_S, SHARE, reference)


def _write_deberta(folder: Path) -> None:
    from transformers import DebertaConfig, DebertaModel

    config = DebertaConfig(
        hidden_size=1024, num_hidden_layers=48, num_attention_heads=16, intermediate_size=4096, vocab_size=50_265,
        relative_attention=True, max_relative_positions=-1, position_biased_input=False, pos_att_type=["c2p", "p2c"],
        type_vocab_size=0,
    )  # fmt: skip
    DebertaModel(config).save_pretrained(folder)
    _tokenizer().save_pretrained(folder)


def _write_siglip(folder: Path) -> None:
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel, SiglipProcessor

    config = SiglipConfig(vision_config={"image_size": 384, "patch_size": 16}, text_config={"vocab_size": 32_000})
    SiglipModel(config).save_pretrained(folder)
    pictures = SiglipImageProcessor(size={"height": 384, "width": 384})
    SiglipProcessor(pictures, _tokenizer()).save_pretrained(folder)  # type: ignore[no-untyped-call]


def _write_rtdetr(folder: Path) -> None:
    from transformers import RTDetrImageProcessorPil, RTDetrV2Config, RTDetrV2ForObjectDetection

    # The defaults are those of R50, and COCO has 80 categories.
    names = ["person", *(f"thing {n}" for n in range(1, 80))]
    config = RTDetrV2Config(id2label=dict(enumerate(names)), label2id={name: n for n, name in enumerate(names)})
    RTDetrV2ForObjectDetection(config).save_pretrained(folder)
    RTDetrImageProcessorPil().save_pretrained(folder)


def _tokenizer() -> Any:
    """Return a tokenizer of whole words: what a text means makes no difference to the time."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = {word: n for n, word in enumerate(["[PAD]", "[CLS]", "[SEP]", "[UNK]", *(f"w{n}" for n in range(9_000))])}
    tokenizer = Tokenizer(models.WordLevel(words, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    named = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "unk")}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)  # type: ignore[no-untyped-call]


def main(arguments: Sequence[str] | None = None) -> int:
    return print_figures(FIGURES, __doc__, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
