"""The API process's entry point: `uvicorn backend.asgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
_django = get_wsgi_application()

from backend.api.middleware import WATCH  # noqa: E402 - after django.setup()
from backend.api.server.serving import Server  # noqa: E402

WATCH.start()
application = Server(_django)
