"""The process that sends webhooks."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from backend.observability import exposition, tracing
from backend.tenancy import guard
from workers.liveness import Passes, state_folder
from workers.webhooks.webhook_sender import Sender

logger = logging.getLogger("ava.webhooks")


class Command(BaseCommand):
    help = "Send the webhooks of all tenants; runs until SIGTERM."

    def handle(self, *args: Any, **options: Any) -> None:
        guard.demand()
        guard.Watch().start()
        asyncio.run(self._run())

    async def _run(self) -> None:
        worker = f"{socket.gethostname()}:{os.getpid()}"
        sender = Sender(worker=worker, sockets=settings.WEBHOOK_SOCKETS, passes=Passes(state_folder()))
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, sender.stop)
        tracing.start("ava-webhooks")
        exposition.serve()
        logger.info("sender ready")
        await sender.run()
        tracing.flush()
