"""The client: a key and a URL, and what most programs do with them.

Every operation of the API is a function of `ava_cloud.operations`, and takes `ava.api`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from ava_cloud._events import StreamEvent
from ava_cloud._generated import AuthenticatedClient
from ava_cloud._generated.api.clips import create_clip, get_clip
from ava_cloud._generated.api.comparisons import create_comparison, get_comparison
from ava_cloud._generated.api.questions import create_question, get_question
from ava_cloud._generated.api.searches import create_search, get_search
from ava_cloud._generated.models import (
    Clip,
    ClipCaptions,
    ClipMode,
    ClipRequest,
    Comparison,
    ComparisonRequest,
    Effort,
    Question,
    QuestionBudgetRequest,
    QuestionMethod,
    QuestionRequest,
    Search,
    SearchMode,
    SearchRequest,
)
from ava_cloud._requests import given, is_open, mapped, outcome, proxy_of, settings, some
from ava_cloud._retry import STANDARD, Retries, RetryTransport
from ava_cloud._sync.videos import Videos, rows_of
from ava_cloud._sync.waiting import ended_work, stream_events
from ava_cloud.errors import NotModified, WorkFailed, error_of

_HELD_S = 50
"""How long the service may hold a request open for an outcome; proxies often end one after a minute."""


class Ava:
    """A client of one tenant. It keeps connections open: use it as a context manager, or call aclose().

    api_key, base_url: by default the environment's AVA_API_KEY and AVA_BASE_URL. timeout_s: of one request, without
    its retries. transport: for tests.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout_s: float = 75.0,
        retries: Retries = STANDARD,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        key, self.base_url = settings(api_key, base_url)
        timeout = httpx.Timeout(timeout_s, connect=10.0)
        self._http = httpx.Client(
            base_url=self.base_url,
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json, text/*, */*"},
            timeout=timeout,
            transport=RetryTransport(transport or httpx.HTTPTransport(proxy=proxy_of(self.base_url)), retries),
            event_hooks={"response": [_raise_for_problem]},
        )
        # The URLs of parts and pictures are signed: they get no key.
        self._storage = httpx.Client(timeout=httpx.Timeout(timeout_s, connect=10.0, read=300.0), transport=transport)
        self.api = AuthenticatedClient(base_url=self.base_url, token=key)
        self.api.set_httpx_client(self._http)
        self.videos = Videos(self.api, self._storage, retries)

    def ask(
        self,
        question: str | QuestionRequest,
        *,
        video_ids: Sequence[str] | None = None,
        collection_id: str | None = None,
        choices: Sequence[str] | None = None,
        start_ms: int | None = None,
        end_ms: int | None = None,
        effort: Effort | None = None,
        method: QuestionMethod | None = None,
        session_id: str | None = None,
        budget: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout_s: float = 600.0,
    ) -> Question:
        """Ask, and wait for the answer. question: its words, or a whole request.

        An answer that found nothing has `finish_reason` other than `answered` and is no error. Raises WorkFailed if the
        question failed, WaitTimeout, and ApiError.
        """
        body = question
        if isinstance(body, str):
            body = QuestionRequest(
                body,
                video_ids=some(video_ids),
                collection_id=given(collection_id),
                choices=some(choices),
                start_ms=given(start_ms),
                end_ms=given(end_ms),
                effort=given(effort),
                method=given(method),
                session_id=given(session_id),
                budget=mapped(QuestionBudgetRequest, budget),
            )
        ends = time.monotonic() + timeout_s
        asked = create_question.sync(
            client=self.api, body=body, idempotency_key=given(idempotency_key), prefer=_held(timeout_s)
        )
        return outcome(ended_work(asked, get_question.sync, is_open=is_open, ends=ends, client=self.api))

    def ask_stream(
        self, question: str | QuestionRequest, *, video_ids: Sequence[str] | None = None, **more: Any
    ) -> Iterator[StreamEvent]:
        """Ask, and yield what happens: `progress`, `partial`, `node`, and at the end `answer` with the question.

        more: further fields of QuestionRequest. A stream that is cut goes on after the last node.
        """
        body = question
        if isinstance(body, str):
            body = QuestionRequest(body, video_ids=some(video_ids), **more)
        asked = create_question.sync(client=self.api, body=body)
        for event in stream_events(self._http, f"/v1/questions/{asked.id}/stream", until="answer"):
            yield event

    def search(
        self,
        query: str | SearchRequest,
        *,
        video_ids: Sequence[str] | None = None,
        collection_id: str | None = None,
        mode: SearchMode | None = None,
        limit: int | None = None,
        min_score: float | None = None,
        idempotency_key: str | None = None,
        timeout_s: float = 120.0,
    ) -> Search:
        """Search events by words, and wait for the results; none is no error.

        Raises WorkFailed, WaitTimeout and ApiError.
        """
        body = query
        if isinstance(body, str):
            body = SearchRequest(
                body,
                video_ids=some(video_ids),
                collection_id=given(collection_id),
                mode=given(mode),
                limit=given(limit),
                min_score=given(min_score),
            )
        ends = time.monotonic() + timeout_s
        found = create_search.sync(
            client=self.api, body=body, idempotency_key=given(idempotency_key), prefer=_held(timeout_s)
        )
        return outcome(ended_work(found, get_search.sync, is_open=is_open, ends=ends, client=self.api))

    def compare(
        self, request: ComparisonRequest, *, idempotency_key: str | None = None, timeout_s: float = 3600.0
    ) -> Comparison:
        """Compare methods on your own questions, and wait for the figures. Raises WaitTimeout and ApiError."""
        ends = time.monotonic() + timeout_s
        made = create_comparison.sync(client=self.api, body=request, idempotency_key=given(idempotency_key))
        return ended_work(
            made, get_comparison.sync, is_open=lambda one: one.completed_at is None, ends=ends, client=self.api
        )

    def clip(
        self,
        video_id: str,
        start_ms: int,
        end_ms: int,
        *,
        mode: ClipMode | None = None,
        captions: ClipCaptions | None = None,
        title: str | None = None,
        question_id: str | None = None,
        idempotency_key: str | None = None,
        timeout_s: float = 900.0,
    ) -> Clip:
        """Cut up to ten minutes out of a video, and wait for the file: its `url` works for half an hour.

        Raises WorkFailed, WaitTimeout and ApiError.
        """
        body = ClipRequest(
            video_id,
            start_ms,
            end_ms,
            mode=given(mode),
            captions=given(captions),
            title=given(title),
            question_id=given(question_id),
        )
        ends = time.monotonic() + timeout_s
        made = create_clip.sync(client=self.api, body=body, idempotency_key=given(idempotency_key))
        made = ended_work(made, get_clip.sync, is_open=lambda one: one.status == "queued", ends=ends, client=self.api)
        if made.status != "ready":
            raise WorkFailed(made.id, made.error.code if made.error else made.status, "the clip was not made")
        return made

    def report(self, question_id: str, *, pdf: bool = False) -> bytes:
        """Return an answer with its evidence as one HTML page, or as PDF. Raises ApiError."""
        path = f"/v1/questions/{quote(question_id, safe='')}/report"
        response = self._http.get(path, params={"format": "pdf" if pdf else "html"})
        return response.content

    def rows(self, operation: Any, **filters: Any) -> Iterator[Any]:
        """Yield the rows of any list of the API, over all pages, such as rows(operations.shares.list_shares).

        filters: parameters of the operation. Raises ApiError.
        """
        for row in rows_of(operation, client=self.api, **filters):
            yield row

    def download(self, url: str) -> bytes:
        """Return what is behind a signed URL, such as a picture or a clip. Raises httpx.HTTPError."""
        response = self._storage.get(url)
        return response.raise_for_status().content

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._storage.close()

    def __enter__(self) -> Ava:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _held(timeout_s: float) -> str:
    return f"wait={max(1, min(_HELD_S, int(timeout_s)))}"


def _raise_for_problem(response: httpx.Response) -> None:
    if response.status_code == 304:
        raise NotModified("the resource has not changed")
    if response.status_code >= 400:
        response.read()
        raise error_of(response)
