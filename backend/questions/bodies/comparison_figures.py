"""Bodies of the figures of a comparison, and of the results of one item."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers

from backend.api.public_ids import PublicIdField
from backend.billing.bodies.amounts import ExactDecimalField
from backend.questions.bodies.answers import CITATION_STATUSES
from backend.questions.bodies.common import CACHED
from backend.questions.bodies.questions import FINISH_REASONS
from backend.questions.figures.replies import OUTCOMES
from backend.questions.figures.report import GROUPS
from backend.questions.models import Grader, LeftOut, QuestionStatus

_GROUP_HELP = {
    "both": "right in both arms",
    "gained": "right in this arm alone",
    "lost": "right in the other arm alone",
}


class ShareSerializer(serializers.Serializer[Any]):
    """A share of items with its 95 % Wilson interval."""

    successes = serializers.IntegerField(help_text="Items that count.")
    n = serializers.IntegerField(help_text="Items in all.")
    value = serializers.FloatField(allow_null=True, help_text="The share, 0 to 1; null without items.")
    low = serializers.FloatField(help_text="Lower end of the interval.")
    high = serializers.FloatField(help_text="Upper end of the interval.")


class MillisecondsSerializer(serializers.Serializer[Any]):
    """Durations of questions, in milliseconds; null without any."""

    p50 = serializers.FloatField(allow_null=True, help_text="Half of the questions took at most this long.")
    p95 = serializers.FloatField(allow_null=True, help_text="Duration that 95 % of the questions do not exceed.")

    def to_representation(self, instance: Any) -> dict[str, Any]:
        return super().to_representation(dict(zip(("p50", "p95"), instance, strict=True)))


class ArmChargeSerializer(serializers.Serializer[Any]):
    """What the answers of an arm are charged, without grading, as exact decimals in the currency of the charge."""

    total = ExactDecimalField(help_text="Sum over the items.")
    mean = ExactDecimalField(allow_null=True, help_text="Mean of an item; null without items.")
    p50 = ExactDecimalField(allow_null=True, help_text="Median charge of an item.")
    p95 = ExactDecimalField(allow_null=True, help_text="Charge that 95 % of the items do not exceed.")


class ArmConfidenceSerializer(serializers.Serializer[Any]):
    """How well an arm's confidence separates right from wrong answers."""

    auroc = serializers.FloatField(
        allow_null=True,
        help_text="How often a right answer is more confident than a wrong one; null if either kind is missing.",
    )
    calibration_error = serializers.FloatField(help_text="Mean gap of confidence and accuracy, 0 to 1.")
    n = serializers.IntegerField(help_text="Graded answers.")


class ArmFiguresSerializer(serializers.Serializer[Any]):
    """Figures of one arm over the items that every arm was asked."""

    # Any, because a serializer has an attribute of this name.
    label: Any = serializers.CharField(help_text="Label of the arm.")
    n = serializers.IntegerField(help_text="Items that every arm replied to.")
    answered = serializers.IntegerField(help_text="Items with an answer.")
    abstained = serializers.IntegerField(help_text="Items without an answer, by the method's decision or at a limit.")
    refused = serializers.IntegerField(help_text="Items that the model declined.")
    failed = serializers.IntegerField(help_text="Items that failed.")
    labeled = serializers.IntegerField(help_text="Items with a grade in every arm.")
    right = serializers.IntegerField(help_text="Right items among the labeled.")
    accuracy = ShareSerializer(help_text="Right items of the labeled; abstained, refused and failed items are wrong.")
    accuracy_of_answered = ShareSerializer(help_text="Right items of the labeled items with an answer.")
    by_kind = serializers.DictField(child=ShareSerializer(), help_text="Accuracy by your kinds of questions.")
    evidence_hit = ShareSerializer(help_text="Items with labeled spans of which a citation shows a part.")
    citations = serializers.IntegerField(help_text="Citations of all answers.")
    citations_supported = serializers.IntegerField(help_text="Citations that support the claims that cite them.")
    charge = ArmChargeSerializer(source="amounts", help_text="What the answers are charged, without grading.")
    calls = serializers.IntegerField(help_text="Number of model calls.")
    prompt_tokens = serializers.IntegerField(help_text="Tokens that were sent to models, cached ones included.")
    cached_tokens = serializers.IntegerField(help_text=CACHED)
    completion_tokens = serializers.IntegerField(help_text="Tokens that models wrote.")
    cached_share = serializers.FloatField(allow_null=True, help_text="Cached share of the prompt tokens, 0 to 1.")
    frames = serializers.IntegerField(help_text="Frames that the answers looked at.")
    engine_ms = MillisecondsSerializer(help_text="Time of the whole answer, without the time in the queue.")
    llm_ms = MillisecondsSerializer(help_text="Time of the language model, summed over calls that may run at once.")
    confidence = ArmConfidenceSerializer(
        allow_null=True, help_text="Value of the confidence. Null where the heads are not those of the first arm."
    )
    degraded = serializers.DictField(
        child=serializers.IntegerField(), help_text="Questions by the code of what the method had to do without."
    )
    graded_by = serializers.DictField(
        child=serializers.IntegerField(), help_text=f"Questions by who graded: {', '.join(Grader.values)}."
    )
    heads = serializers.ListField(
        child=serializers.CharField(), help_text="Ways in which the answers were drawn from what was shown."
    )
    versions = serializers.ListField(child=serializers.CharField(), help_text="Versions of the method.")
    prompts = serializers.ListField(child=serializers.CharField(), help_text="Digests of the service's prompts.")


class PairSerializer(serializers.Serializer[Any]):
    """One arm compared with another, item by item, over the items with a grade in every arm."""

    arm = serializers.IntegerField(help_text="Index of the arm.")
    against = serializers.IntegerField(help_text="Index of the other arm.")
    n = serializers.IntegerField(help_text="Items compared.")
    both = serializers.IntegerField(help_text="Items that both arms got right.")
    gained = serializers.IntegerField(help_text="Items that this arm alone got right.")
    lost = serializers.IntegerField(help_text="Items that the other arm alone got right.")
    neither = serializers.IntegerField(help_text="Items that both arms got wrong.")
    difference = serializers.FloatField(help_text="Accuracy of this arm less the other's, -1 to 1.")
    low = serializers.FloatField(help_text="Lower end of the difference's 95 % interval (Newcombe 1998, method 10).")
    high = serializers.FloatField(help_text="Upper end of the interval.")
    p_value = serializers.FloatField(help_text="McNemar's exact test, two-sided.")
    p_corrected = serializers.FloatField(help_text="`p_value` corrected by Holm's method for the number of pairs.")
    charge_ratio = serializers.FloatField(
        source="amount_ratio",
        allow_null=True,
        help_text="Charge of this arm by the other's; null if the other is charged nothing.",
    )
    groups = serializers.DictField(
        child=serializers.IntegerField(),
        help_text=f"Items that some arm got right, as {', '.join(f'`{group}`' for group in GROUPS)}: "
        + ", ".join(f"`{name}` is {words}" for name, words in _GROUP_HELP.items())
        + "; `cheaper` is at most the other's charge.",
    )
    smallest_difference = serializers.FloatField(
        allow_null=True,
        help_text="Smallest difference that so many questions show in four of five comparisons; null if "
        "no item separates the arms.",
    )
    can_show = serializers.CharField(help_text="The same as a sentence.")


class KindArmSerializer(serializers.Serializer[Any]):
    """The arm that was right most often on one kind of questions."""

    kind = serializers.CharField(help_text="Kind of the questions; empty for questions without a kind.")
    arm = serializers.IntegerField(help_text="Index of the arm.")


class KindRuleSerializer(serializers.Serializer[Any]):
    """The best arm of each kind as a rule. Each item is graded by a rule that was made from the other items."""

    arms = KindArmSerializer(many=True, help_text="Best arm of each kind, in the order of the kinds.")
    accuracy = ShareSerializer(help_text="Right items by the arm that the other items of their kind choose.")
    single = ShareSerializer(help_text="Right items by the one arm that the other items of all kinds choose.")


class ComparisonReportSerializer(serializers.Serializer[Any]):
    """Figures of a comparison. An item that one arm could not ask leaves all arms; a repeated item counts once."""

    items = serializers.IntegerField(help_text="Items of the comparison.")
    counted = serializers.IntegerField(help_text="Items that every arm replied to.")
    left_out = serializers.IntegerField(help_text="Items that some arm could not ask.")
    open = serializers.IntegerField(help_text="Items that some arm has no outcome of yet.")
    labeled = serializers.IntegerField(help_text="Counted items with a grade in every arm.")
    ungraded = serializers.IntegerField(help_text="Counted items without a grade in some arm.")
    arms = ArmFiguresSerializer(many=True, help_text="Figures of each arm, in the order of the arms.")
    pairs = PairSerializer(many=True, help_text="Every arm against the first, and the best against the second best.")
    best = serializers.IntegerField(
        allow_null=True, help_text="Index of the most accurate arm, of equal ones the cheapest; null without grades."
    )
    frontier = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Indices of the arms that no other arm beats in accuracy without a higher charge.",
    )
    oracle = serializers.IntegerField(help_text="Labeled items that at least one arm got right.")
    rule = KindRuleSerializer(
        allow_null=True, help_text="The best arm of each kind; null if labeled items have fewer than two kinds."
    )


# --- results of one item ----------------------------------------------------------------------------------------------


class LabeledSpanSerializer(serializers.Serializer[Any]):
    """A span in which the right answer is seen, as you labeled it."""

    video_id = PublicIdField("vid", help_text="Video of the span.")
    start_ms = serializers.IntegerField(help_text="Begin in milliseconds.")
    end_ms = serializers.IntegerField(help_text="End in milliseconds.")

    def to_representation(self, instance: Any) -> dict[str, Any]:
        # The item holds the span as JSON, where the video's id is text.
        return super().to_representation({**instance, "video_id": UUID(instance["video_id"])})


class ResultCitationSerializer(serializers.Serializer[Any]):
    """An event that an answer cites."""

    video_id = PublicIdField("vid", help_text="Video of the event.")
    start_ms = serializers.IntegerField(help_text="Begin of the event in milliseconds.")
    end_ms = serializers.IntegerField(help_text="End of the event in milliseconds.")
    status = serializers.ChoiceField(CITATION_STATUSES, help_text="Whether the event supports the claims that cite it.")


class ArmResultSerializer(serializers.Serializer[Any]):
    """One arm's answer to the item in one repeat."""

    question_id = PublicIdField("qst", source="question.id", help_text="Question of this answer, with its trace.")
    arm = serializers.IntegerField(source="question.comparison_arm", help_text="Index of the arm.")
    repeat = serializers.IntegerField(source="question.repeat", help_text="Number of the repeat, from 0.")
    status = serializers.ChoiceField(QuestionStatus.choices, source="question.status", help_text="Status.")
    outcome = serializers.ChoiceField(OUTCOMES, source="reply.outcome", help_text="What the figures count.")
    answer = serializers.CharField(source="question.answer", help_text="The answer; empty if there is none.")
    choice = serializers.IntegerField(
        source="question.choice", allow_null=True, help_text="Index of the chosen choice, from 0."
    )
    confidence = serializers.FloatField(source="question.confidence", allow_null=True, help_text="Confidence, 0 to 1.")
    finish_reason = serializers.CharField(
        source="question.finish_reason",
        help_text=f"Why the search ended: {', '.join(f'`{reason}`' for reason in FINISH_REASONS)}; empty while open.",
    )
    finish_detail = serializers.CharField(source="question.finish_detail", help_text="Code behind the reason.")
    error_code = serializers.CharField(source="question.error_code", help_text="Why the question failed, if it did.")
    graded_by = serializers.CharField(source="reply.graded_by", help_text="Who graded the answer; empty if nobody.")
    evidence_hit = serializers.BooleanField(
        source="reply.hit", allow_null=True, help_text="Whether a citation shows a labeled span; null without a label."
    )
    evidence = ResultCitationSerializer(many=True, help_text="The events that the answer cites.")
    charge = ExactDecimalField(source="reply.amount", help_text="Charge of the answer as an exact decimal.")
    calls = serializers.IntegerField(source="reply.calls", help_text="Number of model calls.")
    prompt_tokens = serializers.IntegerField(source="reply.prompt_tokens", help_text="Tokens sent to models.")
    cached_tokens = serializers.IntegerField(source="reply.cached_tokens", help_text=CACHED)
    completion_tokens = serializers.IntegerField(source="reply.completion_tokens", help_text="Tokens models wrote.")
    frames = serializers.IntegerField(source="reply.frames", help_text="Frames that the answer looked at.")
    engine_ms = serializers.IntegerField(
        source="reply.engine_ms", allow_null=True, help_text="Time of the whole answer, without the time in the queue."
    )
    llm_ms = serializers.IntegerField(source="reply.llm_ms", allow_null=True, help_text="Time of the language model.")
    degraded = serializers.ListField(
        source="reply.degraded", child=serializers.CharField(), help_text="What the method had to do without."
    )


class ComparisonResultSerializer(serializers.Serializer[Any]):
    """One line of the results: an item with the answers of every arm."""

    position = serializers.IntegerField(source="item.position", help_text="Position of the item, from 0.")
    external_id = serializers.CharField(source="item.external_id", help_text="Your own id of the item.")
    question = serializers.CharField(source="item.text", help_text="The question.")
    choices = serializers.ListField(source="item.choices", child=serializers.CharField(), help_text="Its choices.")
    kind = serializers.CharField(source="item.kind", help_text="Your kind of question.")
    correct_choice = serializers.IntegerField(
        source="item.correct_choice", allow_null=True, help_text="Index of the right choice; null without a label."
    )
    correct_answer = serializers.CharField(source="item.correct_answer", help_text="The right answer, if you gave it.")
    labeled_evidence = LabeledSpanSerializer(
        source="item.evidence", many=True, help_text="Spans in which the right answer is seen."
    )
    left_out = serializers.CharField(
        source="item.left_out",
        help_text=f"Why the item is in no arm's figures ({', '.join(LeftOut.values)}); empty if it is in them.",
    )
    outcomes = serializers.ListField(
        child=serializers.ChoiceField(OUTCOMES),
        help_text="Outcome of the item in each arm, in the order of arms; an item that is repeated has one.",
    )
    answers = ArmResultSerializer(many=True, help_text="Answers by arm and repeat.")
