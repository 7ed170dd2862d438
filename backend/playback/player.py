"""What the player of a page gets for each recording: the addresses of its playlist and of its side tracks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from backend.api.public_ids import encode
from backend.ekg import queries as index
from backend.ekg.queries import Narrowing
from backend.library.models import Video
from backend.playback.services.tokens import token_of


@dataclass(frozen=True, slots=True)
class PlayedCaptions:
    """Captions of one audio track, from 1. language: ISO 639-1 of most of its lines, "" if it is not known."""

    src: str
    track: int
    language: str


@dataclass(frozen=True, slots=True)
class PlayedRecording:
    """Addresses of one recording, which open it without a sign-in until they end."""

    name: str
    playlist: str
    storyboard: str
    chapters: str
    captions: tuple[PlayedCaptions, ...]
    duration_ms: int | None


def played_recordings(
    videos: Iterable[Video], *, base: str = "/v1", until: datetime | None = None
) -> list[PlayedRecording]:
    """Return the addresses of recordings under a base, inside the open tenant_scope.

    until: when they end at the latest; None for as late as tokens end.
    """
    return [_played(video, f"Recording {number}", base, until) for number, video in enumerate(videos, start=1)]


def _played(video: Video, name: str, base: str, until: datetime | None) -> PlayedRecording:
    token = token_of(video.tenant_id, video.id, until=until)

    def address(path: str, **query: object) -> str:
        return f"{base}/videos/{encode('vid', video.id)}/{path}?{urlencode({**query, 'token': token})}"

    heard = Counter(index.transcript(video, Narrowing()).values_list("track", "language"))
    languages = {track: language for (track, language), _ in reversed(heard.most_common())}
    return PlayedRecording(
        name=name,
        playlist=address("hls/index.m3u8"),
        storyboard=address("storyboard.vtt"),
        chapters=address("chapters.vtt") if index.topics(video).exists() else "",
        captions=tuple(
            PlayedCaptions(address("captions.vtt", track=track), track, language)
            for track, language in sorted(languages.items())
        ),
        duration_ms=video.duration_ms,
    )
