"""Parts of the bodies of questions: evidence, claims, the best answer so far, progress."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from backend.api.public_ids import PublicIdField
from backend.library.bodies.recorded import END_AT_HELP, START_AT_HELP, FilmedAtField
from backend.library.models import Video, VideoStatus
from backend.playback.services.signed_urls import playlist_url
from backend.playback.services.tokens import token_of
from backend.questions.bodies.common import FrameImageSerializer
from gpu_workers.engine.answering.contract import CitationStatus
from gpu_workers.engine.answering.understood import Shape

SHAPES: tuple[str, ...] = tuple(shape for shape in get_args(Shape) if shape != "sentence")
CITATION_STATUSES: tuple[str, ...] = get_args(CitationStatus)


class EvidenceSerializer(serializers.Serializer[Any]):
    """An event that the answer cites."""

    video_id = PublicIdField("vid", help_text="Video of the event.")
    video_title = serializers.CharField(
        source="video.title",
        help_text="Title of the video; empty if it has none. An answer over several videos names them by it.",
    )
    event_id = PublicIdField("evt", help_text="Id of the event in the index that the answer read.")
    start_ms = serializers.IntegerField(help_text="Begin of the event in milliseconds.")
    end_ms = serializers.IntegerField(help_text="End of the event in milliseconds.")
    start_at = FilmedAtField(of="start", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", help_text=END_AT_HELP)
    frame = FrameImageSerializer(source="*", allow_null=True, help_text="The frame that shows the event best.")
    playback = serializers.SerializerMethodField(
        help_text="Signed HLS playlist of the whole video that begins at the event, valid for some hours. Null if the "
        "recording is not kept."
    )
    clip = serializers.SerializerMethodField(
        help_text="Signed HLS playlist of the event alone, valid for some hours. Null if the recording is not kept."
    )
    quote = serializers.CharField(help_text="Words of the event that carry the answer.")
    status = serializers.ChoiceField(CITATION_STATUSES, help_text="Whether the event supports the claims that cite it.")
    similarity = serializers.FloatField(
        source="confidence",
        allow_null=True,
        help_text="Similarity of the event's words to the claims that cite it, 0 to 1. It is no probability.",
    )
    confidence = serializers.FloatField(allow_null=True, help_text="Deprecated: the same as `similarity`.")

    def get_playback(self, row: Any) -> str | None:
        if not _is_kept(row.video):
            return None
        whole = playlist_url(row.video_id, token_of(row.tenant_id, row.video_id))
        return f"{whole}#t={row.start_ms / 1000:g},{row.end_ms / 1000:g}"

    def get_clip(self, row: Any) -> str | None:
        if not _is_kept(row.video):
            return None
        token = token_of(row.tenant_id, row.video_id)
        return playlist_url(row.video_id, token, start_ms=row.start_ms, end_ms=row.end_ms)


def _is_kept(video: Video) -> bool:
    return video.source_deleted_at is None and video.status != VideoStatus.DELETING


class ClaimSerializer(serializers.Serializer[Any]):
    """A statement of the answer."""

    text = serializers.CharField(help_text="The statement.")
    status = serializers.ChoiceField(
        CITATION_STATUSES,
        help_text="Whether the cited evidence supports the statement. A `contradicted` statement is left out of the "
        "answer's text, except in effort `paper` and for a choice.",
    )
    evidence = serializers.ListField(
        child=serializers.IntegerField(), help_text="Indices into the question's `evidence`, from 0."
    )


class CompositionPartSerializer(serializers.Serializer[Any]):
    """A part of an answer: an item, a step, a row, a place or a sentence."""

    text = serializers.CharField(help_text="The words of the part.")
    cells = serializers.ListField(
        child=serializers.CharField(), help_text="Cells of a table's row, one for each column; empty otherwise."
    )
    claim = serializers.IntegerField(help_text="Index into the question's `claims`, from 0.")


class CompositionSerializer(serializers.Serializer[Any]):
    """The answer in parts."""

    shape = serializers.ChoiceField(SHAPES, help_text="Form of the answer.")
    columns = serializers.ListField(
        child=serializers.CharField(), help_text="Headings of a table; empty for other shapes."
    )
    parts = CompositionPartSerializer(many=True, help_text="The parts in the order of the text.")


class PartialAnswerSerializer(serializers.Serializer[Any]):
    """The best answer so far of a search that still runs."""

    text = serializers.CharField(help_text="The answer.")
    choice = serializers.IntegerField(allow_null=True, help_text="Index of the chosen choice, from 0.")
    score = serializers.FloatField(help_text="Score of the answer, 0 to 1.")
    path = serializers.CharField(help_text="Path of the node that gave the answer.")
    level = serializers.IntegerField(help_text="Number of levels of the search that are done.")


class ProgressSerializer(serializers.Serializer[Any]):
    """Progress within the present stage."""

    stage = serializers.CharField(help_text="The stage that is worked on.")
    done = serializers.IntegerField(help_text="Units of the stage that are done.")
    total = serializers.IntegerField(help_text="Units of the stage; 0 if unknown.")
    percent = serializers.IntegerField(allow_null=True, help_text="Percent that is done; null if unknown.")
    detail = serializers.CharField(
        help_text="What is worked on, for people to read, such as `12 events`. The words may change."
    )
    seconds_left = serializers.IntegerField(
        allow_null=True,
        help_text="Time until the answer, by your earlier answers of this method, effort and model: 0 once it takes "
        "longer than they did. Null while nobody works on the question and where nothing was measured.",
    )
