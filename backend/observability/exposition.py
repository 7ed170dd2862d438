"""Serves the metrics of a group of processes at an address of its own, which no customer reaches.

The processes of an API or of a worker share the folder PROMETHEUS_MULTIPROC_DIR: each writes its numbers into files
there, and whichever process answers adds them up. So the children of a pool need no port.
"""

from __future__ import annotations

import os
import threading
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.conf import settings
from prometheus_client import REGISTRY, CollectorRegistry, make_wsgi_app
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector


class _MetricsServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    # Each process of the API listens: any of them answers for all.
    allow_reuse_port = True

    def server_bind(self) -> None:
        # WSGIServer would look up the host's name, which may take seconds.
        super(WSGIServer, self).server_bind()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Write no line for a scrape."""


def serve(*collectors: Collector) -> _MetricsServer | None:
    """Answer /metrics from a thread of this process, at AVA_METRICS_ADDRESS; without an address do nothing.

    collectors: make further metrics when they are asked, such as those that are read from the database.
    """
    if settings.METRICS_ADDRESS is None:
        return None
    host, port = settings.METRICS_ADDRESS
    server = make_server(host, port, make_wsgi_app(registry(*collectors)), _MetricsServer, _QuietHandler)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    # A child that outlives its parent must not hold the port.
    os.register_at_fork(after_in_child=server.socket.close)
    return server


def registry(*collectors: Collector) -> CollectorRegistry:
    """Return a registry of what the processes of this group have counted, and of these collectors."""
    shown = CollectorRegistry()
    if settings.METRICS_FOLDER:
        MultiProcessCollector(shown, path=settings.METRICS_FOLDER)  # type: ignore[no-untyped-call]
    else:
        shown.register(REGISTRY)
    for collector in collectors:
        shown.register(collector)
    return shown
