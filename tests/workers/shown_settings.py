"""The real Celery application, which writes every setting that it has read into the file SHOWN when it is ready."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

# First, because it sets Django up.
from workers.app import app  # isort: skip
from celery.signals import worker_ready
from django.conf import settings

__all__ = ["app", "show"]


@worker_ready.connect
def show(**_: Any) -> None:
    read: Any = settings
    values = {name: str(getattr(read._wrapped, name)) for name in dir(read._wrapped) if name.isupper()}
    shown = Path(os.environ["SHOWN"])
    shown.with_suffix(".part").write_text(json.dumps(values))
    shown.with_suffix(".part").rename(shown)
