"""Bodies of searches."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from backend.api.bodies import ResourceErrorSerializer
from backend.api.listing import ListQuerySerializer
from backend.api.public_ids import PublicIdField
from backend.billing.bodies.amounts import ChargeSerializer
from backend.library.bodies.recorded import END_AT_HELP, START_AT_HELP, FilmedAtField, remember_clocks
from backend.questions.bodies.common import FrameImageSerializer, ModelUsageSerializer, ScopeRequestSerializer
from backend.questions.models import QuestionStatus
from backend.questions.queries.searches import SearchView
from backend.questions.services.searches import ALL_MODES, DEFAULT_MODE, VIEWS
from gpu_workers.engine.retrieval.find_events import MODES, fusion_in, weights_in
from gpu_workers.engine.retrieval.fusion import FUSIONS
from gpu_workers.engine.retrieval.highlights import HIGHLIGHT_KINDS
from gpu_workers.engine.retrieval.object_search import COMPARED_BY
from gpu_workers.engine.retrieval.scored_search import PartView
from gpu_workers.engine.retrieval.scores import DEFAULT_MIN_SCORE

DEFAULT_LIMIT = 16
MAX_LIMIT = 100
MAX_WEIGHT = 10


PART_VIEWS: tuple[PartView, ...] = get_args(PartView)
SCORE_HELP = (
    "How well the event fits, from 0 to 1: the measured chance that it shows or says what the query describes, if half "
    "of all searches have something to find. Comparable between all searches of your installation, unless `calibrated` "
    "is false."
)


class SearchRequestSerializer(ScopeRequestSerializer):
    """A query over videos, a collection, or everything: without a scope, every video that the key may read."""

    scope_required = False

    query = serializers.CharField(
        source="text",
        max_length=4_000,
        help_text='What to look for, in your own words. Words in "quotation marks" must be said, written or described '
        "exactly so.",
    )
    mode = serializers.ChoiceField(
        ALL_MODES,
        default=DEFAULT_MODE,
        help_text="`semantic` searches by meaning. `words` searches for the words themselves in descriptions, speech "
        "and writing on screen, and for entities, topics and tracked objects by name; it calls no model. `hybrid` "
        "does both. `objects` ranks the tracked people, animals, vehicles and things by a description such as "
        "`a man with a blue backpack`; `compared_by` in the reply says how.",
    )
    limit = serializers.IntegerField(
        min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT, help_text="Maximum number of results."
    )
    min_score = serializers.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        help_text=f"Minimum score of a result. By default {DEFAULT_MIN_SCORE:g}; 0 if scores are not calibrated. With "
        "0 the search returns what comes nearest, whether it fits or not.",
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
        + ". A search that names something by its letters, such as a plate, gives words more weight in `hybrid`. "
        "A search for `objects` has no views.",
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


class InnerMomentSerializer(serializers.Serializer[Any]):
    """A moment inside an event that fits by itself."""

    view = serializers.ChoiceField(
        PART_VIEWS, source="moment.view", help_text="What fits: a picture, a spoken line, or writing on screen."
    )
    start_ms = serializers.IntegerField(source="span.start_ms", help_text="Begin of the moment in milliseconds.")
    end_ms = serializers.IntegerField(
        source="span.end_ms", help_text="End of the moment in milliseconds; a frame counts for up to a second."
    )
    start_at = FilmedAtField(of="start", span="span", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", span="span", help_text=END_AT_HELP)
    score = serializers.FloatField(source="moment.score", help_text="Score of the moment by itself, from 0 to 1.")
    text = serializers.CharField(source="moment.text", help_text="The words; empty for a frame.")
    frame_id = serializers.CharField(
        source="moment.frame_id", allow_null=True, help_text="Id of the frame; null for speech and writing."
    )


class EmptyReasonSerializer(serializers.Serializer[Any]):
    """Why a search that succeeded has no results."""

    code = serializers.CharField(
        help_text="`below_min_score`: what was found does not fit well enough. `no_match`: nothing has anything in "
        "common with the query. `nothing_indexed`: no video of the scope was indexed yet. "
        "`results_deleted`: the videos that had the results are gone."
    )
    message = serializers.CharField(help_text="The reason in words, and what to do.")
    best_score = serializers.FloatField(
        allow_null=True, help_text="Highest score of what was left out; null if nothing was."
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
    score = serializers.FloatField(source="found.score", help_text=SCORE_HELP)
    reasons = SearchReasonSerializer(
        source="found.reasons", many=True, help_text="Why the event was found, most similar first."
    )
    highlights = HighlightSerializer(
        source="found.highlights",
        many=True,
        help_text="Texts of the event that show what was searched for: names first, then writing, speech and summary.",
    )
    frame = FrameImageSerializer(source="found", allow_null=True, help_text="The frame that shows the event best.")
    moments = InnerMomentSerializer(
        many=True,
        help_text="Frames, spoken lines and writing inside the event that fit by themselves, best first, without "
        "overlap. Empty if only the event as a whole fits.",
    )


class FoundObjectSerializer(serializers.Serializer[Any]):
    """A tracked object that was found."""

    object_id = PublicIdField(
        "obj", source="found.object_id", help_text="Id of the object in the index that the search read."
    )
    video_id = PublicIdField("vid", source="found.video_id", help_text="Video of the object.")
    video_title = serializers.CharField(help_text="Title of the video; empty if it has none.")
    n = serializers.IntegerField(
        source="found.n", help_text="Index of the object in the order of first appearance, from 0."
    )
    category = serializers.CharField(source="found.category", help_text="What the object is, such as `person`.")
    colour = serializers.CharField(source="found.colour", help_text="Its colour; empty if it is not known.")
    start_ms = serializers.IntegerField(
        source="found.start_ms",
        help_text="Since when the object is visible around the moment at which it fits best, in milliseconds.",
    )
    end_ms = serializers.IntegerField(source="found.end_ms", help_text="Until when it is visible there.")
    start_at = FilmedAtField(of="start", within="found", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", within="found", help_text=END_AT_HELP)
    score = serializers.FloatField(
        source="found.score",
        help_text="How well the object fits, from 0 to 1. It is a similarity, compares only within one search, and is "
        "small with some embedders even if the object fits well.",
    )
    frame = FrameImageSerializer(
        source="found", allow_null=True, help_text="The frame next to the moment at which the object fits best."
    )


class MomentSerializer(serializers.Serializer[Any]):
    """A stretch of time: one result, or two results that follow each other and fit about equally."""

    video_id = PublicIdField("vid", help_text="Video of the moment.")
    start_ms = serializers.IntegerField(source="span.start_ms", help_text="Begin of the moment in milliseconds.")
    end_ms = serializers.IntegerField(source="span.end_ms", help_text="End of the moment in milliseconds.")
    start_at = FilmedAtField(of="start", span="span", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", span="span", help_text=END_AT_HELP)
    score = serializers.FloatField(help_text="Score of the better result in the moment, from 0 to 1.")
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
    min_score = serializers.FloatField(
        allow_null=True,
        help_text="Minimum score of a result; null while the search is open and the request named none.",
    )
    calibrated = serializers.BooleanField(
        allow_null=True,
        help_text="Whether scores are measured chances. `false` if the scores of this installation's embedder, or of a "
        "view that the search uses, were never measured: scores then are similarities, and compare only within one "
        "search. Null while the search is open.",
    )
    mode = serializers.ChoiceField(
        ALL_MODES, source="search.settings.mode", help_text="How the search looks for events, or that it ranks objects."
    )
    compared_by = serializers.ChoiceField(
        COMPARED_BY,
        allow_null=True,
        help_text="What a search for `objects` compared the query with: `pictures` of the objects, if the frame "
        "embedder of this installation reads any words, or else `words`, which are the objects' names and the "
        "descriptions of the events in which they are seen. Null for other modes, and while the search is open.",
    )
    views = serializers.DictField(
        source="search.settings.views",
        child=serializers.FloatField(),
        help_text="Weight of each view; empty for `objects`.",
    )
    fusion = serializers.ChoiceField(
        FUSIONS,
        source="search.settings.fusion",
        allow_null=True,
        help_text="How the rankings of the views are combined; null for `objects`.",
    )
    result_count = serializers.IntegerField(help_text="Number of results.")
    degraded = serializers.ListField(
        source="search.degraded",
        child=serializers.CharField(),
        help_text="What the search had to do without: `query_language` if the model that searches by meaning is not "
        "known to understand the language of the query, so that a query in English may find more; `no_reranking` if "
        "the reranker failed and the results keep the order of the views; `too_many_objects` if the scope has more "
        "tracked objects than were compared.",
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

    results = SearchResultSerializer(many=True, help_text="Events, best first; empty in mode `objects`.")
    objects = FoundObjectSerializer(many=True, help_text="Tracked objects, best first; empty in other modes.")
    moments = MomentSerializer(
        many=True,
        help_text="The results as stretches of time, best first, none of which overlaps another. Two neighbouring "
        "results that fit about equally are one moment.",
    )
    empty_reason = EmptyReasonSerializer(
        allow_null=True, help_text="Why there are no results; null if there are some, or the search has no outcome."
    )

    def to_representation(self, instance: SearchView) -> Any:
        found = {result.found.video_id for result in instance.results}
        remember_clocks(self.root, found | {thing.found.video_id for thing in instance.objects})
        return super().to_representation(instance)
