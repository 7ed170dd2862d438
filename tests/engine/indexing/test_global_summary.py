"""Topics and overview: one partition whatever the batches, requests that fit, only names that events give."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from gpu_workers.engine.ekg import Actor, EventDigest, Overview, Span, Topic
from gpu_workers.engine.indexing.assembly import AssemblySettings, EventAssembler
from gpu_workers.engine.indexing.global_summary import GlobalSummariser, TopicSettings, TopicSplitter, summarise
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
from gpu_workers.engine.models.roles import Meter, ModelError, ModelRefused, Narrator, OverviewText, Sample
from gpu_workers.engine.models.served.narrator import LlmNarrator
from tests.engine.answering.test_frame_check import jpeg
from tests.engine.answering.world import Request, ScriptedReasoner
from tests.engine.indexing.scripted import ScriptedEmbedder, chunk, scripted_models, vector_of
from tests.engine.indexing.test_assembly import VIDEO

SETTINGS = TopicSettings(shortest_ms=30_000, longest_ms=120_000)
DOGS, ROAD, KITCHEN = "two dogs chase a ball on the lawn", "cars pass a red van on the road", "a cook cuts bread"


def event(
    n: int, summary: str = DOGS, *, ms: int = 12_000, actors: Sequence[Actor] = (), described: bool = True
) -> EventDigest:
    span = Span(n * ms, (n + 1) * ms)
    return EventDigest(n, span, summary, vector_of(summary), tuple(actors), described)


def story(*scenes: tuple[str, int]) -> list[EventDigest]:
    """Return events of 12 s: count events for each (words, count), which differ in a number."""
    numbered = [(words, k) for words, count in scenes for k in range(count)]
    return [event(n, f"{words} {k % 3}") for n, (words, k) in enumerate(numbered)]


def long_story(count: int, seed: int = 1) -> list[EventDigest]:
    """Return scenes of random length, with gaps in between."""
    chance = random.Random(seed)
    events: list[EventDigest] = []
    while len(events) < count:
        words = f"{chance.choice((DOGS, ROAD, KITCHEN))} scene {chance.randrange(1000)}"
        for _ in range(min(chance.randrange(1, 14), count - len(events))):
            n = len(events)
            if chance.random() < 0.05:
                events.append(event(n, "could not be described", described=False))
            else:
                events.append(event(n, f"{words} {chance.randrange(4)}", actors=[Actor("dog", "animal")]))
    return events


def groups_of(
    events: Sequence[EventDigest], cuts: Sequence[int], settings: TopicSettings = SETTINGS
) -> list[list[int]]:
    """Return the topics' event numbers if the events arrive in batches that end at cuts."""
    splitter = TopicSplitter(settings)
    groups = []
    for low, high in pairwise([0, *cuts, len(events)]):
        groups += splitter.push(events[low:high])
    groups += splitter.flush()
    return [[e.n for e in group] for group in groups]


def summariser(narrator: Narrator | None = None, *, topics: Sequence[Topic] = (), **more: Any) -> GlobalSummariser:
    return GlobalSummariser(
        narrator or MeasuredNarrator(),
        profile="general",
        meter=more.pop("meter", Meter()),
        frame_times=more.pop("frame_times", lambda span: range(-(-span.start_ms // 1000) * 1000, span.end_ms, 1000)),
        settings=more.pop("settings", SETTINGS),
        pictures=more.pop("pictures", lambda times: ()),
        topics=topics,
    )


def summary_of(
    events: Sequence[EventDigest], narrator: Narrator | None = None, **more: Any
) -> tuple[tuple[Topic, ...], Overview | None]:
    work = summariser(narrator, **more)
    work.push(events)
    return work.conclude(ended=True)


def check_partition(topics: Sequence[Topic], events: Sequence[EventDigest]) -> None:
    """Check that topics are contiguous from the first event to the last, with every event in one topic."""
    assert [topic.n for topic in topics] == list(range(len(topics)))
    assert (topics[0].span.start_ms, topics[-1].span.end_ms) == (events[0].span.start_ms, events[-1].span.end_ms)
    assert (topics[0].first_event, topics[-1].end_event) == (0, len(events))
    for before, after in pairwise(topics):
        assert after.span.start_ms == before.span.end_ms
        assert after.first_event == before.end_event
    for topic in topics:
        assert events[topic.first_event].span.start_ms == topic.span.start_ms
        assert events[topic.end_event - 1].span.end_ms == topic.span.end_ms
        assert all(topic.span.contains(ms) for ms in topic.frame_ms)


# --- topics ---------------------------------------------------------------------------------------------------------


def test_a_topic_ends_where_the_events_begin_to_be_about_something_else() -> None:
    events = story((DOGS, 5), (ROAD, 4), (KITCHEN, 6))
    topics, _ = summary_of(events)
    check_partition(topics, events)
    assert [(t.first_event, t.end_event) for t in topics] == [(0, 5), (5, 9), (9, 15)]


def test_topics_keep_their_bounds() -> None:
    # A single long scene is cut at the longest length; scenes that change at every event are cut at the shortest.
    still = groups_of(story((DOGS, 60)), [])
    assert sum(map(len, still)) == 60
    assert all(3 <= len(group) <= 10 for group in still[:-1])
    assert len(still) < 12, "similar scenes are not cut more often than the longest length asks"
    restless = groups_of([event(n, f"word{n} thing{n} place{n}") for n in range(60)], [])
    assert all(len(group) >= 3 for group in restless)
    assert all(len(group) <= 10 for group in restless[:-1])


def test_what_is_left_at_the_end_joins_the_last_topic_when_it_is_short() -> None:
    assert groups_of(story((DOGS, 5), (ROAD, 2)), []) == [[0, 1, 2, 3, 4, 5, 6]]
    assert groups_of(story((DOGS, 5), (ROAD, 3)), []) == [[0, 1, 2, 3, 4], [5, 6, 7]]


@pytest.mark.parametrize("seed", range(8))
def test_topics_do_not_depend_on_how_the_events_arrive(seed: int) -> None:
    events = long_story(160, seed)
    chance = random.Random(seed)
    whole = groups_of(events, [])
    assert [n for group in whole for n in group] == list(range(160))
    assert len(whole) > 10
    assert groups_of(events, range(1, 160)) == whole
    for _ in range(5):
        assert groups_of(events, sorted(chance.sample(range(1, 160), 12))) == whole


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_conclude_on_the_way_end_with_the_same_summary(seed: int) -> None:
    events = long_story(120, seed)
    whole = summary_of(events)
    topics: tuple[Topic, ...] = ()
    for until in (7, 30, 31, 64, 100):
        work = summariser(topics=topics)
        closed = topics[:-1]
        work.push(events[work.next_event_n : until])
        topics, overview = work.conclude(ended=False)
        check_partition(topics, events[:until])
        assert topics[: len(closed)] == closed, "a closed topic changed"
        assert overview is not None
        assert overview.until_ms == events[until - 1].span.end_ms
    work = summariser(topics=topics)
    work.push(events[work.next_event_n :])
    assert work.conclude(ended=True) == whole
    check_partition(whole[0], events)


def test_an_open_topic_without_new_events_is_not_narrated_again() -> None:
    asked: list[int] = []
    narrator = LlmNarrator(reasoner(lambda request: asked.append(1) or answer(request)), MeasuredNarrator())
    events = story((DOGS, 4))
    first = summariser(narrator)
    first.push(events)
    topics, _ = first.conclude(ended=False)
    assert len(asked) == 2, "one topic, one overview"
    again = summariser(narrator, topics=topics)
    again.push(events[again.next_event_n :])
    assert again.conclude(ended=True)[0] == topics
    assert len(asked) == 3, "the overview alone"


def test_ten_hours_have_a_few_dozen_topics() -> None:
    hours = [replace(e, span=Span(e.n * 3_000, e.n * 3_000 + 3_000)) for e in long_story(12_000)]
    settings = TopicSettings.for_length(hours[-1].span.end_ms)
    assert 20 <= len(groups_of(hours, [], settings)) <= 60
    assert TopicSettings.for_length(80_000).shortest_ms == 9_000


def test_frames_are_kept_ones_spread_over_the_topic() -> None:
    kept = [0, 1_000, 13_000, 50_000, 51_000]
    topics, _ = summary_of(
        story((DOGS, 5)), frame_times=lambda span: [ms for ms in kept if span.contains(ms)],
    )  # fmt: skip
    (topic,) = topics
    assert set(topic.frame_ms) <= set(kept)
    assert len(topic.frame_ms) >= 2
    assert topic.frame_ms[0] < 14_000
    assert topic.frame_ms[-1] >= 50_000
    assert summary_of(story((DOGS, 5)), frame_times=lambda span: [])[0][0].frame_ms == ()


def test_one_event_is_one_topic_and_no_events_are_none() -> None:
    topics, overview = summary_of([event(0)])
    check_partition(topics, [event(0)])
    assert len(topics) == 1
    assert overview is not None
    assert summary_of([]) == ((), None)


# --- narration -------------------------------------------------------------------------------------------------------


def reasoner(script: Callable[[Request], Any], *, context_tokens: int = 2_000) -> ScriptedReasoner:
    return ScriptedReasoner(script, context_tokens=context_tokens)


def answer(request: Request, **words: Any) -> dict[str, Any]:
    """Return a usable answer; summary and text say how many lines were shown."""
    shown = len(re.findall(r"^\[", request.text, re.MULTILINE))
    texts = {"title": "part"} if request.stage == "topics" else {}
    return {**texts, ("summary" if texts else "text"): f"{shown} lines", "people": [], "places": [], **words}


def test_the_measured_narrator_says_who_is_seen_for_how_long_and_what_changes() -> None:
    man, dog, gate = Actor("man in black", "person"), Actor("dog", "animal"), Actor("gate", "place")
    events = [
        event(0, "From 00:00 to 00:12: one person in view. A man waits.", actors=[man, gate]),
        event(1, "A man and a dog meet.", actors=[*(replace(man, name=f"{man.name} {k}") for k in (1, 2)), dog]),
        event(2, "The dog runs off.", actors=[dog]),
        event(3, "00:36 to 00:48 could not be described: model_refused", described=False),
    ]  # fmt: skip
    topics, overview = summary_of(events)
    (topic,) = topics
    assert topic.title == "Man in black and dog (gate)"
    assert topic.summary == (
        "00:00 to 00:48, 4 events. Seen longest: man in black (in events of 24 s, 2 in one event) and dog (in events "
        "of 24 s). Place: gate. New: dog from 00:12. Last seen: man in black before 00:24 and dog before 00:36. "
        "At 00:00: one person in view. A man waits. At 00:24: The dog runs off. 00:36 to 00:48 could not be described."
    )
    assert (topic.people, topic.places) == (("man in black",), ("gate",))
    assert overview == Overview(
        "00:48 of video in 1 topic. People: man in black. Places: gate. 00:00 to 00:48: Man in black and dog (gate).",
        ("man in black",),
        ("gate",),
        48_000,
        "measured",
    )


def test_gaps_alone_are_never_narrated_by_a_model() -> None:
    model = reasoner(answer)
    events = [event(n, "could not be described: no_frames", described=False) for n in range(5)]
    topics, overview = summary_of(events, LlmNarrator(model, MeasuredNarrator()))
    assert [topic.title for topic in topics] == ["Not described"]
    assert overview is not None
    assert (overview.people, overview.model) == ((), "measured")
    assert model.requests == []


def test_every_request_fits_the_window_and_every_event_is_shown() -> None:
    events = [
        replace(e, span=Span(e.n * 3_000, e.n * 3_000 + 3_000), summary=f"happening{e.n} {e.summary} {'more ' * 40}")
        for e in long_story(12_000)
    ]
    events[77] = replace(events[77], summary="happening77 " + "endless " * 5_000)
    model = reasoner(answer, context_tokens=1_500)
    settings = TopicSettings.for_length(events[-1].span.end_ms)
    topics, overview = summary_of(events, LlmNarrator(model, MeasuredNarrator()), settings=settings)

    check_partition(topics, events)
    assert overview is not None
    assert overview.model == "scripted"
    for request in model.requests:
        assert model.count_tokens(request.text) + request.max_tokens <= 1_500
    shown = {int(n) for request in model.asked("topics") for n in re.findall(r"happening(\d+)", request.text)}
    assert shown == {e.n for e in events if e.described}
    # Parts are narrated in rounds, not one request per event.
    assert len(model.requests) < 12_000 / 4
    titles = [len(re.findall(r"^\[", request.text, re.MULTILINE)) for request in model.asked("overview")]
    assert sum(titles) >= len(topics)


def test_a_window_without_room_for_any_event_is_narrated_by_measurement() -> None:
    work = summariser(LlmNarrator(reasoner(answer, context_tokens=600), MeasuredNarrator()))
    work.push(story((DOGS, 4)))
    _, overview = work.conclude(ended=True)
    assert overview is not None
    assert overview.model == "measured"
    assert [(w.stage, w.code) for w in work.warnings] == [
        ("topics", "context_exceeded"),
        ("overview", "context_exceeded"),
    ]


def test_names_that_no_event_gives_are_left_out() -> None:
    events = [event(n, "A woman meets Tom at the gate.", actors=[Actor("woman in red", "person")]) for n in range(3)]

    def script(request: Request) -> Any:
        if request.stage == "topics":
            return answer(
                request,
                title="Tom and Sarah at the gate",
                summary="A woman meets Tom at the gate. She talks to Sarah there. They leave.",
                people=["Tom", "woman in red", "Sarah", "tom"],
                places=["gate", "Paris", "  "],
            )
        return answer(request, text="We see Tom at the gate. Later Tom goes to Paris.", people=["Sarah", "Tom"])

    (topic,), overview = summary_of(events, LlmNarrator(reasoner(script), MeasuredNarrator()))
    assert topic.title == "Woman in red"
    assert topic.summary == "A woman meets Tom at the gate. They leave."
    assert (topic.people, topic.places) == (("Tom", "woman in red"), ("gate",))
    assert overview is not None
    assert (overview.text, overview.people) == ("We see Tom at the gate.", ("Tom", "woman in red"))


def spoken(n: int, *lines: str) -> EventDigest:
    return replace(event(n, f"A man and a woman talk at the door {n}."), speech=lines)


def shown(request: Request) -> int:
    """Return the number of pictures in a request."""
    return request.text.count("label='Frame ")


def test_a_topic_is_written_from_what_was_said_and_from_its_frames() -> None:
    """AVATAAR gives the model the transcript and the frames of each batch."""
    taken: list[Sequence[int]] = []

    def pictures(times: Sequence[int]) -> list[tuple[int, bytes]]:
        taken.append(times)
        return [(ms, jpeg(64, 64)) for ms in times]

    def script(request: Request) -> Any:
        return answer(request, title="Darren at the door", people=["Darren", "Sarah"])

    model = reasoner(script)
    model.capabilities = replace(model.capabilities, images=True)
    work = summariser(LlmNarrator(model, MeasuredNarrator()), pictures=pictures)
    work.push([spoken(0, "Hello Darren.", "Come in."), spoken(1), spoken(2)])
    (topic,), _ = work.conclude(ended=True)

    (request,) = model.asked("topics")
    assert 'Speech: "Hello Darren. Come in."' in request.text
    assert request.text.count("Speech:") == 1, "nobody spoke in the other events"
    assert taken == [topic.frame_ms]
    assert shown(request) == len(topic.frame_ms) == 3
    assert "Frames shown: 0 (6.0 s), 1 (18.0 s), 2 (30.0 s)" in request.text
    assert (topic.title, topic.people) == ("Darren at the door", ("Darren",)), "a name that was said is no invention"


def test_a_model_without_eyes_gets_what_was_said_and_no_picture() -> None:
    model = reasoner(answer)
    work = summariser(LlmNarrator(model, MeasuredNarrator()), pictures=lambda times: pytest.fail("nobody looks"))
    work.push([spoken(0, "Hello Darren.")])
    work.conclude(ended=True)

    assert 'Speech: "Hello Darren."' in model.asked("topics")[0].text


def test_speech_over_a_gap_is_told() -> None:
    model = reasoner(answer)
    gap = replace(event(0, "could not be described", described=False), speech=("The door is open.",))
    summary_of([gap], LlmNarrator(model, MeasuredNarrator()))

    assert '(could not be described) Speech: "The door is open."' in model.asked("topics")[0].text


def test_each_part_of_a_long_topic_gets_its_own_speech_and_frames_and_their_people_are_kept() -> None:
    """Two events of 12 s fill a request. The parts name Ann and Bob, and the text over them names nobody."""
    events = [replace(spoken(n, f"This is {'Ann' if n < 2 else 'Bob'}."), summary="word " * 150) for n in range(4)]
    frames = [(ms, jpeg(64, 64)) for ms in (6_000, 30_000)]

    def script(request: Request) -> Any:
        return answer(request, people=[name for name in ("Ann", "Bob") if f"This is {name}" in request.text])

    model = reasoner(script, context_tokens=1_255)
    model.capabilities = replace(model.capabilities, images=True)
    text = LlmNarrator(model, MeasuredNarrator()).narrate_topic(events, frames, profile="general", meter=Meter())

    parts = model.asked("topics")
    assert [shown(request) for request in parts] == [1, 1, 0]
    assert ["This is Ann" in request.text for request in parts] == [True, False, False]
    assert set(text.people) == {"Ann", "Bob"}


def test_the_people_of_the_topics_stay_in_the_overview_longest_seen_first() -> None:
    """Ann is seen for 24 s, Bob for 12 s; the model's overview names Bob alone."""
    topics = [
        Topic(0, Span(0, 24_000), 0, 2, "Ann", "Ann waits.", ("Ann",), ("door",)),
        Topic(1, Span(24_000, 36_000), 2, 3, "Bob", "Bob and Cid come.", ("Bob",), ("garden",)),
    ]

    class Overviewing(NameDropper):
        def narrate_overview(self, topics: Any, *, profile: str, meter: Meter) -> Any:
            return OverviewText("They meet.", ("Bob",), ())

    overview = summariser(Overviewing())._overview(topics)

    assert (overview.people, overview.places) == (("Bob", "Ann"), ("door", "garden"))


class NameDropper:
    """A narrator with people of its own."""

    name = "dropper"
    looks = False

    def narrate_topic(self, events: Any, frames: Any = (), *, profile: str, meter: Meter) -> Any:
        return replace(MeasuredNarrator().narrate_topic(events, profile=profile, meter=meter), people=("Sarah", "dogs"))

    def narrate_overview(self, topics: Any, *, profile: str, meter: Meter) -> Any:
        return replace(
            MeasuredNarrator().narrate_overview(topics, profile=profile, meter=meter), places=("Paris", "lawn")
        )


def test_no_narrator_can_bring_in_names() -> None:
    (topic,), overview = summary_of(story((DOGS, 3)), NameDropper())
    assert overview is not None
    assert (topic.people, overview.places) == (("dogs",), ("lawn",))


@pytest.mark.parametrize(
    ("reply", "code", "asked"),
    [
        (ModelRefused("no"), "model_refused", 1),
        ("no JSON", "invalid_output", 3),
        ({"title": "", "summary": "", "text": "", "people": [], "places": []}, "invalid_output", 3),
        ({"title": "x", "summary": "Look at Sarah here", "text": "Look at Sarah here", "people": 3, "places": None},
         "invalid_output", 3),
        (Sample('{"title": "x", "summary": "cut', truncated=True), "output_truncated", 3),
    ],
    ids=["refusal", "prose", "empty", "invented", "cut"],
)  # fmt: skip
def test_a_text_that_the_model_cannot_give_is_measured_and_recorded(reply: Any, code: str, asked: int) -> None:
    model = reasoner(lambda request: reply)
    events = story((DOGS, 3))
    work = summariser(LlmNarrator(model, MeasuredNarrator()))
    work.push(events)
    assert work.conclude(ended=True) == summary_of(events)
    assert [(w.stage, w.code) for w in work.warnings] == [("topics", code), ("overview", code)]
    assert (len(model.asked("topics")), len(model.asked("overview"))) == (asked, asked)


def test_one_topic_without_words_leaves_the_others_theirs() -> None:
    def script(request: Request) -> Any:
        return ModelRefused("no") if "cars" in request.text and request.stage == "topics" else answer(request)

    work = summariser(LlmNarrator(reasoner(script), MeasuredNarrator()))
    work.push(story((DOGS, 5), (ROAD, 5), (KITCHEN, 5)))
    topics, overview = work.conclude(ended=True)
    assert [topic.title == "part" for topic in topics] == [True, False, True]
    assert overview is not None
    assert overview.model == "scripted"


def test_an_unavailable_model_raises_and_is_not_replaced() -> None:
    away = ModelError("model_unavailable", "away", retryable=True)
    with pytest.raises(ModelError, match="away"):
        summary_of(story((DOGS, 3)), LlmNarrator(reasoner(lambda request: away), MeasuredNarrator()))


def test_a_profile_says_what_to_look_for() -> None:
    model = reasoner(answer)
    for profile in ("traffic", "general"):
        LlmNarrator(model, MeasuredNarrator()).narrate_topic([event(0)], profile=profile, meter=Meter())
    assert ["vehicles" in request.text for request in model.requests] == [True, False]


def test_words_inside_events_are_material() -> None:
    model = reasoner(answer)
    summary_of([event(0, "a sign says $events and $focus")], LlmNarrator(model, MeasuredNarrator()))
    assert "a sign says $events and $focus" in model.asked("topics")[0].text


# --- into an index --------------------------------------------------------------------------------------------------


def made(texts: Sequence[str | None]) -> MemoryIndex:
    index = MemoryIndex(VIDEO)
    work = EventAssembler(
        VIDEO, 1, scripted_models(), index, index, profile="general", meter=Meter(), frames_for=index.frames_for,
        settings=AssemblySettings(threshold=0.5),
    )  # fmt: skip
    chunks = [chunk(n, text, gap="decode_error" if text is None else None) for n, text in enumerate(texts)]
    work.push(chunks)
    work.flush()
    return index


def test_an_index_in_memory_takes_its_summary() -> None:
    index = made(["dog runs fast"] * 16 + ["cat sleeps"] * 16 + ["bird sings"] * 16)
    assert summarise(index, MeasuredNarrator(), ScriptedEmbedder(), profile="general", meter=Meter()) == []
    check_partition(index.topics, index.digests())
    assert [topic.title for topic in index.topics] == ["Dog, fast and runs", "Cat and sleeps", "Bird and sings"]
    assert index.overview is not None
    assert index.overview.until_ms == 144_000

    other = made(["snow falls"] * 6)
    summarise(other, MeasuredNarrator(), ScriptedEmbedder(), profile="general", meter=Meter())
    assert other.overview is not None
    assert other.overview.text != index.overview.text


def test_an_empty_index_has_no_summary() -> None:
    index = MemoryIndex(VIDEO)
    assert summarise(index, MeasuredNarrator(), ScriptedEmbedder(), profile="general", meter=Meter()) == []
    assert (index.topics, index.overview) == ((), None)
