"""The scores that a threshold of merging is chosen by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.merge_threshold import THRESHOLDS, main, scores_of
from tests.engine.answering.world import ScriptedSimilarity
from tests.engine.indexing.media import run_ffmpeg


def test_neighbours_of_one_video_and_all_pairs_of_two_are_scored() -> None:
    adjacent, across = scores_of(ScriptedSimilarity(), [["a b", "a c", "a c"], ["x y", "a y"]])

    # Shared words of each pair over their mean length, neighbours of the first video first.
    assert adjacent.tolist() == pytest.approx([0.5, 1.0, 0.5])
    assert across.tolist() == pytest.approx([0.0, 0.5, 0.0, 0.5, 0.0, 0.5])


def test_scores_are_rescaled_by_the_baseline() -> None:
    adjacent, _ = scores_of(ScriptedSimilarity(baseline=0.25), [["a b", "a c"], ["x"]])

    assert adjacent.tolist() == pytest.approx([(0.5 - 0.25) / 0.75])


@pytest.mark.parametrize("videos", [[["a", "b"]], [["a"], ["b"]], [["a", "b"], []]])
def test_too_few_descriptions_are_an_error(videos: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="at least two videos"):
        scores_of(ScriptedSimilarity(), videos)


@pytest.mark.long
def test_the_command_prints_a_line_per_threshold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "red.mp4", tmp_path / "blue.mp4"]
    for file in files:
        run_ffmpeg("-f", "lavfi", "-i", f"color=c={file.stem}:s=96x64:r=5:d=7", "-c:v", "mpeg4", str(file))

    assert main([str(file) for file in files]) == 0

    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["threshold"] for row in rows] == list(THRESHOLDS)
    assert {(row["similarity"], row["adjacent_pairs"], row["across_pairs"]) for row in rows} == {
        ("bertscore-minilm-6", 4, 9)
    }
    shares = [row["adjacent_share"] for row in rows]
    assert shares == sorted(shares, reverse=True)
