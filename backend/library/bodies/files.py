"""Technical properties and errors, which videos, segments and versions share."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from backend.library.models import IndexVersion, InputSegment, Video
from backend.library.recording import tracks_of
from gpu_workers.engine.indexing.audio_tracks import MAX_HEARD, NotHeard, is_choice, listened_tracks, split_choice

AUDIO_HELP = (
    "Audio tracks to listen to: `all` (the default), or numbers and languages separated by commas, such as `2` or "
    "`de,en`. If no track matches, the service listens to all. `probe.audio_tracks` shows the result."
)
DEGRADED_HELP = (
    "Codes of what the file lacks: `truncated` if it ends before its header says, `damaged` if more than 1 % of its "
    "packets are damaged, `video_not_seen` if it has more than one video track, `audio_not_heard` and "
    "`audio_not_found` if not all chosen audio tracks are heard. More codes may come."
)
NOT_HEARD: tuple[str, ...] = get_args(NotHeard)
_PROBE_COLUMNS = (
    "container", "codec", "width", "height", "fps", "rotation", "has_audio", "bitrate", "source_start_ms",
)  # fmt: skip


class AudioField(serializers.CharField):
    """A choice of audio tracks."""

    default_error_messages = {
        "invalid_audio": "Write all, or numbers of tracks and ISO 639-1 codes separated by commas, such as 2 or de,en."
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=64, help_text=AUDIO_HELP, **options)

    def to_internal_value(self, data: Any) -> str:
        choice = str(super().to_internal_value(data))
        if not is_choice(choice):
            self.fail("invalid_audio")
        return ",".join(split_choice(choice))


class AudioTrackSerializer(serializers.Serializer[Any]):
    """One audio track of the file."""

    number = serializers.IntegerField(help_text="Index among the audio tracks, from 1.")
    language = serializers.CharField(
        allow_blank=True, help_text="As the file says, in ISO 639-1; empty if it does not."
    )
    title = serializers.CharField(allow_blank=True, help_text="As the file says.")
    codec = serializers.CharField(allow_blank=True)
    channels = serializers.IntegerField()
    is_default = serializers.BooleanField(help_text="Whether the file marks the track as its default.")
    heard = serializers.BooleanField(help_text="Whether the service listens to the track.")
    not_heard = serializers.ChoiceField(
        NOT_HEARD,
        allow_null=True,
        help_text="Why the service does not listen to it: `audio` does not choose it, more than "
        f"{MAX_HEARD} tracks are chosen, or there is no decoder.",
    )


class ProbeSerializer(serializers.Serializer[Any]):
    """Technical properties of the file."""

    container = serializers.CharField()
    codec = serializers.CharField()
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)
    fps = serializers.FloatField(allow_null=True)
    rotation = serializers.IntegerField()
    has_audio = serializers.BooleanField()
    audio_tracks = AudioTrackSerializer(many=True)
    bitrate = serializers.IntegerField(allow_null=True)
    source_start_ms = serializers.IntegerField(
        help_text="Start time in the file itself. All other times count from it."
    )
    degraded = serializers.ListField(
        child=serializers.CharField(),
        help_text=DEGRADED_HELP,
    )


def probe_body(row: Video | InputSegment, audio: str) -> dict[str, Any]:
    """Return the technical properties of a file that was probed. audio: the choice of its tracks."""
    tracks = tracks_of(row)
    left_out = listened_tracks(tracks, audio).left_out
    heard = [
        {**one.as_fields(), "heard": one.number not in left_out, "not_heard": left_out.get(one.number)}
        for one in tracks
    ]
    shown = {name: getattr(row, name) for name in _PROBE_COLUMNS}
    return {**shown, "audio_tracks": heard, "degraded": lacks(row, audio)}


def lacks(row: Video | InputSegment, audio: str) -> list[str]:
    """Return the codes of what a recording lacks, and of the audio tracks that are not heard though they are chosen."""
    return sorted({*row.degraded, *listened_tracks(tracks_of(row), audio).lacks})


def error_body(row: Video | InputSegment | IndexVersion) -> dict[str, str] | None:
    """Return why a row failed; None if it did not fail."""
    return {"code": row.error_code, "message": row.error_message} if row.error_code else None
