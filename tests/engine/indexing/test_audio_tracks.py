"""Audio tracks of a file: which are found, which are listened to, and what is heard on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span, TranscriptLine
from gpu_workers.engine.indexing.audio import read_audio
from gpu_workers.engine.indexing.audio_tracks import (
    MAX_HEARD,
    AudioTrack,
    is_choice,
    language_of,
    listened_tracks,
    merged_tracks,
    shown_title,
)
from gpu_workers.engine.indexing.probe import probe
from gpu_workers.engine.indexing.same_sound import is_same_sound
from gpu_workers.engine.indexing.segments import observe_segment
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.models.roles import Meter, Transcriber
from tests.engine.indexing.media import run_ffmpeg
from tests.engine.indexing.scripted import scripted_models
from tests.engine.models.whisper_base import whisper_base
from tests.shared_data import SHARED_DATA, needs

JFK = SHARED_DATA / "audio" / "jfk.flac"
PICTURE = ("-f", "lavfi", "-i", "testsrc2=s=64x48:r=5:d=11")
TONE = ("-f", "lavfi", "-i", "sine=f=330:d=11:r=16000")
SPEECH = ("-i", str(JFK))


class ListeningTranscriber:
    """A real transcriber that keeps in which language it was asked to listen."""

    name = "listening"

    def __init__(self, transcriber: Transcriber) -> None:
        self.languages: list[str] = []
        self._transcriber = transcriber

    def transcribe(
        self, samples: NDArray[np.float32], *, offset_ms: int, meter: Meter, language: str = ""
    ) -> Sequence[TranscriptLine]:
        self.languages.append(language)
        return self._transcriber.transcribe(samples, offset_ms=offset_ms, meter=meter, language=language)


@pytest.fixture(params=["in process", pytest.param("served", marks=pytest.mark.long)])
def whisper(request: pytest.FixtureRequest) -> Iterator[Transcriber]:
    """Yield Whisper base in the worker, and behind a server."""
    with whisper_base(served=request.param == "served") as transcriber:
        yield transcriber


def heard(
    path: Path, whisper: Transcriber, *, choice: str = "all", language: str = ""
) -> tuple[Sequence[TranscriptLine], list[str]]:
    """Return the lines of a whole file, and the language in which each track was listened to."""
    found, transcriber = probe(str(path)), ListeningTranscriber(whisper)
    source = Source.of_file(str(path), found.clock, listened_tracks(found.audio_tracks, choice).tracks)
    models = scripted_models(transcriber=transcriber)
    span = Span(0, found.duration_ms)
    record = observe_segment(source, span, models, profile="general", language=language, meter=Meter()).record
    return record.transcript, transcriber.languages


def tracks(*fields: tuple[str, str, bool]) -> list[AudioTrack]:
    return [
        AudioTrack(n, language, codec=codec, is_default=main) for n, (language, codec, main) in enumerate(fields, 1)
    ]


@needs(JFK)
@pytest.mark.parametrize("extension", ["mp4", "mkv", "ts"])
@pytest.mark.parametrize("default", [0, 1])
def test_speech_on_the_second_track_is_heard(tmp_path: Path, extension: str, default: int) -> None:
    path = tmp_path / f"v.{extension}"
    run_ffmpeg(*PICTURE, *TONE, *SPEECH, "-map", "0:v", "-map", "1:a", "-map", "2:a", "-c:v", "libx264", "-c:a", "aac",
               "-metadata:s:a:1", "language=eng", "-metadata:s:a:1", "title=Comment\u202eary",
               "-disposition:a:0", "0", "-disposition:a:1", "0", f"-disposition:a:{default}", "default",
               str(path))  # fmt: skip

    listed = probe(str(path)).audio_tracks
    with whisper_base(served=False) as whisper:
        lines, _ = heard(path, whisper)
        others, _ = heard(path, whisper, choice="1")

    assert [(one.number, one.language, one.codec) for one in listed] == [(1, "", "aac"), (2, "en", "aac")]
    if extension != "ts":
        assert [one.is_default for one in listed] == [default == 0, default == 1]
        assert listed[1].title == "Comment ary"
    assert "country" in " ".join(line.text for line in lines)
    assert {line.track for line in lines} == {2}
    assert others == ()


@needs(JFK)
def test_each_of_two_voices_is_heard_in_its_language(tmp_path: Path, whisper: Transcriber) -> None:
    path = tmp_path / "v.mkv"
    run_ffmpeg(*PICTURE, *SPEECH, "-filter_complex", "[1:a]asplit[a][b];[b]adelay=2500:all=1[late]", "-map", "0:v",
               "-map", "[a]", "-map", "[late]", "-c:v", "libx264", "-c:a", "libopus", "-metadata:s:a:0", "language=ger",
               "-metadata:s:a:1", "language=eng", str(path))  # fmt: skip

    lines, languages = heard(path, whisper, language="en")

    assert languages == ["", "en"], "a track in another language than the one that was given is detected"
    assert {line.track for line in lines} == {1, 2}
    starts = [next(line.span.start_ms for line in lines if line.track == number) for number in (1, 2)]
    assert abs(starts[1] - starts[0] - 2_500) <= 300
    assert [line.span.start_ms for line in lines] == sorted(line.span.start_ms for line in lines)


@needs(JFK)
def test_the_same_sound_in_two_codecs_is_heard_once(tmp_path: Path, whisper: Transcriber) -> None:
    path = tmp_path / "v.mkv"
    run_ffmpeg(*PICTURE, *SPEECH, "-map", "0:v", "-map", "1:a", "-map", "1:a", "-c:v", "libx264", "-c:a:0", "aac",
               "-b:a:0", "48k", "-c:a:1", "ac3", "-filter:a:1", "volume=0.5", "-ac:a:1", "6", str(path))  # fmt: skip

    lines, languages = heard(path, whisper)

    assert len(languages) == 1
    assert {line.track for line in lines} == {1}
    assert " ".join(line.text for line in lines).count("what you can do for your country") == 1


@needs(JFK)
def test_a_comment_over_the_same_sound_is_another_sound(tmp_path: Path) -> None:
    path = tmp_path / "v.mkv"
    run_ffmpeg(*PICTURE, *TONE, *SPEECH, "-filter_complex",
               "[1:a]asplit[plain][under];[2:a]atrim=0:3,adelay=7000:all=1[says];[under][says]amix=2:normalize=0[both]",
               "-map", "0:v", "-map", "[plain]", "-map", "[both]", "-c:v", "libx264", "-c:a", "aac",
               str(path))  # fmt: skip
    one, other = (read_audio(str(path), Span(0, 11_000), track=number) for number in (1, 2))
    assert is_same_sound(one[: 6 * 16_000], other[: 6 * 16_000])
    assert not is_same_sound(one, other)


def test_silence_is_no_sound_and_a_shift_is_none() -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, 48_000).astype(np.float32)
    assert is_same_sound(noise, np.roll(noise, 700) * 0.3)
    assert not is_same_sound(noise, noise[::-1])
    assert not is_same_sound(noise, np.zeros_like(noise))
    assert not is_same_sound(noise, noise[:20_000])


@pytest.mark.parametrize(
    ("choice", "numbers", "left_out", "is_fallback"),
    [
        ("all", [1, 2], {3: "undecodable"}, False),
        ("2", [2], {1: "not_chosen", 3: "not_chosen"}, False),
        ("DE, 2", [1, 2], {3: "not_chosen"}, False),
        ("en", [2], {1: "not_chosen", 3: "undecodable"}, False),
        ("fr", [1, 2], {3: "undecodable"}, True),
        ("7", [1, 2], {3: "undecodable"}, True),
    ],
)
def test_the_choice_names_numbers_or_languages(
    choice: str, numbers: list[int], left_out: dict[int, str], is_fallback: bool
) -> None:
    found = listened_tracks(tracks(("de", "aac", False), ("en", "aac", True), ("en", "", False)), choice)
    assert [one.number for one in found.tracks] == numbers
    assert (dict(found.left_out), found.is_fallback) == (left_out, is_fallback)
    assert ("audio_not_found" in found.lacks) == is_fallback


def test_the_default_track_is_among_those_that_are_heard() -> None:
    found = listened_tracks(tracks(*[("", "aac", n == 6) for n in range(1, 8)]))
    assert [one.number for one in found.tracks] == [1, 2, 3, 6]
    assert len(found.tracks) == MAX_HEARD
    assert found.lacks == ["audio_not_heard"]
    assert listened_tracks([], "fr").lacks == []


@pytest.mark.parametrize(
    ("tag", "language"),
    [("ger", "de"), ("deu", "de"), ("de-AT", "de"), ("en_US", "en"), ("und", ""), ("", ""), ("12", ""), ("tlh", "tlh")],
)
def test_a_tag_of_a_file_names_a_language(tag: str, language: str) -> None:
    assert language_of(tag) == language


def test_what_is_a_choice() -> None:
    assert all(is_choice(text) for text in ("all", "1", "1,2", "de", "DE, en", "12,fr"))
    assert not any(is_choice(text) for text in ("", ",", "all,1", "0", "100", "1;2", "xx", "²"))


def test_tracks_of_a_recording_in_several_files() -> None:
    first, second = tracks(("de", "aac", True)), tracks(("en", "aac", True), ("fr", "aac", False))
    assert [(one.number, one.language) for one in merged_tracks(first, second)] == [(1, "de"), (2, "fr")]
    assert shown_title("a\n\u202eb") == "a  b"
