"""The videos that a question names by their titles, and the step that narrows the scope to them.

A title's words alone name nothing: "Who opens the gate?" is about a gate, although a video may be called "Gate". They
name the video in quotation marks, next to a word such as camera or recording, or if they are many, or a file's name.
Only the customer's own words and the titles, which customers give, decide; text of a video never does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.search.across_videos import compares
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.answering.words import content_words
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.languages.codes import ENGLISH
from gpu_workers.engine.ports import Recording

MANY_WORDS = 4
"""Number of a title's words from which they name its video wherever they stand in a row."""

MOST_NAMED = 5
"""Maximum number of titles in the note on the videos that were read."""

_NOUN = (
    r"(?:videos?|recordings?|cameras?|cams?|clips?|films?|footage|streams?|feeds?|tapes?|files?|kameras?|aufnahmen?|"
    r"dateie?n?|v[ií]deos?|c[aá]maras?|grabaci(?:ón|on|ones)|archivos?)"
)
_DENSE_NOUN = (
    r"(?:摄像头|攝像頭|摄像机|攝影機|监控|監控|视频|視頻|影片|录像|錄像|相机|(?:ال)?كاميرا|(?:ال)?فيديو|(?:ال)?مقطع)"
)
_CALLED = r"(?:\s*[:,]?\s*(?:named|called|titled|genannt|namens|llamad[oa]))?"
_PREPOSITION = r"(?:in|on|at|from|of|by|for|with|through|over|during|auf|von|vor|bei|an|aus|en|de|desde|por|durante)"
_ARTICLE = r"(?:the|this|that|our|my|der|die|das|dem|den|unsere[mnr]?|la|el|las|los|nuestr[oa])"
_EXCLUDED = re.compile(
    r"\b(?:(?:except|excluding|besides|other than|apart from|außer|excepto|salvo|menos)\b\W+(?:\w+\W+){0,2}|"
    r"(?:not|never|nicht|no)\W+(?:on|in|at|from|auf|en)\W+(?:\w+\W+)?)$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    rf"(?<!\w)(?P<noun>{_NOUN})\W{{0,2}}(?:no\.?|number|nr\.?|núm\.?)?\s*(?P<number>\d{{1,4}})(?!\w)", re.IGNORECASE
)
_FILE = re.compile(r"\.(?:mp4|m4v|mov|avi|mkv|webm|mpe?g|ts|flv|wmv)$", re.IGNORECASE)
_QUOTES = "\"'“”„‟«»‘’「」『』"
_IDLE_WORDS = "a an the my our this that new first last test der die das ein eine mein unser el la los las un una mi"
_IDLE = frozenset(_IDLE_WORDS.split())
_THIS_VIDEO = {"de": "diesem Video", "es": "este vídeo", "zh": "这个视频", "ar": "هذا الفيديو"}


@dataclass(frozen=True, slots=True)
class Mention:
    """A part start..end of a question that names videos, with what stands around the name."""

    start: int
    end: int
    videos: tuple[UUID, ...]


def narrow_to_videos(asked: Asked) -> Asked:
    """Return asked with its graph narrowed to the videos that its question names; without one, as it is.

    "This video" takes the place of an only name, so that no route counts it and no search looks for it. Where several
    are named, the question may compare them, and keeps its words.
    """
    recordings = asked.graph.recordings()
    asked = replace(asked, recordings=recordings)
    text = asked.question.question
    found = named_videos(text, recordings)
    if asked.standalone:
        # Words of an earlier answer, which a model wrote, must not choose the video.
        own = [asked.own_words, *(turn.question for turn in asked.question.history)]
        said = {video for words in own for one in named_videos(words, recordings) for video in one.videos}
        found = [mention for mention in found if set(mention.videos) <= said]
    videos = sorted({video for mention in found for video in mention.videos})
    if not videos or len(videos) == len(recordings):
        return asked
    spans = {video: Span(0, until_ms) for video in videos if (until_ms := recordings[video].until_ms) > 0}
    narrowed = replace(
        asked,
        graph=asked.graph.narrowed(spans),
        recordings={video: recordings[video] for video in spans},
        understood=replace(asked.understood, videos=tuple(videos)),
    )
    if len(videos) > 1:
        return narrowed
    language = asked.question_language
    return replace(
        narrowed,
        question=replace(asked.question, question=_without(text, recordings, language)),
        asked_words=_without(asked.own_words, recordings, language),
        translated=tuple(_without(words, recordings, ENGLISH) for words in asked.translated),
        searched=_removed(asked.searched, recordings),
    )


def named_videos(text: str, recordings: Mapping[UUID, Recording]) -> list[Mention]:
    """Return the parts of a question that name videos of several, in their order, the longest names first of those
    that overlap; none if the question excludes one, or names one and compares it with the others."""
    if len(recordings) < 2:
        return []
    text = unicodedata.normalize("NFKC", text)
    mentions: dict[tuple[int, int], set[UUID]] = {}
    comparing = compares(text)
    for video_id, recording in recordings.items():
        for start, end in _titled(text, unicodedata.normalize("NFKC", recording.title), comparing=comparing):
            mentions.setdefault((start, end), set()).add(video_id)
    for start, end, videos in _numbered(text, recordings):
        mentions.setdefault((start, end), set()).update(videos)
    longest = [
        (start, end)
        for start, end in mentions
        if not any(first <= start and end <= last and (first, last) != (start, end) for first, last in mentions)
    ]
    found = [Mention(start, end, tuple(sorted(mentions[start, end]))) for start, end in sorted(longest)]
    if any(_EXCLUDED.search(text[: mention.start]) for mention in found):
        return []
    alone = len({video for mention in found for video in mention.videos}) == 1
    return [] if alone and comparing else found


def video_notes(asked: Asked) -> tuple[str, ...]:
    """Return the note on the videos that were read; none if the question names none."""
    named = asked.understood.videos
    if not named:
        return ()
    titles = [f'"{as_data(asked.recordings[one].title)}"' for one in named if one in asked.recordings]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return (f"only what the question names was read: {', '.join(titles[:MOST_NAMED])}{more}",)


def _titled(text: str, title: str, *, comparing: bool) -> Iterator[tuple[int, int]]:
    """Yield the parts of text that name the video with this title. comparing: whether the text compares videos, so that
    a title's words name its video wherever they stand."""
    words = re.findall(r"[^\W_]+", title)
    nouns = [word for word in words if re.fullmatch(_NOUN, word, re.IGNORECASE)]
    telling = [word for word in words if word not in nouns and word.lower() not in _IDLE]
    said = text.casefold()
    # Quick, because a scope may have a thousand titles.
    if not words or any(word.casefold() not in said for word in _core(words)):
        return
    name, core = _in_a_row(words), _in_a_row(_core(words))
    # Scripts without spaces have no edges of words.
    first, last = (r"(?<!\w)", r"(?!\w)") if words[0].isascii() else ("", "")
    forms = [rf"[{_QUOTES}]\s*{name}\s*[{_QUOTES}]"]
    if telling and not (core.isdigit() and nouns):
        forms.append(rf"(?:(?<!\w){_NOUN}|{_DENSE_NOUN}){_CALLED}\W{{1,3}}{core}{last}")
        forms.append(rf"{first}{core}[\s\-的]{{0,2}}(?:{_NOUN}(?!\w)|{_DENSE_NOUN})")
    if telling and (comparing or nouns or len(telling) >= MANY_WORDS or _FILE.search(title)):
        forms.append(rf"{first}{name}{last}")
    if telling and comparing and not core.isdigit():
        forms.append(rf"{first}{core}{last}")
    for form in forms:
        for match in re.finditer(form, text, re.IGNORECASE):
            yield match.span()


def _core(words: Sequence[str]) -> Sequence[str]:
    """Return a title's words without those such as camera at either end, which a question may replace by others."""
    telling = [index for index, word in enumerate(words) if not re.fullmatch(_NOUN, word, re.IGNORECASE)]
    return words[telling[0] : telling[-1] + 1] if telling else words


def _in_a_row(words: Sequence[str]) -> str:
    return r"[\W_]{1,3}".join(map(re.escape, words))


def _numbered(text: str, recordings: Mapping[UUID, Recording]) -> Iterator[tuple[int, int, set[UUID]]]:
    """Yield the parts of text such as "camera 2", with the videos whose titles say so; "video 2" is also the second
    video without a title, as answers call it."""
    for match in _NUMBERED.finditer(text):
        wanted = _number_of(match)
        titled = {
            video_id
            for video_id, recording in recordings.items()
            if any(_number_of(own) == wanted for own in _NUMBERED.finditer(recording.title))
        }
        if titled:
            yield (*match.span(), titled)
            continue
        by_number = dict(enumerate(sorted(recordings), start=1))
        video_id = by_number.get(int(match["number"]))
        if match["noun"].lower() == "video" and video_id is not None and not recordings[video_id].title.strip():
            yield (*match.span(), {video_id})


def _number_of(match: re.Match[str]) -> tuple[str, int]:
    noun = match["noun"].lower()
    return ("camera" if noun.startswith(("cam", "kam", "cám")) else noun, int(match["number"]))


def _without(text: str, recordings: Mapping[UUID, Recording], language: str) -> str:
    """Return a question with "this video" in the place of the name, which all rules read."""
    text = unicodedata.normalize("NFKC", text)
    for mention in reversed(named_videos(text, recordings)):
        before = re.sub(rf"(?:(?<!\w){_ARTICLE}\s+)+$", "", text[: mention.start], flags=re.IGNORECASE)
        after = re.sub(rf"^\s*{_NOUN}(?!\w)", "", text[mention.end :], flags=re.IGNORECASE)
        text = f"{before}{_THIS_VIDEO.get(language, 'this video')}{after}"
    return text


def _removed(text: str, recordings: Mapping[UUID, Recording]) -> str:
    """Return the words of a search without the name; as they are if nothing else would be left."""
    shorter = unicodedata.normalize("NFKC", text)
    for mention in reversed(named_videos(shorter, recordings)):
        before = re.sub(
            rf"(?:(?<!\w){_PREPOSITION}\s+)?(?:(?<!\w){_ARTICLE}\s+)*$",
            "",
            shorter[: mention.start],
            flags=re.IGNORECASE,
        )
        shorter = f"{before.rstrip()} {shorter[mention.end :].lstrip()}"
    shorter = re.sub(r"\s+(?=[?.!,;])", "", " ".join(shorter.split()))
    return shorter if content_words(shorter) else text
