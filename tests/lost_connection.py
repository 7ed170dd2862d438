"""A connection to the database that ends in the middle of a transaction, behind the pooler."""

from __future__ import annotations

import os
import time

import psycopg
from django.db import connections, transaction


def lose_connection(alias: str) -> None:
    """Begin a transaction, end its session in PostgreSQL and commit: raises what the database's client makes of it."""
    with transaction.atomic(using=alias):
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            session = cursor.fetchone()
        with psycopg.connect(os.environ["DATABASE_SUPERUSER_URL"], autocommit=True) as server:
            server.execute("SELECT pg_terminate_backend(%s, 10000)", session)
        # The pooler adds an answer of its own to PostgreSQL's.
        time.sleep(1.0)
