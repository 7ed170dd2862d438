"""Bodies of what lies on the timeline of a video: events, chunks, frames and lines of the transcript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from backend.api.public_ids import PublicIdField
from backend.ekg import queries
from backend.ekg.bodies.common import SpokenWordsField, clocks_of, columns, picture
from backend.ekg.models import Chunk, Event, Frame, TranscriptLine
from backend.library.bodies.recorded import END_AT_HELP, START_AT_HELP, FilmedAtField, LocalTimeField
from backend.library.models import Video
from backend.library.recording import tracks_of
from backend.library.storage import ObjectStorage
from backend.library.wall_clocks import filmed
from gpu_workers.engine.indexing.audio_tracks import AudioTrack


class ParticipantSerializer(serializers.Serializer[Any]):
    entity_id = PublicIdField("ent")
    name = serializers.CharField()
    type = serializers.CharField()
    role = serializers.CharField()
    confidence = serializers.FloatField()


class EventSerializer(serializers.Serializer[Any]):
    """One or more adjacent chunks about the same thing."""

    id = PublicIdField("evt")
    n = serializers.IntegerField(help_text="Index of the event in order of time, from 0.")
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    start_at = LocalTimeField(allow_null=True, help_text=START_AT_HELP)
    end_at = LocalTimeField(allow_null=True, help_text=END_AT_HELP)
    summary = serializers.CharField()
    first_chunk = serializers.IntegerField()
    end_chunk = serializers.IntegerField(help_text="Index after the last chunk.")
    participants = ParticipantSerializer(many=True)
    thumbnail_url = serializers.CharField(allow_null=True)


class ChunkSerializer(serializers.Serializer[Any]):
    """A uniform slice of 3 s: either a description, or a gap with the code of its reason."""

    id = PublicIdField("chk")
    n = serializers.IntegerField()
    start_ms = serializers.IntegerField()
    end_ms = serializers.IntegerField()
    start_at = FilmedAtField(of="start", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", help_text=END_AT_HELP)
    event_id = PublicIdField("evt", allow_null=True)
    description = serializers.CharField(allow_null=True)
    gap = serializers.CharField(allow_null=True)
    on_screen_text = serializers.ListField(child=serializers.CharField())
    inherited = serializers.BooleanField(
        help_text="Whether nothing changed since an earlier chunk, whose description this chunk keeps."
    )


class VideoFrameSerializer(serializers.Serializer[Any]):
    id = PublicIdField("frm")
    ms = serializers.IntegerField()
    at = LocalTimeField(allow_null=True, help_text=START_AT_HELP)
    event_id = PublicIdField("evt", allow_null=True)
    thumbnail_url = serializers.CharField(allow_null=True)


class LineTrackSerializer(serializers.Serializer[Any]):
    """The audio track on which a line is spoken."""

    number = serializers.IntegerField(help_text="Index among the audio tracks of the file, from 1.")
    language = serializers.CharField(allow_blank=True, help_text="As the file says; empty if it does not.")
    title = serializers.CharField(allow_blank=True, help_text="As the file says; empty if it does not.")


class TranscriptLineSerializer(serializers.Serializer[Any]):
    id = PublicIdField("trn", source="row.id")
    start_ms = serializers.IntegerField(source="row.start_ms")
    end_ms = serializers.IntegerField(source="row.end_ms")
    start_at = FilmedAtField(of="start", within="row", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", within="row", help_text=END_AT_HELP)
    text = serializers.CharField(source="row.text")
    language = serializers.CharField(
        source="row.language",
        allow_blank=True,
        help_text="Language that is spoken, by its ISO 639-1 code; empty where it is not certain.",
    )
    track = LineTrackSerializer()
    words = SpokenWordsField(source="row.words", help_text="Lists of `start_ms`, `end_ms` and the word.")


@dataclass(frozen=True, slots=True)
class _SpokenLine:
    """A line and the audio track on which it is spoken."""

    row: TranscriptLine
    track: AudioTrack


def event_bodies(rows: Sequence[Event]) -> list[Any]:
    ids = [row.id for row in rows]
    participants, thumbnails = queries.participations(ids), queries.first_frames(ids)
    clocks = clocks_of(row.video_id for row in rows)
    storage = ObjectStorage()
    bodies = []
    for row in rows:
        frame = thumbnails.get(row.id)
        bodies.append(
            {
                **columns(row, "id", "n", "start_ms", "end_ms", "summary", "first_chunk", "end_chunk"),
                **filmed(clocks.get(row.video_id), row.start_ms, row.end_ms),
                "participants": participants[row.id],
                "thumbnail_url": picture(storage, frame.thumbnail_key if frame else ""),
            }
        )
    return list(EventSerializer(bodies, many=True).data)


def chunk_bodies(rows: Sequence[Chunk]) -> list[Any]:
    return list(ChunkSerializer(rows, many=True).data)


def frame_bodies(rows: Sequence[Frame]) -> list[Any]:
    storage, clocks = ObjectStorage(), clocks_of(row.video_id for row in rows)
    bodies = [
        {
            **columns(row, "id", "ms", "event_id"),
            "at": filmed(clocks.get(row.video_id), row.ms, row.ms)["start_at"],
            "thumbnail_url": picture(storage, row.thumbnail_key),
        }
        for row in rows
    ]
    return list(VideoFrameSerializer(bodies, many=True).data)


def transcript_bodies(rows: Sequence[TranscriptLine]) -> list[Any]:
    videos = Video.objects.filter(id__in={row.video_id for row in rows})
    tracks = {(video.id, track.number): track for video in videos for track in tracks_of(video)}
    lines = [_SpokenLine(row, tracks.get((row.video_id, row.track), AudioTrack(row.track))) for row in rows]
    return list(TranscriptLineSerializer(lines, many=True).data)
