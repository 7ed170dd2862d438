"""Django's settings for the type checker, which loads them without a running stack; nothing connects to the URLs."""

import os

_PLACEHOLDERS = {
    "AVA_SECRET_KEY": "typecheck",
    "AVA_KEY_PEPPERS": "1:typecheck",
    "AVA_ENCRYPTION_KEYS": "1:typecheck",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "S3_BUCKET": "typecheck",
    **{
        f"DATABASE{alias}_URL": "postgresql://nobody@127.0.0.1:1/typecheck"
        for alias in ("", "_OWNER", "_DISPATCH", "_CONSOLE")
    },
}
for _name, _value in _PLACEHOLDERS.items():
    os.environ.setdefault(_name, _value)

from backend.settings import *  # noqa: E402, F403 - after the environment is complete
