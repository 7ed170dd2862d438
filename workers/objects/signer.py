"""The signer: the process that has the key of the bucket and gives presigned URLs to jobs whose lease is held.

A request is POST / with JSON: tenant, job, token (of the lease), operation, key, and what the operation needs. The
reply to get and part has a URL for exactly that; put has a list of keys, and its reply a URL for each. The other
operations have no content and are done here. ping needs no lease. Every request carries the secret of the sender's
class, and gets objects of that class's jobs alone.
"""

from __future__ import annotations

import hmac
import json
import logging
import socket
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections

from backend.library import storage as objects
from backend.library.storage import ObjectStorage, StorageAway, StorageError, StoredPart, source_prefix
from backend.observability.metrics import SIGNED
from backend.tenancy.context import tenant_scope
from workers.objects.object_rights import leased_job, may, may_put

logger = logging.getLogger("ava.signer")

SHORT = timedelta(minutes=2)
"""Lifetime of a URL for one picture or part."""
SPARE_SECONDS = 120
"""A process ends itself about 100 s after the time limit of its task, so no job outlives the URL of its source."""
LONGEST_REQUEST = 2 * 1024**2
IDLE_SECONDS = 60.0
_CONTENT_TYPES = frozenset({"image/jpeg", "text/vtt", "video/mp4"})


class Refusal(Exception):
    """code: lease_lost or not_allowed."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def answer(request: dict[str, Any], *, queue: str) -> dict[str, Any]:
    """Do or sign what a job asks for. queue: class of jobs of the worker that sent the request.

    Raises Refusal, StorageError, DatabaseError, KeyError, TypeError, ValueError.
    """
    bucket, operation = ObjectStorage(), str(request["operation"])
    if operation == "ping":
        bucket.ping()
        return {}
    key = [str(key) for key in request["key"]] if operation == "put" else str(request["key"])
    with tenant_scope(UUID(request["tenant"])):
        job = leased_job(UUID(request["job"]), int(request["token"]))
        if job is None:
            raise Refusal("lease_lost")
        allowed = may_put(job, key) if isinstance(key, list) else may(job, operation, key)
        if job.queue != queue or not allowed:
            logger.warning("a worker of %s may not %s this object for job %s (%s)", queue, operation, job.id, job.kind)
            raise Refusal("not_allowed")
    return _put(bucket, key, request) if isinstance(key, list) else _OPERATIONS[operation](bucket, key, request)


def _get(bucket: ObjectStorage, key: str, request: dict[str, Any]) -> dict[str, Any]:
    whole_job = timedelta(seconds=settings.TASK_SECONDS + SPARE_SECONDS)
    return {"url": bucket.presign_get(key, expires=SHORT if key.endswith(".jpg") else whole_job)}


def _put(bucket: ObjectStorage, keys: list[str], request: dict[str, Any]) -> dict[str, Any]:
    content_type = str(request["content_type"])
    if content_type not in _CONTENT_TYPES:
        raise Refusal("not_allowed")
    sizes = zip(keys, request["sizes"], strict=True)
    return {
        "urls": {
            key: bucket.presign_put(key, size_bytes=int(size), content_type=content_type, expires=SHORT)
            for key, size in sizes
        }
    }


def _part(bucket: ObjectStorage, key: str, request: dict[str, Any]) -> dict[str, Any]:
    part = bucket.presign_part(key, str(request["upload"]), int(request["number"]), size_bytes=int(request["size"]))
    return {"url": part.url}


def _head(bucket: ObjectStorage, key: str, request: dict[str, Any]) -> dict[str, Any]:
    head = bucket.head(key)
    return {"size": head.size_bytes, "etag": head.etag}


def _begin(bucket: ObjectStorage, key: str, request: dict[str, Any]) -> dict[str, Any]:
    return {"upload": bucket.create_upload(key, content_type=objects.PLAIN_BYTES, part_checksums=False)}


def _complete(bucket: ObjectStorage, key: str, request: dict[str, Any]) -> dict[str, Any]:
    parts = [StoredPart(int(number), str(etag), int(size)) for number, etag, size in request["parts"]]
    bucket.complete(key, str(request["upload"]), parts)
    return {}


def _abort(bucket: ObjectStorage, key: str, request: dict[str, Any]) -> dict[str, Any]:
    bucket.abort(key, str(request["upload"]))
    return {}


def _clear(bucket: ObjectStorage, key: str, request: dict[str, Any]) -> dict[str, Any]:
    return {"count": bucket.abort_prefix(source_prefix(key))}


def _delete(bucket: ObjectStorage, key: str, request: dict[str, Any]) -> dict[str, Any]:
    bucket.delete(key)
    return {}


def _erase(bucket: ObjectStorage, key: str, request: dict[str, Any]) -> dict[str, Any]:
    return {"count": bucket.erase(source_prefix(key))}


_OPERATIONS = {
    "get": _get,
    "part": _part,
    "head": _head,
    "begin": _begin,
    "complete": _complete,
    "abort": _abort,
    "clear": _clear,
    "delete": _delete,
    "erase": _erase,
}
_COUNTED = {*_OPERATIONS, "put", "ping"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer the health check: the process accepts connections."""
        self._reply(200, {})

    def do_POST(self) -> None:
        given = self.headers.get("authorization", "").encode()
        length = self.headers.get("content-length", "")
        queue = _class_of(given)
        if queue is None:
            self.close_connection = True
            self._reply(401, {"error": "unauthorized"})
            return
        if not length.isdigit() or int(length) > LONGEST_REQUEST:
            self.close_connection = True
            self._reply(400, {"error": "malformed"})
            return
        status, body = _outcome(request := self._read(int(length)), queue)
        operation = str(request.get("operation", ""))
        SIGNED.labels(operation if operation in _COUNTED else "other", body.get("error", "done")).inc()
        self._reply(status, body)

    def _read(self, length: int) -> dict[str, Any]:
        """Return the request; an empty one, which is malformed, for what is no JSON object."""
        try:
            request = json.loads(self.rfile.read(length))
        except ValueError:
            return {}
        return request if isinstance(request, dict) else {}

    def _reply(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: a request line says nothing of use."""


def _class_of(given: bytes) -> str | None:
    """Return the class of jobs whose secret this header carries, None for a secret of no class."""
    # All are compared, so the time shows nothing of the secrets.
    equal = {
        queue: hmac.compare_digest(given, f"Bearer {secret}".encode()) for queue, secret in settings.SIGNER_KEYS.items()
    }
    return next((queue for queue, same in equal.items() if same), None)


def _outcome(request: dict[str, Any], queue: str) -> tuple[int, dict[str, Any]]:
    close_old_connections()
    try:
        return 200, answer(request, queue=queue)
    except Refusal as refusal:
        return 409 if refusal.code == "lease_lost" else 403, {"error": refusal.code}
    except StorageError as error:
        status = 503 if isinstance(error, StorageAway) else 422
        return status, {"error": type(error).__name__, "message": str(error)}
    except (KeyError, TypeError, ValueError):
        return 400, {"error": "malformed"}
    except DatabaseError:
        logger.exception("the database did not answer")
        return 503, {"error": "StorageAway", "message": "the signer's database did not answer"}


class Signer(ThreadingHTTPServer):
    """The server. A thread and a database connection per connection of a worker."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int) -> None:
        super().__init__((host, port), _Handler)

    def process_request_thread(self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            connections.close_all()
