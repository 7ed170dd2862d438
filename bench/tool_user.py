"""A scripted reasoner that uses tools as a sensible model would: seeded, and without knowledge of the answer.

What it does depends on the conversation alone: on the tools that the request offers, on how much was shown so far, and
on the question. It begins with an overview if one is offered, words each search in a new way, looks at moments that
were shown to it, and finishes the sooner, the more it has seen. So a conversation is as long as its tools make it, in a
long video as in a short one. Its samples agree on questions about a person with an even number, and never on the
others. `tireless` never finishes by itself, and is never satisfied.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from bench.long_day import filler

OVERVIEWS = ("global_browse",)
THOUGHT_CHARACTERS, TRACE_CHARACTERS, QUERY_CHARACTERS = 120, 600, 40
"""A thought of 20 words, a reasoning of 100 words as in bench.answer_calls, and a query of 7 words."""
ENOUGH = 6
"""Number of messages that show something after which it always finishes, the opening included: so it uses about half of
the steps that effort medium allows."""
FRAMES_BEFORE, FRAMES_ENOUGH = 5, 11
"""Number of frames up to which a reflection is never sufficient, and from which it always is."""

_SPAN = re.compile(r"\b(\d+):(\d\d):(\d\d)(?:\.\d+)?\s?(?:-|to)\s?(\d+):(\d\d):(\d\d)")
_QUESTION = re.compile(r"\bperson (\d+)\b")
_SHOWN = re.compile(r"\b([EFOL])(\d+)\b")
_MOMENT = re.compile(r"^F\d+ \(E\d+\) (?:video \d+ )?\d+:\d\d", re.MULTILINE)
SQL = "SELECT object_id, first_ms, last_ms FROM objects WHERE category = 'person' ORDER BY first_ms LIMIT 10"


def sensible(request: Mapping[str, Any]) -> str | Sequence[str]:
    return _replies(request, patient=False)


def tireless(request: Mapping[str, Any]) -> str | Sequence[str]:
    return _replies(request, patient=True)


def _replies(request: Mapping[str, Any], *, patient: bool) -> str | Sequence[str]:
    """Return one reply for all samples, or in a question in doubt one with another letter for each."""
    samples = int(request.get("n") or 1)
    if samples == 1 or not _Conversation(request, patient=patient).doubts:
        return _Conversation(request, patient=patient).reply()
    return [_Conversation(request, patient=patient, sample=sample).reply() for sample in range(samples)]


class _Conversation:
    """What a request shows. schema: of the reply, {} if any words will do. patient: whether nothing is ever enough.
    sample: number of the sample that is wanted, whose letter it decides in doubt."""

    def __init__(self, request: Mapping[str, Any], *, patient: bool, sample: int = 0) -> None:
        self.patient, self.sample = patient, sample
        self.messages = [(message["role"], _text(message["content"])) for message in request["messages"]]
        self.prompt = "\n".join(text for _, text in self.messages)
        wanted = (request.get("response_format") or {}).get("json_schema", {})
        self.schema: Mapping[str, Any] = wanted.get("schema", {})
        self._last = (0, 15_000)
        self.said = partial(filler, random.Random(zlib.crc32(f"{self.prompt}{request.get('seed')}".encode())))
        # Its words follow the whole prompt. What it decides follows what kind of prompt this is, so that two videos
        # differ by what their tools return and not by luck.
        question = _QUESTION.search(self.prompt)
        self.doubts = question is not None and int(question[1]) % 2 == 1
        about = (question and question[0], wanted.get("name"), len(self.messages), request.get("seed"))
        self.source = random.Random(zlib.crc32(repr(about).encode()))

    def reply(self) -> str:
        if not self.schema:
            return "yes"
        fields = self.schema.get("properties", {})
        if "call" in fields:
            return json.dumps({"thought": self.said(THOUGHT_CHARACTERS), "call": self._call(fields["call"])})
        return json.dumps(self._value("", self.schema))

    # --- tools -----------------------------------------------------------------------------------------------------

    def _call(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Choose a tool of the offered ones, and its arguments."""
        options = {_name(option): option for option in schema.get("anyOf", [schema])}
        chosen = self._chosen(options)
        return {
            name: chosen if name == "tool" else self._value(name, kind)
            for name, kind in options[chosen]["properties"].items()
        }

    def _chosen(self, options: Mapping[str, Any]) -> str:
        others = sorted(set(options) - {"finish"})
        if not others:
            return "finish"
        used = self._used()
        informative = sum(bool(_SHOWN.search(text)) for role, text in self.messages if role == "user")
        if not used and not informative:
            for name in OVERVIEWS:
                if name in others:
                    return name
        if "finish" in options and not self.patient and self.source.random() < (informative - 1) / (ENOUGH - 1):
            return "finish"
        fresh = [name for name in others if name not in used and name not in OVERVIEWS]
        # It tries each kind of tool before it uses one twice, two times of three.
        return self.source.choice(fresh if fresh and self.source.random() < 2 / 3 else others)

    def _used(self) -> list[str]:
        """Return the names of the tools that were called so far."""
        calls = (_read(text).get("call") for role, text in self.messages if role == "assistant")
        return [str(call.get("tool")) for call in calls if isinstance(call, dict)]

    # --- values ----------------------------------------------------------------------------------------------------

    def _value(self, name: str, schema: Mapping[str, Any]) -> Any:
        """Return a value of schema that suits a field of that name."""
        special = getattr(self, f"_of_{name}", None)
        if special is not None:
            return special(schema)
        if "anyOf" in schema:
            return self._value(name, self.source.choice(schema["anyOf"]))
        if "enum" in schema:
            return self.source.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                return self._object(schema)
            case "array":
                most = min(schema.get("maxItems", 2), 3)
                count = self.source.randint(min(1, most), most)
                return [self._value(name, schema["items"]) for _ in range(count)]
            case "integer":
                return self.source.randint(1, 3)
            case "number":
                return 1.0
            case "boolean":
                return self.source.random() < 0.5
        return self.said(QUERY_CHARACTERS)

    def _object(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        fields = schema.get("properties", {})
        value = {name: self._value(name, kind) for name, kind in fields.items()}
        if {"start_ms", "end_ms"} <= set(fields):
            value["start_ms"], value["end_ms"] = self._moment()
        return value

    def _moment(self) -> tuple[int, int]:
        """Return a stretch of time that was shown, in milliseconds; the first 15 s if none was."""
        shown = list(dict.fromkeys(_spans(self.prompt)))
        short = [span for span in shown if span[1] - span[0] <= 60_000]
        return self.source.choice(short or [(0, 15_000)])

    def _of_start_ms(self, schema: Mapping[str, Any]) -> int:
        self._last = self._moment()
        return self._last[0]

    def _of_end_ms(self, schema: Mapping[str, Any]) -> int:
        return self._last[1]

    def _of_t_ms(self, schema: Mapping[str, Any]) -> int:
        return self._moment()[0]

    def _of_reasoning(self, schema: Mapping[str, Any]) -> str:
        return self.said(TRACE_CHARACTERS)

    def _of_steps(self, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return a program: most find a moment, some what follows it, some count."""
        if self.patient:
            found = [self._localize(name) for name in ("a", "b", "c", "d")]
            joined = [{"op": "union", "a": a, "b": b, "out": out} for a, b, out in (("a", "b", "e"), ("c", "d", "f"))]
            # Eight steps, the most at effort medium; the first program is one that has to be repaired.
            of = "g" if len(self.messages) > 2 else "nothing"
            return [*found, *joined, {"op": "union", "a": "e", "b": "f", "out": "g"}, self._shown_of(of)[0]]
        match self.source.randrange(4):
            case 0:
                return [self._localize("a"), {"op": "frames", "of": "a", "most": 8, "out": "z"}]
            case 1:
                later = {"op": "after", "of": "a", "with": "b", "most": 3, "out": "c"}
                return [self._localize("a"), self._localize("b", "entity"), later, *self._shown_of("c")]
            case 2:
                return [self._localize("a", "object"), {"op": "count", "of": "a", "out": "z"}]
        return [self._localize("a"), *self._shown_of("a")]

    def _localize(self, out: str, what: str = "event") -> Mapping[str, Any]:
        phrase = "person" if what == "object" else self.said(QUERY_CHARACTERS)
        return {"op": "localize", "phrase": phrase, "what": what, "within": "", "out": out}

    def _shown_of(self, name: str) -> list[Mapping[str, Any]]:
        """Return the end of a program: moments of which a statement is true, and their frames."""
        kept = {"op": "filter", "of": name, "predicate": self.said(QUERY_CHARACTERS), "out": "y"}
        return [kept, {"op": "frames", "of": "y", "most": 8, "out": "z"}]

    def _of_sql(self, schema: Mapping[str, Any]) -> str:
        return SQL

    def _of_top_k(self, schema: Mapping[str, Any]) -> int:
        return 16

    def _of_answer(self, schema: Mapping[str, Any]) -> Any:
        letters = schema.get("enum") or ["A", "B", "C", "D"]
        return letters[self.sample % min(4, len(letters))]

    def _of_evidence(self, schema: Mapping[str, Any]) -> list[int]:
        shown = "\n".join(text for role, text in self.messages if role == "user")
        events = [int(number) for kind, number in _SHOWN.findall(shown) if kind == "E"]
        return sorted(set(events))[:2]

    def _of_confidence(self, schema: Mapping[str, Any]) -> Any:
        """Be sufficiently sure the likelier, the more frames were seen."""
        seen = len(_MOMENT.findall(self.prompt))
        sure = (seen - FRAMES_BEFORE) / (FRAMES_ENOUGH - FRAMES_BEFORE)
        levels = sorted(schema.get("enum", [0.4, 0.9]))
        sufficient = not self.patient and self.source.random() < sure
        return levels[-1] if sufficient else self.source.choice(levels[:-1])

    def _of_sufficient(self, schema: Mapping[str, Any]) -> bool:
        return not self.patient and self.source.random() < 0.5


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _name(option: Mapping[str, Any]) -> str:
    return str(option["properties"]["tool"]["enum"][0])


def _read(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for match in _SPAN.finditer(text):
        hours, minutes, seconds, to_hours, to_minutes, to_seconds = map(int, match.groups())
        start = 1000 * (3600 * hours + 60 * minutes + seconds)
        end = 1000 * (3600 * to_hours + 60 * to_minutes + to_seconds)
        if start < end:
            yield start, end
