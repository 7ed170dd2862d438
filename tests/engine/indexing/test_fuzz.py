from __future__ import annotations

from pathlib import Path

from tests.engine.indexing.fuzz import files, outcome

FILES = 60


def test_damaged_and_hostile_files_are_refusals_or_videos(tmp_path: Path) -> None:
    """The files made with intent, and some of each damage; `make fuzz-media` sends a thousand."""
    found: dict[str, set[str]] = {}
    for kind, content in files(tmp_path, FILES, 7):
        path = tmp_path / "file"
        path.write_bytes(content)
        found.setdefault(kind, set()).add(outcome(path))
    assert found["playlist"] == {"playlist_refused"}
    assert found["dimensions"] == {"too_many_pixels"}
    assert found["rate"] == {"frame_rate_too_high"}
    assert found["duration"] == {"too_few_packets"}
    assert "video" in found["flip_bytes"]
    assert not [code for codes in found.values() for code in codes if code.startswith("retryable")]
