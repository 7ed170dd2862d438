"""The engine's models behind a real HTTP server whose words and faults a test chooses by stage.

A full run over this world makes every call that the engine can make: the reading (at effort low and paper a follow-up's
restatement and a rewrite), answers, repair, requery, then a frame check or an inspection, then citations by reasoner
and by frames.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, QuestionInput, Turn
from gpu_workers.engine.answering.presets import SearchSettings, changed, settings_for
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import AnswerModels, ChatCapabilities, ModelCall, Sample
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.transport import RetryPolicy
from gpu_workers.engine.models.served.vision import VlmChecker
from tests.engine.answering.world import QUERIES, ScriptedEmbedder, ScriptedSimilarity, long_street, reading, says
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest

MODEL = "scripted"
ATTEMPTS = 2
CHOICES = ("left", "right", "up")
QUESTION = QuestionInput(
    "Which way does the person walk?", CHOICES, history=(Turn("Who is in the street?", "A person in black."),)
)
BABBLE = "it goes to the third one"

# Every call of a run in which samples disagree, but in a small tree: the root and one of each action.
FULL: SearchSettings = changed(
    settings_for("high", UNMEASURED),
    n=3, early_majority=False, max_depth=2, level_width=None, reuse=False, gate=0.95,
    check_samples=1,
)  # fmt: skip
LOOKING = changed(FULL, mode="frames")
INSPECTING = changed(FULL, mode="inspect", inspect_rounds=2)
# The same, but labelled examples read the question.
UNREAD = changed(LOOKING, effort="low")
STAGES = ("read", "condense", "rewrite", "answer", "requery", "repair", "check", "verify", "observe", "plan", "reflect")
BY_INSPECTION = ("plan", "reflect")
WITHOUT_READING = ("condense", "rewrite")


def settings_reaching(stage: str) -> SearchSettings:
    """Settings under which a full run makes calls of this stage."""
    if stage in WITHOUT_READING:
        return UNREAD
    return INSPECTING if stage in BY_INSPECTION else LOOKING


def sensible(request: ScriptedRequest) -> Any:
    """Words of a model that knows what it does, and never says A: the events say right, frames and a repair say up."""
    stage = request.schema_name
    if stage == "answer":
        # The node after RQ babbles, so that its answer needs a repair.
        if "Searches that found" in request.text:
            return BABBLE
        return [says("BBC"[n % 3], f"one t{n} u{n}") for n in range(request.n)]
    replies: Mapping[str, Any] = {
        "read": reading("Which way does the person in black walk?"),
        "condense": {"question": "Which way does the person in black walk?"},
        "rewrite": QUERIES,
        "requery": {
            "missing": "the street",
            "sub_query": "who walks along street 6",
            "entity": "street 6",
            "keywords": "person number 34 walks along street 6",
            "scene": "person number 27 walks along street 6",
        },
        "repair": says("C", "read out"),
        "check": says("C", "the frames show it"),
        "verify": {"verdict": "supported"},
        "observe": {"findings": [finding()]},
        "plan": {
            "looks": [{"start_ms": 0, "end_ms": 9_000_000, "what_to_find": "feet", "fps": 1, "resolution": "low"}]
        },
        "reflect": {**says("C", "the findings say so"), "sufficient": True, "confidence": 0.9, "missing": []},
    }
    return replies[stage]


def finding(bearing: str = "supports") -> dict[str, Any]:
    return {"statement": "the person faces up", "start_ms": 0, "end_ms": 3_000, "frames": [1], "bearing": bearing}


class _Chat(OpenAIChatModel):
    """A client whose calls of the stage `hasty` wait a fraction of a second, whatever time they were given.

    limits: the times that these calls were given. begun: the stage of every call, in order. on_hasty: called when such
    a call begins, before anything is sent, so that a test need not wait for its server.
    """

    hasty = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.limits: list[float | None] = []
        self.begun: list[str] = []
        self.on_hasty: Callable[[], None] = lambda: None

    def sample(self, messages: Any, *, stage: str, timeout_s: float | None = None, **more: Any) -> list[Sample]:
        self.begun.append(stage)
        if stage == self.hasty:
            self.limits.append(timeout_s)
            self.on_hasty()
            timeout_s = 0.2
        return super().sample(messages, stage=stage, timeout_s=timeout_s, **more)


class Served:
    """A scripted server, models that speak to it, and what it handed out. pauses: seconds that retries asked to wait.

    Token counts are a server's own: a quarter of the characters, and 300 per picture. wordy: each sample is as long as
    it may be.
    """

    def __init__(
        self, script: Callable[[ScriptedRequest], Any] = sensible, *, hasty: str = "", wordy: bool = False
    ) -> None:
        self.script, self.wordy = script, wordy
        self.server = ScriptedOpenAIServer(self._reply, model=MODEL)
        self.billed: list[tuple[int, int]] = []
        self.pauses: list[float] = []
        self._lock = threading.Lock()
        self.chat = chat = _Chat(
            base_url=self.server.url,
            model=MODEL,
            capabilities=ChatCapabilities(32_768, images=True),
            retry=RetryPolicy(attempts=ATTEMPTS),
            sleep=self.pauses.append,
            jitter=lambda: 1.0,
            concurrency=16,
        )
        chat.hasty = hasty
        embedder = ScriptedEmbedder()
        self.models = AnswerModels(
            chat, embedder, embedder, ScriptedSimilarity(), UNMEASURED, VlmChecker(chat, max_frames=4)
        )

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *exc: object) -> None:
        self.server.close()

    def ask(self, question: QuestionInput = QUESTION, **more: Any) -> Answer:
        graph: Any = more.pop("graph", None) or long_street(40)
        return answer_question(question, graph, self.models, settings=more.pop("settings", LOOKING), **more)

    def forget(self) -> None:
        """Forget what was sent, as if nothing had been asked yet."""
        self.server.requests.clear()
        self.billed.clear()
        self.pauses.clear()

    @property
    def stages(self) -> Counter[str]:
        """Requests that arrived, by stage."""
        return Counter(request.schema_name for request in self.server.requests)

    def asked(self, stage: str) -> list[ScriptedRequest]:
        return [request for request in self.server.requests if request.schema_name == stage]

    def _reply(self, request: ScriptedRequest) -> Reply | Fault:
        chosen = self.script(request)
        if isinstance(chosen, Fault):
            return chosen
        reply = chosen if isinstance(chosen, Reply) else Reply(chosen)
        texts = reply.texts if isinstance(reply.texts, list) else [reply.texts] * request.n
        prompt = len(request.text) // 4 + 300 * len(request.images)
        written = sum(len(str(text)) // 4 + 1 for text in texts[: request.n])
        if self.wordy:
            written = request.n * int(request.body["max_tokens"])
        if reply.prompt_tokens is None:
            reply = replace(reply, prompt_tokens=prompt, completion_tokens=written)
        with self._lock:
            self.billed.append((reply.prompt_tokens or 0, reply.completion_tokens or 0))
        return reply


def failing(stage: str, fault: Any) -> Callable[[ScriptedRequest], Any]:
    """sensible(), but every request of one stage is answered by fault."""
    return lambda request: fault if request.schema_name == stage else sensible(request)


def chat_calls(answer: Answer) -> Sequence[ModelCall]:
    return [call for call in answer.usage.calls if call.model == MODEL]


def words_of(answer: Answer) -> list[str]:
    """Every text of an answer that is stored or shown."""
    words = [answer.text, answer.reasoning, answer.standalone, *(claim.text for claim in answer.claims)]
    words += [json.dumps(answer.understood, ensure_ascii=False), *answer.notes]
    words += [citation.quote for citation in answer.citations]
    for node in answer.nodes:
        words += [node.answer or "", *node.sub_queries, *node.seen]
        words += [text or "" for candidate in node.candidates for text in (candidate.answer, candidate.reasoning)]
    return words
