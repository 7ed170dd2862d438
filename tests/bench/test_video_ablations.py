"""Ablations by name: each changes the setting that the method reads, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bench.evaluation.videos.ablations import Ablation, UnknownSetting
from gpu_workers.engine.answering.catalogue import AVATAAR, VIDEOAGENT, VIDEOAGENT_MEM
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.models.calibration import UNMEASURED

PAPER = settings_for("paper", UNMEASURED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("depth=1", {"max_depth": 1}),
        ("samples=2,lambda=0.5", {"n": 2, "trade_off": 0.5}),
        ("requery=off", {"requery": False}),
        ("ca=off", {"check": "off"}),
        ("ca=on", {}),
        ("support=off", {"weight": 0.0, "judge_tokens": 0}),
        ("level_width=none,adaptive=on", {"level_width": None, "adaptive": True}),
    ],
)
def test_a_name_changes_its_setting(text: str, expected: dict[str, Any]) -> None:
    assert Ablation.read(text).search(PAPER, "ava") == changed(PAPER, **expected)


def test_looking_is_switched_on_where_the_effort_does_not_look() -> None:
    low = settings_for("low", UNMEASURED)

    assert Ablation.read("ca=on").search(low, "ava").look.check == "on_disagreement"


@pytest.mark.parametrize(
    ("views", "counts"),
    [
        ("event", (4, 0, 0, 0, 0, 0)),
        ("entity+frame", (0, 5, 32, 0, 0, 0)),
        ("event+entity+frame", (4, 5, 32, 0, 0, 0)),
        ("event+transcript+graph+words", (4, 0, 0, 5, 5, 16)),
    ],
)
def test_views_that_are_not_named_are_not_asked(views: str, counts: tuple[int, ...]) -> None:
    found = Ablation.read(f"views={views}").search(PAPER, "ava").retrieval

    assert (
        found.events, found.entities, found.frames, found.transcript, found.graph_events, found.words,
    ) == counts  # fmt: skip
    assert found.fusion == "borda", "the rest is the paper's"


def test_fusion_is_one_of_those_there_are() -> None:
    assert Ablation.read("fusion=rrf").search(PAPER, "ava").retrieval.fusion == "rrf"
    with pytest.raises(UnknownSetting, match="contrast, borda, rrf, sum"):
        Ablation.read("fusion=best").search(PAPER, "ava")


@pytest.mark.parametrize(
    ("method", "text", "own"),
    [
        ("videoagent", "rounds=1,first_frames=8", replace(VIDEOAGENT["paper"], rounds=1, first_frames=8)),
        ("avataar", "functions=0,rethinks=0", replace(AVATAAR["paper"], functions=0, rethinks=0)),
        ("videoagent_mem", "objects=off", replace(VIDEOAGENT_MEM["paper"], objects=False)),
    ],
)
def test_a_method_has_settings_of_its_own(method: str, text: str, own: Any) -> None:
    assert Ablation.read(text).search(PAPER, method) == replace(PAPER, own=own)
    with pytest.raises(UnknownSetting):
        Ablation.read(text).search(PAPER, "ava")


def test_the_index_is_changed_apart_from_the_search() -> None:
    found = Ablation.read("merge=0.8,linking=off,depth=1")

    assert found.search(PAPER, "ava") == changed(PAPER, max_depth=1)
    assert found.index is not None
    assert found.index.threshold == 0.8
    assert found.index.linking.floor > 1, "no cosine reaches it"
    assert Ablation.read("depth=1").index is None
    linked = Ablation.read("linking=on").index
    assert linked is not None
    assert (linked.threshold, linked.linking.tau) == (None, 0.80)


@pytest.mark.parametrize(
    "text", ["depth", "depth=", "=1", "depth=deep", "requery=1", "speed=3", "views=sound", "check=off", "effort=low"]
)
def test_what_cannot_be_set_is_refused(text: str) -> None:
    with pytest.raises(UnknownSetting):
        Ablation.read(text).search(PAPER, "ava")


def test_the_label_is_what_was_asked_for() -> None:
    assert Ablation.read(" depth=1 , views=event+entity").label == "depth=1,views=event+entity"
    assert Ablation.read("").label == ""
