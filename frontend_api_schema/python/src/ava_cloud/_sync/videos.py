"""Videos: send, wait for and list them, and read what was found in them."""

from __future__ import annotations

import datetime
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, BinaryIO

import httpx

from ava_cloud._generated import AuthenticatedClient
from ava_cloud._generated.api.event_knowledge_graph import list_events, list_transcript
from ava_cloud._generated.api.index_jobs import list_index_jobs
from ava_cloud._generated.api.playback import get_captions, get_subtitles
from ava_cloud._generated.api.videos import create_video, delete_video, get_video, list_videos
from ava_cloud._generated.models import (
    Event,
    Profile,
    TranscriptLine,
    UploadRequest,
    UploadRequestMetadata,
    UrlSourceRequest,
    Video,
    VideoRequest,
    VideoRequestMetadata,
)
from ava_cloud._media import MediaFile
from ava_cloud._requests import given, mapped, video_that_works
from ava_cloud._retry import Retries
from ava_cloud._sync.uploads import OnProgress, Uploader
from ava_cloud._sync.waiting import occasions
from ava_cloud.errors import WaitTimeout

_PAGE = 100


class Videos:
    """`ava.videos`."""

    def __init__(self, api: AuthenticatedClient, storage: httpx.Client, retries: Retries) -> None:
        self._api, self._storage, self._retries = api, storage, retries

    def upload(
        self,
        file: str | os.PathLike[str] | BinaryIO,
        *,
        title: str | None = None,
        content_type: str | None = None,
        collection_id: str | None = None,
        profile: Profile | None = None,
        language: str | None = None,
        audio: str | None = None,
        external_id: str | None = None,
        recorded_at: datetime.datetime | None = None,
        time_zone: str | None = None,
        metadata: Mapping[str, str] | None = None,
        on_progress: OnProgress | None = None,
        parts_at_once: int = 4,
        idempotency_key: str | None = None,
    ) -> Video:
        """Send a file, and return its video, which is then indexed.

        The file is read as it is sent, several parts at once. A program that was killed and sends the same file with
        the same arguments within 24 hours goes on with the parts that are missing; a file that had arrived gives the
        same video. To send it as another video, give an idempotency_key of your own.

        file: a path, or a seekable binary file object. Raises ApiError, Unreachable, OSError.
        """
        with MediaFile.open(file) as media:
            request = UploadRequest(
                media.name,
                media.size_bytes,
                content_type or media.content_type,
                title=given(title),
                collection_id=given(collection_id),
                profile=given(profile),
                language=given(language),
                audio=given(audio),
                external_id=given(external_id),
                recorded_at=given(recorded_at),
                time_zone=given(time_zone),
                metadata=mapped(UploadRequestMetadata, metadata),
            )
            key = idempotency_key or media.key(request.to_dict()) or str(uuid.uuid4())
            uploader = Uploader(self._api, self._storage, media, retries=self._retries, on_progress=on_progress)
            return uploader.send(request, key, parts_at_once)

    def send_file(self, file: str | os.PathLike[str], *, key: str, parts_at_once: int = 2) -> str:
        """Send a file that will be appended to a video as a segment. key: its Idempotency-Key. Returns its upload."""
        with MediaFile.open(file) as media:
            request = UploadRequest(media.name, media.size_bytes, media.content_type)
            uploader = Uploader(self._api, self._storage, media, retries=self._retries, on_progress=None)
            return (uploader.deliver(request, key, parts_at_once)).id

    def add_url(
        self,
        url: str,
        *,
        title: str | None = None,
        collection_id: str | None = None,
        external_id: str | None = None,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> Video:
        """Have the service fetch a public https URL. more: further fields of VideoRequest. Raises ApiError."""
        body = VideoRequest(
            UrlSourceRequest("url", url),
            title=given(title),
            collection_id=given(collection_id),
            external_id=given(external_id),
            metadata=mapped(VideoRequestMetadata, metadata),
            **more,
        )
        return create_video.sync(client=self._api, body=body, idempotency_key=given(idempotency_key))

    def wait_ready(
        self, video_id: str, *, timeout_s: float = 86_400.0, on_progress: Callable[[Video], None] | None = None
    ) -> Video:
        """Wait until the whole video is indexed. It can be asked about before that: from indexed_until_ms above 0.

        It follows the stream of the index, and looks from time to time where no stream can be opened. on_progress:
        receives the video whenever it was looked at. Raises WorkFailed, WaitTimeout, ApiError.
        """
        ends = time.monotonic() + timeout_s
        jobs = list_index_jobs.sync(client=self._api, video_id=video_id)
        path = f"/v1/index-jobs/{jobs.data[0].id if jobs.data else ''}/stream"
        http = self._api.get_httpx_client()
        with closing(occasions(http, path, ends=ends, each=on_progress is not None)) as looks:
            for _ in looks:
                video = video_that_works(get_video.sync(video_id, client=self._api))
                if on_progress is not None:
                    on_progress(video)
                if video.status == "ready":
                    return video
        raise WaitTimeout(video_id, timeout_s)

    def get(self, video_id: str) -> Video:
        """Return a video. Raises NotFound and other ApiErrors."""
        return get_video.sync(video_id, client=self._api)

    def delete(self, video_id: str) -> Video:
        """Delete a video with everything that was made of it. Raises ApiError."""
        return delete_video.sync(video_id, client=self._api)

    def list(self, **filters: Any) -> Iterator[Video]:
        """Yield the tenant's videos, newest first, over all pages. filters: parameters of GET /v1/videos."""
        for video in rows_of(list_videos, client=self._api, **filters):
            yield video

    def events(self, video_id: str, **filters: Any) -> Iterator[Event]:
        """Yield the events of a video in order, over all pages. filters: parameters of its events."""
        for event in rows_of(list_events, video_id=video_id, client=self._api, **filters):
            yield event

    def transcript(self, video_id: str, **filters: Any) -> Iterator[TranscriptLine]:
        """Yield the lines that were said, in order, over all pages. filters: parameters of its transcript."""
        for line in rows_of(list_transcript, video_id=video_id, client=self._api, **filters):
            yield line

    def captions(
        self,
        video_id: str,
        *,
        srt: bool = False,
        track: int | None = None,
        start_ms: int | None = None,
        end_ms: int | None = None,
    ) -> str:
        """Return the captions as WebVTT, or as SRT; of a span, whose times then count from 0. Raises ApiError."""
        read = get_subtitles.sync if srt else get_captions.sync
        return read(video_id, client=self._api, track=given(track), start_ms=given(start_ms), end_ms=given(end_ms))


def rows_of(operation: Any, **parameters: Any) -> Iterator[Any]:
    """Yield the rows of all pages of a list. operation: its module in `operations`."""
    cursor: str | None = None
    while True:
        page = operation.sync(limit=_PAGE, cursor=given(cursor), **parameters)
        for row in page.data:
            yield row
        cursor = page.next_cursor
        if cursor is None:
            return
