"""Client of AVA Cloud.

    from ava_cloud import Ava

    with Ava() as ava:  # AVA_API_KEY and AVA_BASE_URL
        video = ava.videos.upload("gate.mp4")
        ava.videos.wait_ready(video.id)
        print(ava.ask("Who opens the gate?", video_ids=[video.id]).answer)

`AsyncAva` is the same for asyncio. `ava_cloud.models` has the types of requests and replies, `ava_cloud.operations`
every operation of the API, `ava_cloud.errors` what can go wrong, and `ava_cloud.webhooks` reads deliveries.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ava_cloud import errors, webhooks
    from ava_cloud._async.client import AsyncAva
    from ava_cloud._events import StreamEvent
    from ava_cloud._generated import api as operations
    from ava_cloud._generated import models
    from ava_cloud._retry import Retries
    from ava_cloud._sync.client import Ava
    from ava_cloud.errors import ApiError, AvaError

__all__ = (
    "ApiError",
    "AsyncAva",
    "Ava",
    "AvaError",
    "Retries",
    "StreamEvent",
    "errors",
    "models",
    "operations",
    "webhooks",
)

_WHERE = {
    "ApiError": "errors",
    "AsyncAva": "_async.client",
    "Ava": "_sync.client",
    "AvaError": "errors",
    "Retries": "_retry",
    "StreamEvent": "_events",
    "errors": "errors",
    "models": "_generated.models",
    "operations": "_generated.api",
    "webhooks": "webhooks",
}


def __getattr__(name: str) -> Any:
    """Import a part when it is first used: all models together take half a second."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_WHERE[name]}")
    return getattr(module, name, module)
