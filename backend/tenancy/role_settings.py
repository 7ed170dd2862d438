"""Settings of PostgreSQL for the sessions of each role, written by `manage.py provision`.

They stand on the roles and not in the clients, because a pooler gives one session to many clients, and because a client
that hangs cannot be trusted to bound itself.
"""

from __future__ import annotations

from collections.abc import Mapping

SEARCH_PATH = "public, ag_catalog"
# PostgreSQL's own end of a connection: a host that is gone without a word is noticed after 30 + 3 x 10 s.
_KEEPALIVES = {"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"}

ROLE_SETTINGS: Mapping[str, Mapping[str, str]] = {
    # A request or a step of a job. The longest statement removes a version of a video of 48 h; the longest pause in an
    # open transaction is a call of object storage.
    "app_rw": {
        "lock_timeout": "10s",
        "statement_timeout": "5min",
        "idle_in_transaction_session_timeout": "2min",
    },
    # Claims, key look-ups, sweeps: short statements, and locks are skipped.
    "app_dispatch": {
        "lock_timeout": "5s",
        "statement_timeout": "1min",
        "idle_in_transaction_session_timeout": "30s",
    },
    # Pages of the console.
    "app_admin_ro": {
        "lock_timeout": "5s",
        "statement_timeout": "1min",
        "idle_in_transaction_session_timeout": "1min",
    },
    # Signing people in.
    "app_people": {
        "lock_timeout": "5s",
        "statement_timeout": "30s",
        "idle_in_transaction_session_timeout": "30s",
    },
    "app_console": {
        "lock_timeout": "5s",
        "statement_timeout": "30s",
        "idle_in_transaction_session_timeout": "30s",
    },
    # A migration that cannot get its lock fails and is run again, instead of holding up every query behind it.
    "app_owner": {"lock_timeout": "30s"},
}


def settings_of(role: str) -> dict[str, str]:
    """Return all settings of a role by their names."""
    return {"search_path": SEARCH_PATH, **_KEEPALIVES, **ROLE_SETTINGS[role]}
