"""Route `whole`: what it says is checked against events, and bounded however much the scope holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.answering.routes.parts import MOST_PARTS, Part, bounded
from gpu_workers.engine.ekg import Overview, Span, Topic, stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.calibration import UNMEASURED, Calibration
from tests.engine.answering.routes.test_scan_limits import with_gaps
from tests.engine.answering.routes.test_whole import TITLES, ask, kitchen
from tests.engine.answering.world import EMBEDDED, Request, ScriptedReasoner, make_video, models, says, verdicts

FALSE = "Nobody bakes; a plane crashes into the house"


def statuses(answer: Answer) -> dict[str, str]:
    return {claim.text: claim.status for claim in answer.claims}


def test_a_statement_that_no_event_supports_is_unverified() -> None:
    def script(request: Request) -> Any:
        if request.stage == "verify":
            return {"verdicts": []}
        items = [{"text": "A plane crashes into the house.", "parts": [1]}, {"text": "Baking a cake.", "parts": [1]}]
        return {"items": items}

    answer, reasoner = ask("What is this about?", script)
    assert statuses(answer) == {
        "A plane crashes into the house.": "unverified",
        "Baking a cake.": "supported",
        **dict.fromkeys(TITLES[1:], "supported"),
    }
    assert [request.stage for request in reasoner.requests] == ["whole", "verify"], "nothing is contradicted"


@pytest.mark.parametrize("corrects", [True, False])
def test_a_statement_that_its_events_contradict_is_corrected_once_or_left_out(corrects: bool) -> None:
    def script(request: Request) -> Any:
        if request.stage == "revise":
            statement = {"number": 1, "text": "Somebody is baking a cake", "evidence": [1]}
            return {"statements": [statement] if corrects else []}
        if request.stage == "verify":
            return verdicts(request, lambda text: "contradicted" if "Nobody" in text else "supported")
        return {"items": [{"text": "Nobody is baking a cake", "parts": [1]}]}

    answer, reasoner = ask("What is this about?", script)
    assert [request.stage for request in reasoner.requests] == ["whole", "verify", "revise", *["verify"] * corrects]
    assert "Nobody" not in answer.text
    if corrects:
        assert answer.text.startswith("Somebody is baking a cake. Washing the dishes;")
        assert set(statuses(answer).values()) == {"supported"}
        assert any("was corrected" in note for note in answer.notes)
    else:
        assert "Baking a cake (0:00:00)" in answer.text, "the part is named by its title"
        assert statuses(answer)["Nobody is baking a cake"] == "contradicted"
        assert all(answer.claims[part.claim].text == part.text for part in answer.parts)
        assert any("was left out" in note for note in answer.notes)


def many_topics(count: int, *, name: str = "many", title: str = "Topic", overview: str = "") -> MemoryVideo:
    """Return a video with topics of one event each."""
    video_id: UUID = stable_id("video", name)
    video = make_video([f"{title} {n} goes on" for n in range(count)], video_id=video_id)
    topics = [Topic(n, Span(3_000 * n, 3_000 * n + 3_000), n, n + 1, f"{title} {n}", "") for n in range(count)]
    told = Overview(overview, (), (), 3_000 * count, "narrator") if overview else None
    return replace(video, topics=topics, overview=told, title=name)


def test_each_claim_has_an_event_though_there_are_many() -> None:
    answer, _ = ask("Which topics are covered?", video=many_topics(30), calibration=EMBEDDED)
    assert Counter((claim.status, len(claim.citations)) for claim in answer.claims) == {("supported", 1): 30}


QUESTIONS = (
    "What is this about?", "Which topics are covered?", "Give me a summary as a table", "List the steps",
    "How many times does someone bake?", 'How many times does someone say "cake"?', "Does anybody ever swim?",
    "How many people are there?", "What happened in the first minute?", "What does the person bake?",
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("calibration", [UNMEASURED, EMBEDDED], ids=["served", "small"])
def test_on_every_route_a_claim_without_evidence_is_unverified(question: str, calibration: Calibration) -> None:
    def script(request: Request) -> Any:
        if request.stage == "scan":
            return {"true": [1], "false": [2]}
        if "<events>" in request.text and request.stage == "whole":
            return {"parts": [{"title": "Noted", "text": "", "events": [1]}]}
        return {"items": [{"text": FALSE, "parts": [1]}]} if request.stage == "whole" else says(FALSE)

    for video in (kitchen(), many_topics(90), kitchen(topics=0, overview=False)):
        answer, _ = ask(question, script, video=video, calibration=calibration)
        assert all(claim.citations or claim.status == "unverified" for claim in answer.claims)
        for index, claim in enumerate(answer.claims):
            assert all(index in answer.citations[position].claims for position in claim.citations)


def test_what_could_not_be_described_is_in_no_part() -> None:
    events = [f"baking a cake, moment {n}" for n in range(40)]
    events[20:25] = ["0:01:00 to 0:01:15 could not be described: model_refused"] * 5
    video = with_gaps(kitchen(topics=0, overview=False, events=events), range(20, 25))
    answer, _ = ask("Which topics are covered?", video=video, calibration=EMBEDDED)
    assert "could not be described" not in answer.text
    assert "read from 0 topics and 35 of 40 events" in answer.notes
    assert "0:00:15 in 5 of 40 events could not be described" in answer.notes
    assert answer.signals["read"] == 0.875


def test_a_scope_of_gaps_alone_is_searched_for_instead() -> None:
    video = with_gaps(make_video(["0:00:00 to 0:00:03 could not be described: model_refused"]), [0])
    answer, _ = ask("What is this about?", video=video, calibration=EMBEDDED)
    assert answer.signals.get("head") != "whole"


# --- bounds ----------------------------------------------------------------------------------------------------------


def test_a_long_video_is_told_in_joined_parts() -> None:
    answer, _ = ask("Which topics are covered?", video=many_topics(150), calibration=EMBEDDED)
    lines = answer.text.splitlines()
    assert len(lines) == len(answer.claims) == MOST_PARTS
    assert lines[0] == "- Topic 0; Topic 1 (0:00:00)"
    assert all(f"Topic {n}" in answer.text for n in range(150))


class CountedGraph(InMemoryGraph):
    """Counts the reads of topics and overviews, and the events that are loaded."""

    reads = 0
    loaded = 0

    def topics_of(self, video_ids: Sequence[UUID]) -> Any:
        self.reads += 1
        return super().topics_of(video_ids)

    def overviews_of(self, video_ids: Sequence[UUID]) -> Any:
        self.reads += 1
        return super().overviews_of(video_ids)

    def load_events(self, event_ids: Sequence[UUID]) -> Any:
        self.loaded += len(event_ids)
        return super().load_events(event_ids)


@pytest.mark.parametrize("small", [True, False])
def test_a_collection_is_told_video_by_video(small: bool) -> None:
    videos = [many_topics(12, name=f"Tape {n}", overview=f"Tape {n} is about baking. It is long.") for n in range(80)]
    graph = CountedGraph(videos)
    reasoner = ScriptedReasoner(lambda request: {"items": [{"text": "Tapes about baking", "parts": [1, 2]}]})
    answer = answer_question(
        QuestionInput("What is this about?"), graph, models(reasoner, calibration=EMBEDDED if small else UNMEASURED)
    )
    assert graph.reads == 2
    assert graph.loaded < 1_200
    assert len(answer.claims) <= MOST_PARTS + 1
    assert len(answer.text) < 6_000
    if small:
        assert answer.text.count('": Tape ') == MOST_PARTS
        assert answer.text.endswith("and 20 more.")
    else:
        (request,) = reasoner.asked("whole")
        assert request.text.count(" is about baking: It is long.") == 80
        assert answer.text.startswith("Tapes about baking. ")
        assert answer.text.endswith("; and 19 more.")


def test_only_events_that_are_cited_are_embedded() -> None:
    answer, _ = ask("Which topics are covered?", calibration=EMBEDDED)
    embedded = sum(call.items for call in answer.usage.calls if call.stage == "embedding")
    assert 0 < embedded <= 60, "the statements, and of each of 4 events the summary and the sentence that fits best"


def test_more_parts_than_the_window_holds_are_read_from_all_over_the_scope() -> None:
    read: list[str] = []

    def script(request: Request) -> Any:
        if request.stage == "whole":
            read.extend(line for line in request.text.splitlines() if "Topic" in line)
        return {"items": [{"text": "Topics", "parts": [1]}]}

    answer, _ = ask("What is this about?", script, video=many_topics(60), window=1_500)
    assert 5 < len(read) < 60
    assert "Topic 59" in read[-1]
    assert f"{len(read)} of 60 parts were read together" in answer.notes
    assert "Topic 30" in answer.text, "named by its title"


def test_parts_of_several_videos_without_overviews_are_named_by_their_titles() -> None:
    ids = sorted(stable_id("video", n) for n in range(2))
    parts = [
        Part(video_id, Span(n, n + 1), f"Title {n}", "", (stable_id("event", video_id, n),))
        for video_id in ids
        for n in range(40)
    ]
    first, second = bounded(parts, {ids[1]: "All about it. More."})
    assert first.title.startswith("Title 0; Title 1; ")
    assert len(first.title) <= 160
    assert (second.title, second.text, second.span) == ("All about it", "More.", Span(0, 40))
    assert bounded(parts[:60], {}) == parts[:60]


# --- places ----------------------------------------------------------------------------------------------------------


def test_a_place_narrows_the_whole_to_the_topics_that_name_it() -> None:
    video = kitchen()
    topics = [replace(topic, places=("garage",) if topic.n == 3 else ()) for topic in video.topics]
    answer, _ = ask(
        "Summarise what happened in the garage",
        video=replace(video, topics=topics),
        calibration=EMBEDDED,
        route="whole",
    )
    assert [claim.text for claim in answer.claims] == ["Packing the car"]
    assert f"1 of {len(topics)} topics name what the question is about; the others are left out" in answer.notes


def test_a_place_that_no_topic_names_narrows_nothing() -> None:
    for question in ("Summarise what happened in the cellar", "Summarise the video", "What happens in this video?"):
        answer, _ = ask(question, calibration=EMBEDDED, route="whole")
        assert [claim.text for claim in answer.claims] == list(TITLES), question
        assert not any("topics name" in note for note in answer.notes)


def test_a_table_has_headings_in_the_language_of_the_answer() -> None:
    answer, _ = ask("Give me a summary as a table", calibration=EMBEDDED)
    assert answer.columns == ("time", "what")
    assert answer.parts[0].cells == ("0:00:00", "Baking a cake")
    german, _ = ask("Give me a summary as a table", calibration=EMBEDDED, language="de")
    assert german.columns == ("Zeit", "was")
