"""The figures of a comparison from plain records, by hand: outcomes of repeats, arms, pairs, groups, the frontier."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

import pytest

from backend.questions.figures.grading import folded, same_choice, same_words
from backend.questions.figures.replies import Item, Outcome, Reply, outcome_of, sort_items
from backend.questions.figures.report import GROUPS, compare_arms


def reply(word: str, amount: str = "0.01", **fields: Any) -> Reply:
    return Reply(cast(Outcome, word), amount=Decimal(amount), **fields)


def item(key: str, *words: str, amounts: tuple[str, ...] = (), **fields: Any) -> Item:
    """An item with one repeat for each arm."""
    each = amounts or ("0.01",) * len(words)
    replies = tuple((reply(word, amount),) for word, amount in zip(words, each, strict=True))
    return Item(key, replies, **fields)


@pytest.mark.parametrize(
    ("repeats", "outcome"),
    [
        ("right", "right"),
        ("right right wrong", "right"),
        ("right wrong wrong", "wrong"),
        ("right wrong", "wrong"),
        ("right abstained", "abstained"),
        ("wrong abstained right", "abstained"),
        ("wrong wrong abstained", "wrong"),
        ("failed refused wrong", "failed"),
        ("right right ungraded", "ungraded"),
        ("right right open", "open"),
        ("right open not_asked", "not_asked"),
        ("", "not_asked"),
    ],
)
def test_an_item_counts_once_with_the_outcome_of_most_of_its_repeats(repeats: str, outcome: str) -> None:
    assert outcome_of(cast(list[Outcome], repeats.split())) == outcome


def test_an_item_that_one_arm_could_not_ask_leaves_all_arms() -> None:
    items = [
        item("1", "right", "wrong"),
        item("2", "right", "not_asked"),
        item("3", "open", "right"),
        item("4", "open", "not_asked"),
        item("5", "right", "ungraded"),
        item("6", "ungraded", "abstained", labeled=False),
        item("7", "abstained", "failed", labeled=False),
    ]
    of = sort_items(items)

    assert [[one.key for one in group] for group in (of.counted, of.graded, of.left_out, of.open)] == [
        ["1", "5", "6", "7"], ["1"], ["2", "4"], ["3"],
    ]  # fmt: skip
    report = compare_arms(items, ["a", "b"])
    assert (report.items, report.counted, report.left_out, report.open) == (7, 4, 2, 1)
    assert (report.labeled, report.ungraded) == (1, 3)
    assert [arm.n for arm in report.arms] == [4, 4]
    assert (report.arms[0].accuracy.value, report.arms[1].accuracy.value) == (1.0, 0.0)


def test_feedback_can_grade_an_item_without_a_label() -> None:
    of = sort_items([item("1", "right", "wrong", labeled=False), item("2", "right", "ungraded", labeled=False)])

    assert [one.key for one in of.graded] == ["1"]


def test_abstained_failed_and_refused_items_are_wrong() -> None:
    words = ["right", "right", "wrong", "abstained", "refused", "failed"]
    (arm,) = compare_arms([item(str(n), word) for n, word in enumerate(words)], ["a"]).arms

    assert (arm.n, arm.answered, arm.abstained, arm.refused, arm.failed) == (6, 3, 1, 1, 1)
    assert (arm.labeled, arm.right) == (6, 2)
    assert arm.accuracy.value == pytest.approx(2 / 6)
    assert arm.accuracy_of_answered.value == pytest.approx(2 / 3)
    assert (arm.accuracy_of_answered.low, arm.accuracy_of_answered.high) == pytest.approx((0.2077, 0.9385), abs=5e-5)


def test_the_figures_of_one_arm_add_up() -> None:
    items = [
        Item(
            "1",
            (
                (
                    reply("right", "0.01", confidence=0.9, head="votes", citations=3, supported=2, hit=True, calls=4,
                          prompt_tokens=1_000, cached_tokens=600, completion_tokens=50, frames=8, engine_ms=1_000,
                          llm_ms=700, degraded=("no_speech",), version="2", prompts="ab", graded_by="choice"),
                    reply("right", "0.03", confidence=0.8, head="votes", citations=1, supported=1, hit=True, calls=2,
                          prompt_tokens=1_000, cached_tokens=1_000, engine_ms=3_000, version="2", prompts="ab"),
                ),
            ),
            kind="count",
        ),
        Item(
            "2",
            (
                (
                    reply("wrong", "0.10", confidence=0.4, head="votes", hit=False, engine_ms=2_000, version="3"),
                    reply("wrong", "0.10", confidence=0.2, head="votes", hit=True, version="3"),
                ),
            ),
            kind="order",
        ),
        Item("3", ((reply("abstained", "0"), reply("abstained", "0")),), kind="count"),
    ]  # fmt: skip
    (arm,) = compare_arms(items, ["a"]).arms

    assert {kind: (share.successes, share.n) for kind, share in arm.by_kind.items()} == {
        "count": (1, 2), "order": (0, 1),
    }  # fmt: skip
    # Half of the second item's repeats hit: not most of them.
    assert (arm.evidence_hit.successes, arm.evidence_hit.n) == (1, 2)
    assert (arm.citations, arm.citations_supported) == (4, 3)
    # Items are charged 0.02, 0.10 and 0: the mean of three, the one in the middle, and 0.02 + 0.9 x 0.08.
    assert (arm.amounts.total, arm.amounts.mean) == (Decimal("0.24"), Decimal("0.04"))
    assert (arm.amounts.p50, arm.amounts.p95) == (Decimal("0.02"), Decimal("0.092"))
    assert (arm.calls, arm.prompt_tokens, arm.cached_tokens, arm.completion_tokens) == (6, 2_000, 1_600, 50)
    assert (arm.cached_share, arm.frames) == (0.8, 8)
    assert arm.engine_ms == pytest.approx((2_000, 2_900))
    assert arm.llm_ms == (700, 700)
    assert arm.confidence is not None
    assert (arm.confidence.auroc, arm.confidence.n) == (1.0, 4)
    assert arm.confidence.calibration_error == pytest.approx((0.1 + 0.2 + 0.4 + 0.2) / 4)
    assert (arm.degraded, arm.graded_by) == ({"no_speech": 1}, {"choice": 1})
    assert (arm.heads, arm.versions, arm.prompts) == (("votes",), ("2", "3"), ("ab",))


def test_confidence_is_compared_only_where_the_head_is_the_same() -> None:
    def with_heads(*heads: str) -> Item:
        return Item("-".join(heads), tuple((reply("right", confidence=0.9, head=head),) for head in heads))

    arms = compare_arms([with_heads("votes", "votes", "paper", ""), with_heads("votes", "judged", "paper", "")],
                        ["a", "mixed", "paper", "unknown"]).arms  # fmt: skip

    assert [arm.confidence is not None for arm in arms] == [True, False, False, False]
    assert arms[1].heads == ("judged", "votes")
    unknown = compare_arms([with_heads("", "votes")], ["a", "b"]).arms
    assert [arm.confidence for arm in unknown] == [None, None]


def test_two_arms_that_answer_alike_differ_by_amount_alone() -> None:
    items = [
        item("1", "right", "right", amounts=("0.02", "0.01")),
        item("2", "right", "right", amounts=("0.02", "0.05")),
        item("3", "wrong", "wrong", amounts=("0.02", "0.01")),
    ]
    (pair,) = compare_arms(items, ["a", "b"]).pairs

    assert (pair.arm, pair.against, pair.difference, pair.p_value, pair.p_corrected) == (1, 0, 0.0, 1.0, 1.0)
    assert (pair.both, pair.gained, pair.lost, pair.neither) == (2, 0, 0, 1)
    assert pair.groups == {**dict.fromkeys(GROUPS, 0), "both_cheaper": 1, "both_dearer": 1}
    assert pair.amount_ratio == pytest.approx(0.07 / 0.06)
    assert pair.smallest_difference is None
    assert pair.can_show == "Both arms agree on 3 questions, so there is no difference to show."


def test_the_six_groups_by_who_is_right_and_what_it_costs() -> None:
    cheaper, dearer, equal = ("0.02", "0.01"), ("0.02", "0.03"), ("0.02", "0.02")
    items = [
        item("1", "right", "right", amounts=cheaper),
        item("2", "right", "right", amounts=equal),
        item("3", "right", "right", amounts=dearer),
        item("4", "wrong", "right", amounts=cheaper),
        item("5", "abstained", "right", amounts=dearer),
        item("6", "failed", "right", amounts=dearer),
        item("7", "right", "wrong", amounts=cheaper),
        item("8", "right", "refused", amounts=dearer),
        item("9", "wrong", "wrong", amounts=dearer),
    ]
    (pair,) = compare_arms(items, ["a", "b"]).pairs

    assert pair.groups == {
        "both_cheaper": 2, "both_dearer": 1, "gained_cheaper": 1, "gained_dearer": 2, "lost_cheaper": 1,
        "lost_dearer": 1,
    }  # fmt: skip
    assert (pair.n, pair.gained, pair.lost) == (9, 3, 2)
    assert pair.difference == pytest.approx(1 / 9)


def outcomes(*rows: str) -> list[Item]:
    """Items of arms a, b, c, …: r is right, w is wrong."""
    words = {"r": "right", "w": "wrong"}
    return [item(str(n), *(words[letter] for letter in row)) for n, row in enumerate(rows)]


def test_pairs_are_against_the_first_arm_and_best_against_second() -> None:
    """b gains 8 and loses 1 against a; c gains 3 and loses none; b against c is the best against the second."""
    items = outcomes(*["wrw"] * 5, *["wrr"] * 3, *["rwr"], *["rrr"] * 11)
    report = compare_arms(items, ["a", "b", "c"])

    assert [(pair.arm, pair.against) for pair in report.pairs] == [(1, 0), (2, 0), (1, 2)]
    assert [(pair.gained, pair.lost) for pair in report.pairs] == [(8, 1), (3, 0), (5, 1)]
    raw = [pair.p_value for pair in report.pairs]
    assert raw == pytest.approx([0.0391, 0.25, 0.21875], abs=5e-5)
    # Holm: 3 x 0.0391, 2 x 0.21875, and 1 x 0.25 raised to the one before it.
    assert [pair.p_corrected for pair in report.pairs] == pytest.approx([0.1172, 0.4375, 0.4375], abs=5e-5)
    assert report.best == 1
    assert report.oracle == 20
    assert report.pairs[0].can_show == "20 questions can show a difference of 42.0 points or more."


def test_the_best_pair_is_not_reported_twice() -> None:
    first_is_best = compare_arms(outcomes("rrw", "rww", "rrw"), ["a", "b", "c"])
    second_is_best = compare_arms(outcomes("rrw", "wrw", "rrw"), ["a", "b", "c"])

    assert [(pair.arm, pair.against) for pair in first_is_best.pairs] == [(1, 0), (2, 0)]
    assert [(pair.arm, pair.against) for pair in second_is_best.pairs] == [(1, 0), (2, 0)]


def test_sixty_questions_with_nine_that_differ_show_fourteen_points() -> None:
    items = outcomes(*["rw"] * 4, *["wr"] * 5, *["rr"] * 51)
    (pair,) = compare_arms(items, ["a", "b"]).pairs

    assert pair.can_show == "60 questions can show a difference of 14.0 points or more."


def test_the_frontier_has_no_arm_that_another_beats() -> None:
    """a: 1 of 2 for 1. b: 1 of 2 for 2. c: 2 of 2 for 3. d: as c for the same money. e: 0 of 2 for 0.5."""
    amounts = ("1", "2", "3", "3", "0.5")
    items = [item("1", "right", "wrong", "right", "right", "wrong", amounts=amounts),
             item("2", "wrong", "right", "right", "right", "wrong", amounts=amounts)]  # fmt: skip
    report = compare_arms(items, ["a", "b", "c", "d", "e"])

    assert report.frontier == (0, 2, 3, 4)
    assert report.best == 2


def of_kinds(*rows: str) -> list[Item]:
    """Items of arms a, b, …, as "who:rw"; the kind stands before the colon."""
    words = {"r": "right", "w": "wrong"}
    parts = [row.split(":") for row in rows]
    return [item(str(n), *(words[letter] for letter in row), kind=kind) for n, (kind, row) in enumerate(parts)]


def test_the_rule_by_kind_is_graded_on_items_that_did_not_make_it() -> None:
    """a answers every "who", b every "how". Left out, each item still has two of its kind that choose its arm."""
    rule = compare_arms(of_kinds(*["who:rw"] * 3, *["how:wr"] * 3), ["a", "b"]).rule

    assert rule is not None
    assert [(each.kind, each.arm) for each in rule.arms] == [("how", 1), ("who", 0)]
    assert (rule.accuracy.successes, rule.accuracy.n, rule.accuracy.value) == (6, 6, 1.0)
    assert (rule.accuracy.low, rule.accuracy.high) == pytest.approx((0.6097, 1.0), abs=5e-5)
    assert rule.single.successes == 0, "without the item, the other arm is right more often"


def test_an_item_alone_in_its_kind_is_answered_by_the_best_arm_of_the_others() -> None:
    """b is right on both "how", so it would answer "who" if that were not seen, and answers it wrongly."""
    rule = compare_arms(of_kinds("who:rw", "how:wr", "how:wr"), ["a", "b"]).rule

    assert rule is not None
    assert (rule.accuracy.successes, rule.single.successes) == (2, 0)
    assert [(each.kind, each.arm) for each in rule.arms] == [("how", 1), ("who", 0)]


def test_of_equally_good_arms_the_rule_takes_the_cheaper_one() -> None:
    items = [item(kind, "right", "right", kind=kind, amounts=("0.02", "0.01")) for kind in ("who", "")]
    rule = compare_arms(items, ["a", "b"]).rule

    assert rule is not None
    assert [(each.kind, each.arm) for each in rule.arms] == [("", 1), ("who", 1)]


@pytest.mark.parametrize("rows", [("who:rw", "who:wr"), (), ("who:r", "how:r")])
def test_without_two_kinds_or_two_arms_there_is_no_rule(rows: tuple[str, ...]) -> None:
    labels = ["a", "b"][: len(rows[0].split(":")[1])] if rows else ["a", "b"]

    assert compare_arms(of_kinds(*rows), labels).rule is None


def test_a_comparison_without_outcomes_says_so() -> None:
    report = compare_arms([item("1", "open", "open")], ["a", "b"])

    assert (report.counted, report.open, report.best, report.frontier) == (0, 1, None, ())
    assert report.arms[0].accuracy.value is None
    assert (report.arms[0].amounts.mean, report.arms[0].engine_ms) == (None, (None, None))
    (pair,) = report.pairs
    assert (pair.p_value, pair.amount_ratio) == (1.0, None)
    assert pair.can_show == "No question has a grade in both arms, so the arms cannot be compared."
    assert compare_arms([], ["a", "b"]).items == 0


@pytest.mark.parametrize(
    ("given", "truth"),
    [
        ("The red car.", "red car"),
        ("“A red\u00a0car”…", "the RED car!"),
        ("ＲＥＤ　ｃａｒ", "red car"),
        ("don’t know", "DON'T KNOW"),
        ("STRASSE", "straße"),
        ("¿Un perro?", "un perro"),
        ("一只狗。", "一只狗"),
        ("well-known", "well known"),
        ("3.5 m", "3.5 M."),
        ("A", "a"),
    ],
)
def test_case_articles_and_punctuation_of_any_script_make_no_difference(given: str, truth: str) -> None:
    assert same_words(given, truth)


@pytest.mark.parametrize(
    ("given", "truth"),
    [("-5 degrees", "5 degrees"), ("3.5", "35"), ("10:30", "1030"), ("red car", "red cart"), ("?", "!"), ("", "")],
)
def test_what_changes_the_meaning_makes_a_difference(given: str, truth: str) -> None:
    assert not same_words(given, truth)


def test_folding_keeps_words_that_only_look_like_articles() -> None:
    assert folded("The theatre and an ant") == "theatre and ant"
    assert folded("the") == "the"
    assert (same_choice(1, 1), same_choice(0, 1), same_choice(None, 0)) == (True, False, False)
