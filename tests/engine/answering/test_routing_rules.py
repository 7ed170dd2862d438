"""Rules of routing: which words of a question ask for a scan, a count, an overview, and which for none of them."""

from __future__ import annotations

import pytest

from gpu_workers.engine.answering.reading.rules import (
    STATEMENT_CHARACTERS,
    Reading,
    read_question,
    statement_in,
    without_time,
)
from gpu_workers.engine.answering.reading.times import named_time
from gpu_workers.engine.answering.routes.matching import said_words

SCANS = [
    ("How many times does a red truck pass?", "a red truck pass", "count"),
    ("How often is the door opened in the video?", "the door opened", "count"),
    ("In the kitchen, how many times does the phone ring?", "the phone ring In the kitchen", "count"),
    ("How many deliveries arrive?", "deliveries arrive", "count"),
    ("How many people wear a hat?", "people wear a hat", "count"),
    ("How many events mention the invoice?", "mention the invoice", "count"),
    ("List every time the bell rings.", "the bell rings", "list"),
    ("Show all the moments when a dog barks", "a dog barks", "list"),
    ("List all deliveries", "deliveries", "list"),
    ("List every delivery", "delivery", "list"),
    ("List every time the bell rings as a table", "the bell rings", "table"),
    ("Give me a table of all moments in which the bell rings", "the bell rings", "table"),
    ("Which camera had more deliveries, the gate or the yard?", "deliveries", "count"),
    ("Compare the gate and vtest.avi: how many times does the bell ring?", "the bell ring", "count"),
    ("Name all the people who wave", "people who wave", "list"),
    ("List all cars that turn left", "cars that turn left", "list"),
    ("List all deliveries as a table", "deliveries", "table"),
    ("Liste alle Lieferungen auf", "Lieferungen", "list"),
    ("Enumera todas las entregas", "entregas", "list"),
    ("请列出所有送货", "送货", "list"),
    ("How many cars turned left?", "cars turned left", "count"),
    ("How many people walk slowly to the right?", "people walk slowly to the right", "count"),
    ("Wie viele Autos bogen links ab?", "Autos bogen links ab", "count"),
    ("¿Cuántos coches giraron a la izquierda?", "coches giraron a la izquierda", "count"),
    ("Compare the two cameras: how many people wave?", "people wave", "count"),
    ("Compare how many people wave in each video", "people wave", "count"),
    ("Vergleiche die beiden Kameras: Wie oft klingelt das Telefon?", "klingelt das Telefon", "count"),
    ("Does the man ever smoke?", "the man smoke", "sentence"),
    ("Was there ever a dog in the recording?", "a dog", "sentence"),
    ("My boss wants a figure for how many times a fox drank, can you work it out?", "a fox drank", "count"),
    ("My son kept count of the refunds in the video, how many should he have got?", "refunds", "count"),
    ("How many refunds did we get on film?", "refunds", "count"),
    ("Total refunds pls", "refunds", "count"),
    ("How much times it has happened that a dog barked?", "a dog barked", "count"),
    ("Please state the number of occasions on which a dog barked.", "a dog barked", "count"),
    ("Refunds - how many were there?", "Refunds", "count"),
    ("How many times is the light turned on?", "the light turned on", "count"),
    ("In my kitchen, how many times does the phone ring?", "the phone ring In my kitchen", "count"),
    ("How often does she ask, can I help?", "she ask, can I help", "count"),
    ("Wie oft fährt ein roter Lastwagen vorbei?", "fährt ein roter Lastwagen vorbei", "count"),
    ("¿Cuántas veces suena el teléfono?", "suena el teléfono", "count"),
    ("红色卡车经过了多少次？", "红色卡车经过了", "count"),
    ("كم مرة يظهر الكلب؟", "يظهر الكلب", "count"),
]
WHOLES = [
    ("What is this about?", "summary"),
    ("What is this video about?", "summary"),
    ("Summarise the afternoon.", "summary"),
    ("Please give me an overview", "summary"),
    ("What happens in the whole video?", "summary"),
    ("What happens in this video?", "summary"),
    ("What can be seen in the recording?", "summary"),
    ("What is going on in this clip?", "summary"),
    ("Was passiert in diesem Video?", "summary"),
    ("Was ist in dem Film zu sehen?", "summary"),
    ("¿Qué pasa en este vídeo?", "summary"),
    ("这个视频里发生了什么？", "summary"),
    ("ماذا يحدث في هذا الفيديو؟", "summary"),
    ("What changed?", "steps"),
    ("What has changed in the kitchen?", "steps"),
    ("List the steps.", "steps"),
    ("Which topics are covered?", "list"),
    ("Give me a summary as a table", "table"),
    ("How many topics are there?", "count"),
    ("Kindly provide a synopsis of all events.", "summary"),
    ("Catch me up on everything that happened.", "summary"),
    ("My boss is in a hurry, so what does the video cover, all in all?", "summary"),
    ("whats this vid even about", "summary"),
    ("What are all the things we've got on film? Sum it up for me.", "summary"),
    ("Lay out the sequence of activities for my notes.", "steps"),
    ("list what they do in order", "steps"),
    ("Which activities occurred, and in what sequence?", "steps"),
    ("Worum geht es?", "summary"),
    ("Was hat sich verändert?", "steps"),
    ("¿De qué trata?", "summary"),
    ("这个视频讲了什么？", "summary"),
    ("لخص الفيديو", "summary"),
]
OBJECTS = [
    ("How many people are in the video?", "people"),
    ("How many red cars enter at once?", "red cars"),
    ("Count the dogs", "dogs"),
    ("Which camera shows the most people?", "people"),
    ("Which of the two videos has fewer cars?", "cars"),
    ("Welche Kamera zeigt die meisten Menschen?", "people"),
    ("¿Qué cámara muestra más coches?", "cars"),
    ("How many people come into this video?", "people"),
    ("Wie viele Menschen kommen auf diesem Video herein?", "people"),
    ("¿Cuántas personas entran en este vídeo?", "people"),
    ("What is the total number of bicycles?", "bicycles"),
    ("How many men in black are there?", "men in black"),
    ("My daughter is counting black cars, how many should she find in the whole video?", "black cars"),
    ("Please state the number of distinct dogs depicted in the recording as a whole.", "dogs"),
    ("Across all the footage, how many different white dogs end up on screen?", "white dogs"),
    ("Total motorcycles in whole video pls", "motorcycles"),
    ("I want yellow bicycles counted, how many were there?", "yellow bicycles"),
    ("How much people there are in all the video?", "people"),
    ("Wie viele Menschen sind im Video zu sehen?", "people"),
    ("视频里有多少人？", "people"),
]
LISTED_OBJECTS = [
    ("Show me all red cars", "red cars"),
    ("Find every dog in the video", "dog"),
    ("Zeig mir alle roten Autos", "red cars"),
    ("Nenne alle Personen", "people"),
    ("Muéstrame todos los perros", "dogs"),
]
SEARCHES = [
    "Show me all of it",
    "Roughly when does the video show a dog?",
    "What things does he put in order?",
    "What came first, the chicken or the egg?",
    "Which dog barks? Answer in bullet points.",
    "And I wonder how many",
    "What does the boy do?",
    "What is the man talking about?",
    "Who opens the door?",
    "Why does she run away?",
    "What happens?",
    "And what happens then?",
    "Was passiert da?",
    "How many minutes does it last?",
    "How many points did he score?",
    "What colour does the light change to?",
    "Where was the dog?",
    "How does the woman open the box?",
    "Was macht der Junge?",
    "¿Qué hace el niño?",
    "男孩在做什么？",
    "ماذا يفعل الولد؟",
]


NEVER = [
    ("Does the person never wave?", "the person wave"),
    ("Was the dog not ever fed?", "the dog fed"),
    ("Hat die Person nie gewunken?", "die Person gewunken"),
    ("¿No saluda nunca la persona?", "saluda la persona"),
    ("他从未挥手吗？", "他 挥手"),
    ("هل لا يلوح الرجل أبدا؟", "يلوح الرجل"),
]
DENYING = [
    "Are there any people who never wave?",
    "How many people never leave?",
    "How many times does she never answer?",
    "How many people are not wearing red?",
    "How many cars stand without lights?",
    "Gibt es Menschen, die nie winken?",
    "Wie viele Menschen tragen keinen Hut?",
    "¿Quién no saluda nunca?",
    "¿Cuántas personas no llevan sombrero?",
    "谁从未挥手？",
]
LEFT = [
    ("How many people left?", "objects"),
    ("How many people leave the scene?", "objects"),
    ("How many cars are on the left?", "search"),
    ("How many people stand to his left?", "search"),
    ("How many bottles are left?", "search"),
    ("How many cups were left over?", "search"),
    ("How many people are on the left side?", "search"),
]


ALWAYS = [
    ("Is the gate always closed?", "the gate closed", "en"),
    ("Is the gate closed all the time?", "the gate closed", "en"),
    ("Was the light on the whole time?", "the light on", "en"),
    ("Does the guard always wear a helmet?", "the guard wear a helmet", "en"),
    ("Is there always someone at the desk?", "someone at the desk", "en"),
    ("Are there two guards at all times?", "two guards", "en"),
    ("Ist das Tor immer geschlossen?", "das Tor geschlossen", "de"),
    ("¿La puerta está siempre cerrada?", "La puerta está cerrada", "es"),
    ("门一直关着吗？", "门 关着", "zh"),
    ("هل الباب مغلق دائما؟", "الباب مغلق", "ar"),
]


@pytest.mark.parametrize(("question", "statement"), NEVER)
def test_never_asks_for_the_opposite_of_ever(question: str, statement: str) -> None:
    reading = read_question(question)
    assert reading == Reading("scan", "sentence", statement, denied=True)


@pytest.mark.parametrize(("question", "statement", "language"), ALWAYS)
def test_always_asks_whether_a_statement_is_true_all_the_time(question: str, statement: str, language: str) -> None:
    assert read_question(question, language=language) == Reading("scan", "sentence", statement, always=True)


@pytest.mark.parametrize(
    "question",
    ["Who is always late?", "Is the gate always without a guard?", "¿Quién está siempre en la puerta?", "谁总是迟到？"],
)
def test_who_or_what_is_always_there_is_searched_for(question: str) -> None:
    assert read_question(question).route == "search"


@pytest.mark.parametrize("question", DENYING)
def test_things_of_which_something_is_not_true_are_not_counted_by_a_statement(question: str) -> None:
    reading = read_question(question)
    assert (reading.route, reading.certain) == ("search", False)


@pytest.mark.parametrize(("question", "route"), LEFT)
def test_left_is_a_way_out_a_side_or_what_remains(question: str, route: str) -> None:
    assert read_question(question).route == route


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ('How many times is the word "budget" said?', "budget"),
        ("How many times is the word budget said?", "budget"),
        ('How many times was "the budget" said?', "the budget"),
        ("How many times does he say budget?", "budget"),
        ("Wie oft sagt er danke?", "danke"),
        ("Wie oft wird das Wort Haushalt gesagt?", "haushalt"),
        ("¿Cuántas veces dice ella gracias?", "gracias"),
        ("How often do people say hello to the dog?", None),
        ('How often do people say "hello to the dog"?', "hello to the dog"),
        ("How often do people say thank you?", "thank you"),
        ("How often is the phrase thank you very much said?", "thank you very much"),
        ("Wie oft sagt er dem Hund guten Tag?", None),
        ("Wie oft sagt sie guten Tag?", "guten tag"),
        ("¿Cuántas veces dice ella hola al perro?", None),
        ("How often does anybody mention the budget?", None),
        ("How many times does the dog bark?", None),
    ],
)
def test_which_words_are_said(question: str, words: str | None) -> None:
    assert said_words(read_question(question).predicate) == words


@pytest.mark.parametrize(("question", "statement", "shape"), SCANS)
def test_counting_every_and_ever_are_scanned_for_a_statement(question: str, statement: str, shape: str) -> None:
    reading = read_question(question)
    assert (reading.route, reading.shape, reading.predicate, reading.certain) == ("scan", shape, statement, True)


@pytest.mark.parametrize(("question", "shape"), WHOLES)
def test_questions_about_the_whole_are_read_as_a_whole(question: str, shape: str) -> None:
    assert read_question(question) == Reading("whole", shape)  # type: ignore[arg-type]


@pytest.mark.parametrize(("question", "counted"), OBJECTS)
def test_numbers_of_tracked_things_come_from_object_memory(question: str, counted: str) -> None:
    reading = read_question(question)
    assert (reading.route, reading.shape, reading.counted) == ("objects", "count", counted)


@pytest.mark.parametrize(("question", "counted"), LISTED_OBJECTS)
def test_a_list_of_tracked_things_comes_from_object_memory(question: str, counted: str) -> None:
    reading = read_question(question)
    assert (reading.route, reading.shape, reading.counted) == ("objects", "list", counted)


@pytest.mark.parametrize("question", ["What score did she get overall?", "What are all the things on the table?"])
def test_a_word_for_all_of_something_asks_for_no_summary(question: str) -> None:
    assert read_question(question).route == "search"


@pytest.mark.parametrize("question", SEARCHES)
def test_other_questions_are_searched_for_and_are_certain(question: str) -> None:
    assert read_question(question) == Reading()


@pytest.mark.parametrize(
    "question",
    [
        "Do people usually wear helmets?",
        "Tragen die Leute meistens Helme?",
        "¿Quién lleva siempre casco?",
        "Is it mostly raining?",
        "Who was there the whole time?",
        "How does the plot end?",
    ],
)
def test_some_words_leave_the_rules_unsure(question: str) -> None:
    assert read_question(question) == Reading(certain=False)


@pytest.mark.parametrize(
    ("question", "time_words", "expected"),
    [
        ("What happened at 1:23:45?", "at 1:23:45", Reading("time", "summary")),
        ("And what is going on in the first ten minutes?", "in the first ten minutes", Reading("time", "summary")),
        ("Yesterday between two and three?", "Yesterday between two and three", Reading("time")),
        ("Summarise the first hour", "the first hour", Reading("whole", "summary")),
        ("What did the boy eat at 1:23?", "at 1:23", Reading()),
    ],
)
def test_a_time_with_no_other_content_asks_for_what_the_stretch_holds(
    question: str, time_words: str, expected: Reading
) -> None:
    assert read_question(question, time_words=time_words) == expected


def test_counting_in_a_stretch_leaves_the_time_out_of_the_statement() -> None:
    reading = read_question("How many times does the bell ring in the first hour?", time_words="in the first hour")
    assert reading == Reading("scan", "count", "the bell ring")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "How many different bicycles are on screen in the bit of the video that goes from 2:18:00 to 3:03:00?",
            Reading("objects", "count", "different bicycles", "bicycles"),
        ),
        (
            "I need a tally of the people on 27 October in the period commencing at 10:55 and concluding at 11:05.",
            Reading("objects", "count", "people", "people"),
        ),
        (
            "In the section of this recording from 5:14:00 to 5:59:00, what was the number of fights between stags?",
            Reading("scan", "count", "fights between stags"),
        ),
        ("Wie viele Autos fuhren im Zeitraum von 10:00 bis 11:00 Uhr vorbei?", "Wie viele Autos fuhren vorbei?"),
        ("¿Cuántos coches pasaron en el intervalo de las 10:00 a las 11:00?", "¿Cuántos coches pasaron?"),
        ("How many people are in the window at 10:05?", "How many people are in the window?"),
        (
            "How many people are in the window of the shop from 10:05 to 10:10?",
            "How many people are in the window of the shop?",
        ),
    ],
)
def test_what_names_a_stretch_goes_with_its_time(question: str, expected: Reading | str) -> None:
    """Whether the rules get the question without its time, as the router gives it to them, or with it."""
    named = named_time(question)
    assert named is not None
    bare = without_time(question, time_words=named.words, remaining=named.remaining)
    if isinstance(expected, str):
        assert bare == expected
        expected = read_question(expected)
    assert read_question(bare, time_words=named.words) == expected
    assert read_question(question, time_words=named.words) == expected


def test_without_a_rule_the_whole_question_is_the_statement() -> None:
    assert statement_in("Who wears a hat?") == "wears a hat"
    assert statement_in("hats") == "hats"


@pytest.mark.parametrize(
    "question",
    ["?", "how many", "how many times?", "count", "\u202e how many times ", "((((", "*" * 4_000, "how often " * 400],
)
def test_odd_questions_are_read_without_failure_and_bounded(question: str) -> None:
    reading = read_question(question)
    assert len(reading.predicate) <= STATEMENT_CHARACTERS
    assert len(statement_in(question)) <= STATEMENT_CHARACTERS


def test_the_language_of_the_answer_does_not_hide_the_question() -> None:
    assert read_question("How many times does it ring?", language="de").predicate == "it ring"
    assert read_question("Worum geht es?", language="en").route == "whole"
