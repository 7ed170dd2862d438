"""What a question's words were taken to ask for, as an answer shows it."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from backend.api.public_ids import PublicIdField
from backend.library.bodies.recorded import END_AT_HELP, START_AT_HELP, FilmedAtField
from gpu_workers.engine.answering.understood import ROUTES, ChosenBy, Comparison, Counting, Polarity, Shape


class UnderstoodSpanSerializer(serializers.Serializer[Any]):
    """The stretch of one video that a question's time means."""

    video_id = PublicIdField("vid", help_text="Video of the stretch.")
    start_ms = serializers.IntegerField(help_text="Begin of the stretch, in milliseconds.")
    end_ms = serializers.IntegerField(help_text="End of the stretch, in milliseconds.")
    start_at = FilmedAtField(of="start", help_text=START_AT_HELP)
    end_at = FilmedAtField(of="end", help_text=END_AT_HELP)


class UnderstoodTimeSerializer(serializers.Serializer[Any]):
    """The time that a question names."""

    words = serializers.CharField(help_text="The words that name it.")
    meaning = serializers.CharField(help_text="The same in plain words, with the resolved times.")
    order = serializers.CharField(
        help_text="`after`, `before` or `during` an event, or `between` two; empty without one."
    )
    anchor = serializers.CharField(help_text="The words of that event; empty without one.")
    chosen_by = serializers.ChoiceField(
        get_args(ChosenBy), help_text="What read the time: a parser of `figures`, or a `model`."
    )
    spans = UnderstoodSpanSerializer(
        many=True,
        help_text="What was read of each video, several stretches if the question names several times; empty if no "
        "video has the time.",
    )


class UnderstoodSerializer(serializers.Serializer[Any]):
    """What a question's words were taken to ask for. No text of a video takes part in it."""

    route = serializers.ChoiceField(ROUTES, help_text="How the question was answered.")
    chosen_by = serializers.ChoiceField(
        get_args(ChosenBy),
        help_text="What chose the route: you (`caller`), labelled `examples`, a `model`, or nothing (`default`).",
    )
    sure = serializers.BooleanField(
        default=True,
        read_only=True,
        help_text="Whether the route was read with confidence. False if the question may have asked for a scan or a "
        "count: it was searched for instead, and `notes` says how to ask for the other.",
    )
    shape = serializers.ChoiceField(get_args(Shape), help_text="Form of the answer.")
    language = serializers.CharField(help_text="ISO 639-1 code of the question's language; empty if unknown.")
    searched = serializers.CharField(help_text="The words that were searched for; empty if they are the question's.")
    quoted = serializers.ListField(child=serializers.CharField(), help_text="Words that had to be found exactly.")
    videos = serializers.ListField(
        child=PublicIdField("vid"),
        default=list,
        read_only=True,
        help_text="The videos that the question names by their titles; nothing else was read. Empty if it names none.",
    )
    statement = serializers.CharField(
        help_text="The statement that a scan judged over every event; empty for other routes."
    )
    polarity = serializers.ChoiceField(
        get_args(Polarity),
        help_text="What was asked about the statement: where it is true (`occurs`), whether it is `never` true, or "
        "whether it is `always` true.",
    )
    counted = serializers.CharField(help_text="The things whose number was asked; empty for other routes.")
    counting = serializers.ChoiceField(
        get_args(Counting), help_text="Which number of them: in total, at once, how many entered or left."
    )
    comparison = serializers.ChoiceField(
        get_args(Comparison), help_text="What was asked of several videos, such as a number of `each` of them."
    )
    time = UnderstoodTimeSerializer(allow_null=True, help_text="The time that the question names; null without one.")
