"""Sending a file in parts: several at once, each again if it fails, and only those that are missing."""

from __future__ import annotations

import threading
import uuid
from collections.abc import AsyncIterator, Callable

import httpx

from ava_cloud._generated import AuthenticatedClient
from ava_cloud._generated.api.uploads import complete_upload, create_part_urls, create_upload, get_upload
from ava_cloud._generated.api.videos import get_video
from ava_cloud._generated.models import PartUrlsRequest, Upload, UploadRequest, Video
from ava_cloud._media import MediaFile
from ava_cloud._parallel import async_each_at_once, async_sleep
from ava_cloud._retry import Retries
from ava_cloud.errors import Conflict, NotFound, Unreachable

OnProgress = Callable[[int, int], None]
"""Receives the bytes that have arrived and the size of the file."""


class AsyncUploader:
    """Sends one file. storage: an HTTP client without the API key; the URLs of parts are signed."""

    def __init__(
        self,
        api: AuthenticatedClient,
        storage: httpx.AsyncClient,
        file: MediaFile,
        *,
        retries: Retries,
        on_progress: OnProgress | None,
    ) -> None:
        self._api, self._storage, self._file, self._retries = api, storage, file, retries
        self._on_progress, self._sent, self._lock = on_progress, 0, threading.Lock()

    async def send(self, request: UploadRequest, key: str, parts_at_once: int) -> Video:
        """Deliver the file and complete its upload, which makes a video of it."""
        upload = await self.deliver(request, key, parts_at_once)
        if upload.video_id is not None:
            try:
                return await get_video.asyncio(upload.video_id, client=self._api)
            except NotFound:  # it was deleted since
                upload = await self.deliver(request, str(uuid.uuid4()), parts_at_once)
        try:
            return await complete_upload.asyncio(upload.id, client=self._api)
        except Conflict as error:
            done = await get_upload.asyncio(upload.id, client=self._api)
            if done.video_id is not None:
                return await get_video.asyncio(done.video_id, client=self._api)
            raise error

    async def deliver(self, request: UploadRequest, key: str, parts_at_once: int) -> Upload:
        """Begin or go on with the upload of this key, and send what is missing. Returns it before it is completed."""
        upload = await self._opened(request, key)
        self._moved(upload.size_bytes - sum(self._length(upload, number) for number in upload.missing_parts))

        async def send_part(number: int) -> None:
            await self._send_part(upload, number)

        if upload.status == "open":
            await async_each_at_once(send_part, upload.missing_parts, parts_at_once)
        return upload

    async def _opened(self, request: UploadRequest, key: str) -> Upload:
        made = await create_upload.asyncio(client=self._api, body=request, idempotency_key=key)
        # A replayed reply shows the upload as it was at first.
        try:
            upload = await get_upload.asyncio(made.id, client=self._api)
            if upload.status in ("open", "completed"):
                return upload
        except NotFound:
            pass
        # It was aborted or has expired: the file begins a new one.
        return await create_upload.asyncio(client=self._api, body=request, idempotency_key=str(uuid.uuid4()))

    async def _send_part(self, upload: Upload, number: int) -> None:
        start, length = (number - 1) * upload.part_size, self._length(upload, number)
        attempt = 0
        while True:
            attempt += 1
            urls = await create_part_urls.asyncio(
                upload.id, client=self._api, body=PartUrlsRequest(part_numbers=[number])
            )
            part, counted = urls.data[0], 0

            async def body() -> AsyncIterator[bytes]:
                nonlocal counted
                for block in self._file.blocks(start, length):
                    yield block
                    counted += len(block)
                    self._moved(len(block))

            headers = {**part.headers.additional_properties, "Content-Length": str(length)}
            response = None
            try:
                response = await self._storage.put(part.url, content=body(), headers=headers)
                if response.is_success:
                    return
                problem = f"the storage answered {response.status_code}"
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            self._moved(-counted)
            wait = self._retries.wait_s(attempt, response, 0.0)
            if wait is None:
                raise Unreachable(f"part {number} of {upload.id} could not be sent: {problem}")
            await async_sleep(wait)

    def _length(self, upload: Upload, number: int) -> int:
        return min(upload.part_size, upload.size_bytes - (number - 1) * upload.part_size)

    def _moved(self, size: int) -> None:
        with self._lock:
            self._sent += size
            if self._on_progress is not None:
                self._on_progress(self._sent, self._file.size_bytes)
