"""The API's processes, as customers' programs reach them."""

from tests.api.conftest import _servers, server

__all__ = ("_servers", "server")
