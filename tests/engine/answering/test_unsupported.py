"""Answers that nothing stands behind: echoes of the question in any language, and texts that no event supports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import Answer, Budget, ClaimRecord, QuestionInput
from gpu_workers.engine.answering.ending.unsupported import is_echo, is_unsupported
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.answering.understood import Understood
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from tests.engine.answering.world import QUERIES, ScriptedReasoner, make_video, models, says, verdicts

# Pairs that are not among the examples of echoes.toml, and share no noun with them where that is possible.
ECHOES = [
    ("en", "What is on the table?", "It is on the table."),
    ("en", "What objects are placed on the table?", "The objects are placed on the table."),
    ("en", "Who opens the gate?", "The gate is opened."),
    ("en", "What does the man do at the door?", "The man is at the door."),
    ("en", "Where does the courier leave the parcel?", "The courier leaves the parcel."),
    ("en", "What is the first person wearing?", "The first person is wearing it."),
    ("en", "Why does the car stop?", "The car stops."),
    ("en", "What happens in the kitchen?", "It happens in the kitchen."),
    ("de", "Was steht auf dem Tisch?", "Es steht auf dem Tisch."),
    ("de", "Was macht der Mann an der Tür?", "Der Mann ist an der Tür."),
    ("es", "¿Qué hay sobre la mesa?", "No hay sobre la mesa."),
    ("es", "¿Quién abre la puerta?", "Abre la puerta."),
    ("es", "¿Qué lleva la mujer?", "La mujer lleva."),
    ("fr", "Qu'est-ce qu'il y a sur la table ?", "Il y a sur la table."),
    ("fr", "Qui ouvre la porte ?", "Il ouvre la porte."),
    ("it", "Cosa c'è sul tavolo?", "C'è sul tavolo."),
    ("pt", "O que está em cima da mesa?", "Está em cima da mesa."),
    ("nl", "Wat staat er op de tafel?", "Het staat op de tafel."),
    ("ru", "Что стоит на столе?", "Это стоит на столе."),
    ("zh", "桌子上有什么？", "桌子上有。"),
    ("pl", "Co stoi na stole?", "To stoi na stole."),
    ("tr", "Masanın üzerinde ne var?", "Masanın üzerinde var."),
]
SAYING = [
    ("en", "What is on the table?", "Nothing is on the table."),
    ("en", "Who opens the gate?", "Nobody opens the gate."),
    ("en", "Which bottles stand on the table?", "All bottles stand on the table."),
    ("en", "Which of the bottles fall?", "Both bottles fall."),
    ("en", "Does the camera wearer move around?", "The camera wearer moves around."),
    ("en", "Is a refrigerator seen?", "A refrigerator is seen."),
    ("en", "Is there a sink?", "There is a sink."),
    ("en", "Is there a sink?", "Yes, there is a sink."),
    ("en", "Is there a cat?", "There is no cat."),
    ("en", "Is it day or night?", "It is night."),
    ("en", "Who comes first, the man or the woman?", "The woman."),
    ("en", "Does a car stop at the gate?", "A car stops at the gate."),
    ("en", "Does the camera move?", "No, the camera does not move."),
    ("en", "Which is larger, the red car or the van?", "The van is larger."),
    ("en", "Are the doors closed?", "The doors are closed."),
    ("de", "Was steht auf dem Tisch?", "Auf dem Tisch steht nichts."),
    ("de", "Wer öffnet das Tor?", "Niemand öffnet das Tor."),
    ("de", "Steht eine Flasche auf dem Tisch?", "Eine Flasche steht auf dem Tisch."),
    ("de", "Bewegt sich die Kamera?", "Die Kamera bewegt sich."),
    ("de", "Ist es Tag oder Nacht?", "Es ist Nacht."),
    ("de", "Ist das Tor offen?", "Ja, das Tor ist offen."),
    ("es", "¿Qué hay sobre la mesa?", "No hay nada sobre la mesa."),
    ("es", "¿Quién abre la puerta?", "Nadie abre la puerta."),
    ("es", "¿Hay una botella sobre la mesa?", "Hay una botella sobre la mesa."),
    ("es", "¿Es de día o de noche?", "Es de noche."),
    ("fr", "Qu'est-ce qu'il y a sur la table ?", "Il n'y a rien sur la table."),
    ("fr", "Est-ce que la caméra bouge ?", "La caméra bouge."),
    ("it", "C'è una bottiglia sul tavolo?", "C'è una bottiglia sul tavolo."),
    ("pt", "Há uma garrafa na mesa?", "Há uma garrafa na mesa."),
    ("nl", "Staat er een fles op de tafel?", "Er staat een fles op de tafel."),
    ("ru", "Стоит ли бутылка на столе?", "Бутылка стоит на столе."),
    ("zh", "桌子上有瓶子吗？", "桌子上有瓶子。"),
    ("ja", "テーブルの上に瓶がありますか？", "テーブルの上に瓶があります。"),
    ("pl", "Czy butelka stoi na stole?", "Butelka stoi na stole."),
    ("tr", "Masanın üzerinde şişe var mı?", "Masanın üzerinde şişe var."),
]
STORY = ("three bottles stand on the table", "a man opens the gate", "a boy throws a ball")


def question_in(language: str, question: str) -> Asked:
    roles = models(ScriptedReasoner(lambda request: says("")))
    settings, understood = settings_for("low", UNMEASURED), Understood(language=language)
    return Asked(
        QuestionInput(question),
        InMemoryGraph([make_video(STORY)]),
        roles,
        settings,
        searched=question,
        understood=understood,
        question_language=language,
    )


def echoed(language: str, question: str, reply: str) -> bool:
    return is_echo(question_in(language, question), reply)


@pytest.mark.parametrize(("language", "question", "reply"), ECHOES)
def test_a_reply_that_repeats_the_question_is_an_echo(language: str, question: str, reply: str) -> None:
    assert echoed(language, question, reply)


@pytest.mark.parametrize(("language", "question", "reply"), SAYING)
def test_a_direct_answer_in_the_question_s_words_is_none(language: str, question: str, reply: str) -> None:
    assert not echoed(language, question, reply)


@pytest.mark.parametrize("reply", ["Yes.", "No.", "3", "Three.", "Two people.", "A man in grey.", "0:12", "Both."])
def test_a_bare_reply_is_no_echo(reply: str) -> None:
    assert not echoed("en", "Is there a man at the gate?", reply)
    assert not echoed("en", "How many bottles are on the table?", reply)


def test_a_language_without_examples_has_no_echoes() -> None:
    assert not echoed("fi", "Mitä pöydällä on?", "Se on pöydällä.")


def ask(question: str, reply: str, *, effort: Any = "low", verdict: str = "unclear", **more: Any) -> Answer:
    """Return an answer of these words over STORY. verdict: the reasoner's on each statement, at effort medium."""

    def script(request: Any) -> Any:
        if request.stage == "rewrite":
            return QUERIES
        if request.stage == "verify":
            return verdicts(request, lambda text: verdict)
        return says(reply, "the same", [1]) | ({} if more.get("choices") else {"sufficient": True})

    settings = changed(settings_for(effort, UNMEASURED), sa_ratio=1.0, n=1, max_depth=1, check="off")
    budget = more.pop("budget", None)
    wanted = QuestionInput(question, **more)
    roles = models(ScriptedReasoner(script))
    return answer_question(wanted, InMemoryGraph([make_video(STORY)]), roles, settings=settings, budget=budget)


def test_an_echo_is_unsupported_though_an_event_has_its_words() -> None:
    answer = ask("What stands on the table?", "It stands on the table.")

    assert [claim.status for claim in answer.claims] == ["supported"]
    assert (answer.text, answer.finish_reason, answer.detail) == (
        "It stands on the table.", "insufficient_evidence", "unsupported",
    )  # fmt: skip
    assert answer.confidence is None
    assert any("Do not rely on this answer" in note for note in answer.notes)


def test_a_german_echo_is_unsupported() -> None:
    answer = ask("Was steht auf dem Tisch?", "Es steht auf dem Tisch.", effort="medium", verdict="supported")
    assert (answer.text, answer.detail) == ("Es steht auf dem Tisch.", "unsupported")


@pytest.mark.parametrize("effort", ["low", "medium"])
def test_an_answer_of_which_no_statement_is_supported_keeps_its_text_and_is_marked(effort: Any) -> None:
    answer = ask("What does the boy do?", "An elephant swims under water.", effort=effort)

    assert (answer.text, answer.finish_reason, answer.detail) == (
        "An elephant swims under water.", "insufficient_evidence", "unsupported",
    )  # fmt: skip
    assert [claim.status for claim in answer.claims] == ["unverified"]


def test_one_supported_statement_is_enough() -> None:
    answer = ask("What happens?", "A boy throws a ball. An elephant swims under water.")
    assert (answer.finish_reason, answer.detail) == ("answered", "")


def test_a_denial_that_only_words_judged_is_unknown_and_not_unsupported() -> None:
    asked, reply = "Is there a train?", "No, there is no train."
    assert ask(asked, reply, route="search").finish_reason == "answered"
    assert ask(asked, reply, route="search", effort="medium").detail == "unsupported"


def test_words_do_not_judge_a_language_that_nobody_knows() -> None:
    asked = question_in("de", "Was wirft der Junge?")
    unverified = [ClaimRecord("Er wirft einen roten Ball.", "unverified", ())]
    assert not is_unsupported(asked, unverified[0].text, unverified)
    known = replace(asked, models=replace(asked.models, embedder_languages=("de", "en")))
    assert is_unsupported(known, unverified[0].text, unverified)


def test_a_choice_and_an_end_by_budget_are_never_marked() -> None:
    chosen = ask("What stands on the table?", "B", choices=("an elephant", "the table"))
    assert (chosen.choice, chosen.finish_reason) == (1, "answered")
    spent = ask("What stands on the table?", "It stands on the table.", effort="medium", budget=Budget(max_calls=2))
    assert (spent.text, spent.finish_reason) == ("It stands on the table.", "budget")
