"""The console's pages of comparisons: figures, picture, matrix, traces side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from backend.console.answers.frontier import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, picture_of
from backend.questions.figures.replies import Item, Outcome, Reply
from backend.questions.figures.report import compare_arms
from backend.questions.models import Comparison
from backend.questions.services import questions as services
from gpu_workers.engine.answering.contract import NodeRecord
from tests.conftest import Cast
from tests.console.signing_in import open_content
from tests.questions.graded import CHOICES, answer, call, cites, make, question_at, settle

CHOICE = {"choices": CHOICES, "correct_choice": 1}


@pytest.fixture
def staff(staff: Client, acme: Cast, globex: Cast) -> Client:
    """An operator who has opened the content of both tenants."""
    for cast in (acme, globex):
        assert open_content(staff, cast).status_code == 302
    return staff


@pytest.fixture
def comparison(acme: Cast) -> Comparison:
    """Three items: the second arm gains one, both get one right, one arm abstains on an item without a label."""
    made, video_id = make(
        acme, [{**CHOICE, "kind": "colour"}, CHOICE, {}], name="Which method?", external_id="exam-7"
    )  # fmt: skip
    step = NodeRecord(
        "S01", 1, "clip_search",
        detail={"tool": "clip_search", "arguments": {"query": "<b>car</b>"}, "observation": "E1 0:00: a car parks",
                "forced": "", "error": "nothing_found"},
    )  # fmt: skip
    settle(acme, made, 0, 0, answer(0))
    settle(acme, made, 0, 1, answer(1, calls=(call(3_000),), nodes=(step,), citations=(cites(video_id, 0, 3_000),)))
    settle(acme, made, 1, 0, answer(1))
    settle(acme, made, 1, 1, answer(1, calls=(call(3_000),)))
    settle(acme, made, 2, 0, answer(text="A dog."))
    settle(acme, made, 2, 1, answer())
    return made


def page(client: Client, path: str, status: int = 200) -> str:
    reply = client.get(f"/console/questions/comparison/{path}")
    assert reply.status_code == status, path
    return reply.content.decode()


def words(html: str) -> str:
    """The text of a page, without tags and doubled spaces."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def test_the_list_shows_the_comparisons_of_all_tenants(staff: Client, comparison: Comparison, globex: Cast) -> None:
    make(globex, [CHOICE], name="Another one")
    html = page(staff, "")

    for text in ("completed", "caption_rag medium · ava medium", "running"):
        assert text in html
    assert not any(text in html for text in ("Which method?", "Another one"))
    assert "Another one" in page(staff, f"?tenant={globex.tenant_id}")
    mine = page(staff, f"?tenant={comparison.tenant_id}")
    assert "Which method?" in mine
    assert "Another one" not in mine


def test_the_detail_shows_figures_pairs_and_what_the_questions_can_show(staff: Client, comparison: Comparison) -> None:
    text = words(page(staff, f"{comparison.id}/change/"))

    for shown in (
        "ava medium against caption_rag medium: 2 questions can show a difference of 100.0 points or more.",
        "3 of 3", "1 without a grade", "50.0 % (9.5 to 90.5)", "100.0 % (34.2 to 100.0)", "+50.0 (",
        "exam-7", "Acme", "version 1", "colour",
    ):  # fmt: skip
        assert shown in text
    # The one "colour" is answered as the other question chooses, whose arms are equal: by the cheaper one, wrongly.
    assert "best arm of each kind: no kind by ava medium, colour by ava medium 50.0 %" in text
    assert "one arm for all kinds 50.0 %" in text
    # 1 of 2 answers was gained: p is 1, and the gain is dearer.
    assert "1.0000" in text


def test_the_picture_can_be_read_without_seeing_it(staff: Client, comparison: Comparison) -> None:
    html = page(staff, f"{comparison.id}/change/")
    svg = re.search(r"<svg class=\"c-plot\".*?</svg>", html, re.DOTALL)

    assert svg is not None
    assert 'role="img" aria-labelledby="plot-title plot-desc"' in svg[0]
    assert '<title id="plot-title">Accuracy over cost of a question</title>' in svg[0]
    assert "caption_rag medium: 50.0 % (9.5 % to 90.5 %) at $" in svg[0]
    assert svg[0].count("<circle") == 2


def test_the_matrix_links_every_answer_to_its_trace(staff: Client, acme: Cast, comparison: Comparison) -> None:
    html = page(staff, f"{comparison.id}/change/")
    with acme.scope():
        ids = [[question_at(comparison, item, arm).id for arm in (0, 1)] for item in range(3)]
    marks = [[re.search(rf'question/{id}/change/"[^>]*aria-label="([^"]*)">(.)<', html) for id in row] for row in ids]

    assert [[found.groups() for found in row if found] for row in marks] == [
        [("wrong", "✗"), ("right", "✓")],
        [("right", "✓"), ("right", "✓")],
        [("ungraded", "?"), ("abstained", "–")],
    ]
    for id in (id for row in ids for id in row):
        assert staff.get(f"/console/questions/question/{id}/change/").status_code == 200


def test_only_questions_on_which_the_arms_disagree(staff: Client, acme: Cast, comparison: Comparison) -> None:
    html = page(staff, f"{comparison.id}/change/?only=disagree")

    assert "arms disagree: 2" in html
    assert ["number 0" in html, "number 1" in html, "number 2" in html] == [True, False, True]
    alike, _ = make(acme, [CHOICE])
    for arm in (0, 1):
        settle(acme, alike, 0, arm, answer(1))
    assert "The arms agree on every question." in page(staff, f"{alike.id}/change/?only=disagree")


def test_two_wrong_arms_that_chose_differently_disagree(staff: Client, acme: Cast) -> None:
    made, _ = make(acme, [CHOICE])
    settle(acme, made, 0, 0, answer(0))
    settle(acme, made, 0, 1, answer(2))

    assert "arms disagree: 1" in page(staff, f"{made.id}/change/")


def test_two_traces_stand_side_by_side(staff: Client, comparison: Comparison) -> None:
    html = page(staff, f"{comparison.id}/traces/?item=0")
    text = words(html)

    for shown in ("Right answer: B. red car", "✗ blue car", "✓ red car", "clip_search", "a car parks", "nothing_found"):
        assert shown in text
    assert "query=&lt;b&gt;car&lt;/b&gt;" in html, "text of a model is never markup"
    assert html.index('aria-label="left"') < html.index('aria-label="right"')
    turned = words(page(staff, f"{comparison.id}/traces/?item=0&left=1&right=0"))
    assert turned.index("✓ red car") < turned.index("✗ blue car")


def test_a_trace_that_does_not_exist_is_not_found(staff: Client, comparison: Comparison) -> None:
    for query in ("item=9", "left=2", "right=-1", "repeat=1", "item=x", "item=²", "item=99999999999999999999"):
        page(staff, f"{comparison.id}/traces/?{query}", status=404)


def test_only_staff_open_the_pages(comparison: Comparison) -> None:
    for path in ("", f"{comparison.id}/change/", f"{comparison.id}/traces/"):
        reply = Client().get(f"/console/questions/comparison/{path}")
        assert reply.status_code == 302
        assert reply.headers["Location"].startswith("/console/login/")


def test_unknown_comparisons_are_not_found(staff: Client, database: None) -> None:
    page(staff, f"{uuid4()}/change/", status=404)
    page(staff, f"{uuid4()}/traces/", status=404)


def test_an_empty_comparison_says_that_nothing_has_a_grade(staff: Client, acme: Cast) -> None:
    made, _ = make(acme, [CHOICE, CHOICE], repeats=2)
    with acme.scope():
        services.cancel_question(question_id=question_at(made, 1, 0).id)
    html = page(staff, f"{made.id}/change/")

    assert "No answer has a grade yet." in html
    assert "1 left out, 1 open" in words(html)
    assert "repeat 2" in page(staff, f"{made.id}/traces/?item=1&repeat=1")


def test_a_long_comparison_is_shown_in_pages(staff: Client, acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.console.answers.comparisons.ROWS", 2)
    made, _ = make(acme, [CHOICE] * 3)

    first, second = page(staff, f"{made.id}/change/"), page(staff, f"{made.id}/change/?page=2")
    assert ["number 0" in first, "number 2" in first] == [True, False]
    assert ["number 0" in second, "number 2" in second] == [False, True]
    beyond = page(staff, f"{made.id}/change/?page=77")
    assert ["number 0" in beyond, "number 2" in beyond] == [False, True]


# --- the picture ------------------------------------------------------------------------------------------------------


def report(*arms: tuple[Sequence[Outcome], str]) -> Any:
    items = [
        Item(str(n), tuple((Reply(outcomes[n], amount=Decimal(cost)),) for outcomes, cost in arms))
        for n in range(len(arms[0][0]))
    ]
    return compare_arms(items, [f"arm {n}" for n in range(len(arms))])


def test_arms_stand_at_their_cost_and_accuracy() -> None:
    """Costs up to 0.03 stand on an axis that ends at 0.05; the middle of the picture is an accuracy of one half."""
    picture = picture_of(
        report((["right", "wrong"], "0.01"), (["right", "right"], "0.03"), (["wrong", "wrong"], "0.02"))
    )

    assert picture is not None
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    assert [point.x for point in picture.points] == pytest.approx(
        [LEFT + width * 0.2, LEFT + width * 0.6, LEFT + width * 0.4]
    )
    assert [point.y for point in picture.points] == pytest.approx([TOP + height / 2, TOP, TOP + height])
    assert [point.on_frontier for point in picture.points] == [True, True, False]
    assert picture.line.count(",") == 2
    assert [tick.label for tick in picture.costs] == ["$0", "$0.0125", "$0.025", "$0.0375", "$0.05"]
    assert [tick.label for tick in picture.accuracies] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert picture.points[0].high < picture.points[0].y < picture.points[0].low
    assert picture.description.endswith("No arm is both cheaper and better than: arm 0, arm 1.")


def test_arms_that_cost_nothing_stand_at_the_left_and_no_grade_makes_no_picture() -> None:
    free = picture_of(report((["right"], "0"), (["wrong"], "0")))

    assert free is not None
    assert {point.x for point in free.points} == {LEFT}
    assert picture_of(report((["ungraded"], "1"), (["right"], "1"))) is None
