"""Bodies of searches."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from backend.api.bodies import ResourceErrorSerializer
from backend.api.listing import ListQuerySerializer
from backend.api.public_ids import PublicIdField
from backend.billing.bodies.amounts import ChargeSerializer
from backend.library.bodies.recorded import END_AT_HELP, START_AT_HELP, FilmedAtField, remember_clocks
from backend.questions.bodies.common import FrameImageSerializer, ModelUsageSerializer, ScopeRequestSerializer
from backend.questions.models import QuestionStatus
from backend.questions.queries.searches import SearchView
from backend.questions.services.searches import DEFAULT_MODE, VIEWS
from gpu_workers.engine.retrieval.find_events import MODES, fusion_in, weights_in
from gpu_workers.engine.retrieval.fusion import FUSIONS
from gpu_workers.engine.retrieval.highlights import HIGHLIGHT_KINDS

DEFAULT_LIMIT = 16
MAX_LIMIT = 100
MAX_WEIGHT = 10


class SearchRequestSerializer(ScopeRequestSerializer):
    """A query over videos or a collection."""

    query = serializers.CharField(
        source="text",
        max_length=4_000,
        help_text='What to look for, in your own words. Words in "quotation marks" must be said, written or described '
        "exactly so.",
    )
    mode = serializers.ChoiceField(
        MODES,
        default=DEFAULT_MODE,
        help_text="`semantic` searches by meaning. `words` searches for the words themselves in descriptions, speech "
        "and writing on screen, and for entities, topics and tracked objects by name; it calls no model. `hybrid` "
        "does both.",
    )
    limit = serializers.IntegerField(
        min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT, help_text="Maximum number of results."
    )
    # The service checks the names of the views.
    views = serializers.DictField(
        child=serializers.FloatField(min_value=0, max_value=MAX_WEIGHT),
        required=False,
        help_text=f"Weights from 0 to {MAX_WEIGHT} of the views {', '.join(VIEWS)}; 0 leaves a view out. "
        "By default "
        + "; ".join(
            f"in `{mode}` {', '.join(f'{view} {weight:g}' for view, weight in weights_in(mode).items() if weight)}"
            for mode in MODES
        )
        + ". A search that names something by its letters, such as a plate, gives words more weight in `hybrid`.",
    )
    fusion = serializers.ChoiceField(
        FUSIONS,
        required=False,
        help_text="How the rankings of the views are combined. By default "
        + ", ".join(f"`{fusion_in(mode)}` in `{mode}`" for mode in MODES)
        + ".",
    )


class SearchQuerySerializer(ListQuerySerializer):
    """Which searches a list shows."""

    status = serializers.ChoiceField(
        QuestionStatus.choices, required=False, help_text="Only searches with this status."
    )
    video_id = PublicIdField("vid", required=False, help_text="Only searches whose scope has this video.")


class SearchReasonSerializer(serializers.Serializer[Any]):
    """Why an event was found."""

    view = serializers.ChoiceField(
        VIEWS,
        help_text="The view that found the event: by similarity of its description, of an entity in it, of a frame, of "
        "a spoken line or of its topic; by words; by the name of an entity, the title of a topic or the look of a "
        "tracked object; or by its connections in the graph.",
    )
    similarity = serializers.FloatField(help_text="Similarity to the query.")
    text = serializers.CharField(help_text="The words that matched; empty if the event itself matched.")
    item_id = serializers.CharField(
        allow_null=True, help_text="Id of the event, entity, frame or object that matched; null for other things."
    )


class TextRangeSerializer(serializers.Serializer[Any]):
    """A part of a text, in Unicode characters (code points)."""

    start = serializers.IntegerField(source="*", help_text="Index of the first character.")
    end = serializers.IntegerField(source="*", help_text="Index after the last character.")

    def to_representation(self, instance: Any) -> Any:
        return {"start": instance[0], "end": instance[1]}


class HighlightSerializer(serializers.Serializer[Any]):
    """A text that shows what was searched for, as plain text with the parts that match."""

    kind = serializers.ChoiceField(
        HIGHLIGHT_KINDS,
        help_text="What the text is: the event's summary, a spoken line, writing on screen, the name of an entity, "
        "the title of a topic, or the look of a tracked object.",
    )
    text = serializers.CharField(help_text="Plain text. Escape it before you show it on a page.")
    ranges = TextRangeSerializer(many=True, help_text="The parts that match, in order, without overlap.")
    start_ms = serializers.IntegerField(
        allow_null=True, help_text="When the line begins, or the writing is shown; null for other texts."
    )
    end_ms = serializers.IntegerField(allow_null=True, help_text="End of that time.")
    item_id = serializers.CharField(
        allow_null=True, help_text="Id of the entity or object that has the name; null for other texts."
    )


class SearchResultSerializer(serializers.Serializer[Any]):
    """An event that was found."""

    event_id = PublicIdField(
        "evt", source="found.event_id", help_text="Id of the event in the index that the search read."
    )
    video_id = PublicIdField("vid", source="found.video_id", help_text="Video of the event.")
    video_title = serializers.CharField(help_text="Title of the video; empty if it has none.")
    start_ms = serializers.IntegerField(source="found.start_ms", help_text="Begin of the event in milliseconds.")
    end_ms = serializers.IntegerField(source="found.end_ms", help_text="End of the event in milliseconds.")
    start_at = FilmedAtField(of="start", within="found", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", within="found", help_text=END_AT_HELP)
    summary = serializers.CharField(source="found.summary", help_text="What happens in the event.")
    score = serializers.FloatField(source="found.score", help_text="Score of the event; comparable within one search.")
    reasons = SearchReasonSerializer(
        source="found.reasons", many=True, help_text="Why the event was found, most similar first."
    )
    highlights = HighlightSerializer(
        source="found.highlights",
        many=True,
        help_text="Texts of the event that show what was searched for: names first, then writing, speech and summary.",
    )
    frame = FrameImageSerializer(source="found", allow_null=True, help_text="The frame that shows the event best.")


class MomentSerializer(serializers.Serializer[Any]):
    """A stretch of time: one result, or two results that follow each other."""

    video_id = PublicIdField("vid", help_text="Video of the moment.")
    start_ms = serializers.IntegerField(source="span.start_ms", help_text="Begin of the moment in milliseconds.")
    end_ms = serializers.IntegerField(source="span.end_ms", help_text="End of the moment in milliseconds.")
    start_at = FilmedAtField(of="start", span="span", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", span="span", help_text=END_AT_HELP)
    score = serializers.FloatField(help_text="Score of the moment; comparable within one search.")
    event_ids = serializers.ListField(
        child=PublicIdField("evt"), help_text="Events of the moment, in the order of time."
    )


class SearchSummarySerializer(serializers.Serializer[Any]):
    """A search without its results."""

    id = PublicIdField("sea", source="search.id", help_text="Id of the search.")
    object = serializers.CharField(default="search", read_only=True, help_text="Always `search`.")
    status = serializers.ChoiceField(
        QuestionStatus.choices,
        source="search.status",
        help_text="`queued` and `running` searches are open; the others have their outcome.",
    )
    query = serializers.CharField(source="search.text", help_text="The query.")
    video_ids = serializers.ListField(child=PublicIdField("vid"), help_text="Videos of the scope that still exist.")
    start_ms = serializers.IntegerField(
        source="search.start_ms", allow_null=True, help_text="Begin of the span that is read in each video."
    )
    end_ms = serializers.IntegerField(
        source="search.end_ms", allow_null=True, help_text="End of the span that is read in each video."
    )
    limit = serializers.IntegerField(source="search.settings.limit", help_text="Maximum number of results.")
    mode = serializers.ChoiceField(MODES, source="search.settings.mode", help_text="How the search looks for events.")
    views = serializers.DictField(
        source="search.settings.views", child=serializers.FloatField(), help_text="Weight of each view."
    )
    fusion = serializers.ChoiceField(
        FUSIONS, source="search.settings.fusion", help_text="How the rankings of the views are combined."
    )
    result_count = serializers.IntegerField(help_text="Number of results.")
    degraded = serializers.ListField(
        source="search.degraded",
        child=serializers.CharField(),
        help_text="What the search had to do without: `query_language` if the model that searches by meaning is not "
        "known to understand the language of the query, so that a query in English may find more; `no_reranking` if "
        "the reranker failed and the results keep the order of the views.",
    )
    usage = ModelUsageSerializer(allow_null=True, help_text="What the search consumed; null while it is open.")
    charge = ChargeSerializer(source="search.charge", help_text="What the search is charged.")
    timings = serializers.DictField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Durations in milliseconds: `queue_ms`, `retrieval_ms`, `total_ms`.",
    )
    error = ResourceErrorSerializer(allow_null=True, help_text="Why the search failed; null if it did not.")
    created_at = serializers.DateTimeField(source="search.created_at", help_text="When the search was requested.")
    completed_at = serializers.DateTimeField(
        source="search.completed_at", allow_null=True, help_text="When the search got its outcome."
    )


class SearchSerializer(SearchSummarySerializer):
    """A search with its results."""

    results = SearchResultSerializer(many=True, help_text="Events, best first.")
    moments = MomentSerializer(
        many=True, help_text="Stretches of time, best first: each result, and neighbouring results together."
    )

    def to_representation(self, instance: SearchView) -> Any:
        remember_clocks(self.root, {result.found.video_id for result in instance.results})
        return super().to_representation(instance)
