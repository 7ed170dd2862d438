"""What a chat completion says: its samples without the reasoning before them, their first tokens, and its usage."""

from __future__ import annotations

from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice

from gpu_workers.engine.models.roles import Sample

_THOUGHT_BEGINS, _THOUGHT_ENDS = "<think>", "</think>"


class NoSamples(ValueError):
    """A reply without a usable choice. The tokens that it reports were still consumed."""

    def __init__(self, answer: ChatCompletion) -> None:
        super().__init__("the server returned no choices")
        self.answer = answer


def samples_of(answer: ChatCompletion) -> list[Sample]:
    """Return the samples of a reply. Raises NoSamples, or ValueError if it is no chat completion."""
    # The client does not validate replies: a proxy's page arrives as text, a broken body with any types.
    if not isinstance(answer, ChatCompletion):
        raise ValueError("the reply is no chat completion")  # noqa: TRY004 - the server's fault, not the caller's
    choices: object = answer.choices
    if not isinstance(choices, list) or not choices:
        raise NoSamples(answer)
    samples = []
    for choice in answer.choices:
        if not isinstance(choice, Choice) or not isinstance(choice.message, ChatCompletionMessage):
            raise NoSamples(answer)
        if choice.finish_reason == "content_filter" or choice.message.refusal:
            samples.append(Sample("", refused=True))
        else:
            text = without_thought(_content(choice))
            samples.append(Sample(text, truncated=choice.finish_reason == "length", first=_first_tokens(choice)))
    return samples


def thought(answer: ChatCompletion) -> bool:
    """Whether a choice of the reply began with reasoning, inside its text or next to it."""
    return any(
        _content(choice).lstrip().startswith(_THOUGHT_BEGINS)
        or _THOUGHT_ENDS in _content(choice)
        or bool(_reasoning(choice))
        for choice in answer.choices
    )


def without_thought(text: str) -> str:
    """Return text without the reasoning before it; "" if the reasoning was cut off before its end."""
    if _THOUGHT_ENDS in text:
        return text.rpartition(_THOUGHT_ENDS)[2].lstrip()
    return "" if text.lstrip().startswith(_THOUGHT_BEGINS) else text


def _content(choice: Choice) -> str:
    content: object = choice.message.content
    return content if isinstance(content, str) else ""


def _reasoning(choice: Choice) -> str:
    fields = choice.message.model_extra or {}
    found = fields.get("reasoning_content") or fields.get("reasoning")
    return found if isinstance(found, str) else ""


def _first_tokens(choice: Choice) -> dict[str, float]:
    """Return the log-probability of each first token of the answer that the server names; {} if it names none in
    OpenAI's form. Tokens of the reasoning before the answer do not count."""
    tokens: object = getattr(choice.logprobs, "content", None)
    listed = tokens if isinstance(tokens, list) else []
    at = 0
    written = ""
    for number, token in enumerate(listed):
        written += str(getattr(token, "token", "") or "")
        if _THOUGHT_ENDS in written:
            at, written = number + 1, ""
    if at or written.lstrip().startswith(_THOUGHT_BEGINS):
        while at < len(listed) and not str(getattr(listed[at], "token", "") or "").strip():
            at += 1
        if written.lstrip().startswith(_THOUGHT_BEGINS):
            return {}
    named: object = getattr(listed[at], "top_logprobs", None) if at < len(listed) else None
    log_probabilities: dict[str, float] = {}
    for candidate in named if isinstance(named, list) else ():
        token, value = getattr(candidate, "token", None), getattr(candidate, "logprob", None)
        if isinstance(token, str) and isinstance(value, int | float) and value <= 0:
            log_probabilities[token] = float(value)
    return log_probabilities


def count(usage: object, name: str) -> int:
    """Return a number of tokens as a server reports it; 0 if it reports none."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) else 0


def written_tokens(answer: ChatCompletion) -> int:
    """Return the tokens of all samples. llama.cpp reports only the first sample's: then the others are counted by
    their length.

    Its timings, which count the first sample as well, show that. Behind a proxy that drops them, a count below the
    number of words shows it, since no tokenizer has fewer tokens than words.
    """
    reported = count(answer.usage, "completion_tokens")
    texts = [str(choice.message.content or "") for choice in answer.choices]
    if len(texts) < 2 or not texts[0]:
        return reported
    timings = (answer.model_extra or {}).get("timings")
    of_the_first = isinstance(timings, dict) and timings.get("predicted_n") == reported
    if not of_the_first and reported >= sum(len(text.split()) for text in texts):
        return reported
    return round(reported * sum(map(len, texts)) / len(texts[0]))
