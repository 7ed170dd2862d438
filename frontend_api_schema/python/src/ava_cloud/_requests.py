"""What both façades make of their arguments."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ava_cloud._generated.models import Question, Search, Video
from ava_cloud._generated.types import UNSET, Unset
from ava_cloud.errors import AvaError, WorkFailed

ENDED = frozenset({"succeeded", "failed", "canceled"})
T = TypeVar("T")


def settings(api_key: str | None, base_url: str | None) -> tuple[str, str]:
    """Return the key and the URL without /v1: the arguments, else AVA_API_KEY and AVA_BASE_URL. Raises AvaError."""
    key = api_key or os.environ.get("AVA_API_KEY", "")
    url = base_url or os.environ.get("AVA_BASE_URL", "")
    missing = [name for name, value in (("AVA_API_KEY", key), ("AVA_BASE_URL", url)) if not value]
    if missing:
        raise AvaError(f"give the argument, or set {' and '.join(missing)}")
    return key, url.rstrip("/").removesuffix("/v1")


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment (HTTPS_PROXY, NO_PROXY and others) names for a URL, None for none.

    httpx reads the environment only where it makes the transport itself.
    """
    parts, proxies = urlsplit(url), getproxies()
    if proxy_bypass(parts.netloc):
        return None
    return proxies.get(parts.scheme) or proxies.get("all")


def given(value: T | None) -> T | Unset:
    """Return a value for a request, in which None means that it was not given."""
    return UNSET if value is None else value


def some(values: Sequence[str] | None) -> list[str] | Unset:
    return UNSET if values is None else list(values)


def mapped(kind: Any, values: Mapping[str, Any] | None) -> Any:
    """Return a generated model of free keys or of named ones."""
    return UNSET if values is None else kind.from_dict(dict(values))


def video_that_works(video: Video) -> Video:
    """Return the video. Raises WorkFailed if it failed."""
    if video.status == "failed":
        code, words = (video.error.code, video.error.message) if video.error else ("failed", "The video failed.")
        raise WorkFailed(video.id, code, words)
    return video


R = TypeVar("R", Question, Search)


def is_open(work: Question | Search) -> bool:
    """Whether a question or search has no outcome yet."""
    return work.status not in ENDED


def outcome(work: R) -> R:
    """Return a question or search that succeeded. Raises WorkFailed if it failed or was canceled."""
    if work.status != "succeeded":
        code = work.error.code if work.error else work.status
        raise WorkFailed(work.id, code, work.error.message if work.error else f"it was {work.status}")
    return work
