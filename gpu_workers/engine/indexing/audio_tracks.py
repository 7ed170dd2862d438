"""The audio tracks of a file: which there are, and which are listened to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from babel.core import get_global

from gpu_workers.engine.languages.codes import LANGUAGES

ALL = "all"
"""The choice of all audio tracks."""
MAX_HEARD = 4
"""Maximum number of audio tracks of a file that are listened to: each is decoded and transcribed on its own."""
MAX_TITLE = 100
MAX_TAG = 35
"""Maximum number of characters of a language tag (RFC 5646)."""

NotHeard = Literal["not_chosen", "too_many", "undecodable"]
"""Why a track is not listened to."""


@dataclass(frozen=True, slots=True)
class AudioTrack:
    """One audio track of a file. number: its index among the audio tracks, from 1. language: as the file says, in ISO
    639-1 if there is such a code, "" if it does not say. codec: "" if there is no decoder."""

    number: int
    language: str = ""
    title: str = ""
    codec: str = ""
    channels: int = 0
    is_default: bool = False

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> AudioTrack:
        """Return the track that as_fields() wrote."""
        return cls(**fields)

    def as_fields(self) -> dict[str, Any]:
        return asdict(self)


FIRST_TRACK = AudioTrack(1, codec="unknown")
"""The track of a file whose tracks were not listed."""


@dataclass(frozen=True, slots=True)
class ListenedTracks:
    """tracks: those that are listened to, in the order of the file. left_out: numbers of the others and why.

    is_fallback: the choice matches no track, so all are taken.
    """

    tracks: tuple[AudioTrack, ...]
    left_out: Mapping[int, NotHeard]
    is_fallback: bool

    @property
    def lacks(self) -> list[str]:
        """Return the codes of `degraded` for chosen tracks that are not listened to, or not there."""
        not_heard = ["audio_not_heard"] if set(self.left_out.values()) - {"not_chosen"} else []
        return not_heard + (["audio_not_found"] if self.is_fallback else [])


def listened_tracks(tracks: Sequence[AudioTrack], choice: str = ALL) -> ListenedTracks:
    """Return which tracks are listened to. choice: ALL, or numbers and languages of tracks, separated by commas.

    All tracks are taken if no track matches the choice: a wrong choice must not make a recording silent. If there are
    more than MAX_HEARD, those that the file marks as default come first.
    """
    wanted = set(split_choice(choice))
    chosen = [one for one in tracks if ALL in wanted or {str(one.number), one.language} & wanted]
    is_fallback = bool(tracks) and not chosen
    chosen = chosen or list(tracks)
    decodable = [one for one in chosen if one.codec]
    first = sorted(decodable, key=lambda one: (not one.is_default, one.number))[:MAX_HEARD]
    reasons: dict[int, NotHeard] = {}
    for one in tracks:
        if one not in chosen:
            reasons[one.number] = "not_chosen"
        elif not one.codec:
            reasons[one.number] = "undecodable"
        elif one not in first:
            reasons[one.number] = "too_many"
    return ListenedTracks(tuple(one for one in tracks if one in first), reasons, is_fallback)


def split_choice(choice: str) -> list[str]:
    """Return the numbers and languages that a choice of tracks names, in lower case."""
    return [part for part in (part.strip().lower() for part in choice.split(",")) if part]


def is_choice(choice: str) -> bool:
    """Whether a choice names all tracks, or numbers and known languages of tracks."""
    parts = split_choice(choice)
    return parts == [ALL] or (bool(parts) and all(_is_number(part) or part in LANGUAGES for part in parts))


def _is_number(part: str) -> bool:
    return part.isascii() and part.isdigit() and len(part) <= 2 and int(part) > 0


def language_of(tag: str) -> str:
    """Return the language of a file's tag: "deu", "ger" and "de-AT" are "de". "" if the tag says nothing."""
    code = tag.lower().replace("_", "-").partition("-")[0]
    if not code.isalpha() or code in ("und", "mul", "zxx", "mis"):
        return ""
    return code if code in LANGUAGES else str(get_global("language_aliases").get(code, code))[:8]


def shown_title(title: str) -> str:
    """Return a title from a file in printable characters."""
    return "".join(letter if letter.isprintable() else " " for letter in title)[:MAX_TITLE].strip()


def merged_tracks(known: Iterable[AudioTrack], more: Iterable[AudioTrack]) -> list[AudioTrack]:
    """Return the tracks of a recording that goes on in another file: each number once, as it was first listed."""
    by_number = {one.number: one for one in (*more, *known)}
    return [by_number[number] for number in sorted(by_number)]
