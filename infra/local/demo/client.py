"""Plain calls of the public API for measurements and tests; every error is shown as the API words it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from ava_cloud import Ava

Json = dict[str, Any]


class ApiRefused(Exception):
    """The API answered with a problem document."""

    def __init__(self, response: httpx.Response) -> None:
        try:
            problem = response.json()
        except ValueError:
            problem = {"code": "no_problem_document", "detail": response.text[:500]}
        values = "".join(f"; {error['pointer']}: {error['detail']}" for error in problem.get("errors", ()))
        super().__init__(
            f"{response.request.method} {response.request.url.path}: {response.status_code} "
            f"{problem.get('code')}: {problem.get('detail')}{values}"
        )
        self.status = response.status_code
        self.code = str(problem.get("code"))


def own_client(base_url: str, key: str) -> Ava:
    """Return the Python client for a service on this machine, past every proxy."""
    return Ava(key, base_url=base_url, transport=httpx.HTTPTransport())


class Client:
    def __init__(self, base_url: str, key: str) -> None:
        self._base_url, self._key = base_url, key
        # No proxy, because all servers are on this machine.
        self._http = httpx.Client(
            base_url=f"{base_url}/v1",
            headers={"Authorization": f"Bearer {key}"},
            timeout=90,
            # Less than the 5 s after which the API closes an idle connection.
            limits=httpx.Limits(keepalive_expiry=2),
            trust_env=False,
        )
        self._plain = httpx.Client(timeout=120, trust_env=False)

    def call(self, method: str, path: str, body: Json | None = None, **headers: str) -> Json:
        response = self._answered(
            method, path, body, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        if response.status_code >= 400:
            raise ApiRefused(response)
        return response.json() if response.content else {}

    def _answered(self, method: str, path: str, body: Json | None, headers: dict[str, str]) -> httpx.Response:
        """Send a request, and a GET again whose connection the server ended, as at the end of one of its processes."""
        for _ in range(2 if method == "GET" else 0):
            with suppress(httpx.ReadError, httpx.RemoteProtocolError):
                return self._http.request(method, path, json=body, headers=headers)
        return self._http.request(method, path, json=body, headers=headers)

    def pages(self, path: str) -> Iterator[Json]:
        cursor = ""
        while True:
            page = self.call("GET", f"{path}{'&' if '?' in path else '?'}limit=100{cursor}")
            yield from page["data"]
            if not page["next_cursor"]:
                return
            cursor = f"&cursor={page['next_cursor']}"

    def lines(self, path: str) -> list[Json]:
        """Return the objects of a reply of JSON lines."""
        response = self._answered("GET", path, None, {"Accept": "application/x-ndjson"})
        if response.status_code >= 400:
            raise ApiRefused(response)
        return [json.loads(line) for line in response.text.splitlines()]

    def upload(
        self, file: Path, *, sha256: str, external_id: str = "", profile: str = "", on_sent: Callable[[int], None]
    ) -> Json:
        """Upload a file by the Python client, always as a new video. Returns the video.

        external_id: by default the checksum. profile: "" for the service's own. on_sent: called with the bytes sent so
        far.
        """
        with own_client(self._base_url, self._key) as ava:
            video = ava.videos.upload(
                file,
                title=file.name,
                external_id=external_id or sha256,
                profile=profile or None,  # type: ignore[arg-type]  # the service names what it takes
                on_progress=lambda sent, _: on_sent(sent),
                idempotency_key=f"upload-{sha256[:32]}-{time.time_ns()}",
            )
        return dict(video.to_dict())

    def download(self, url: str) -> bytes:
        response = self._plain.get(url)
        response.raise_for_status()
        return response.content


def sha256_of(file: Path) -> str:
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
