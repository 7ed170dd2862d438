"""Django's PostgreSQL backend for tables whose primary key is (tenant_id, id), of which Django knows id alone."""

from __future__ import annotations

from django.db.backends.postgresql.base import DatabaseWrapper as PostgresWrapper
from django.db.backends.postgresql.features import DatabaseFeatures as PostgresFeatures


class DatabaseFeatures(PostgresFeatures):
    # Grouped by id alone, a row's other columns would not be determined.
    allows_group_by_selected_pks = False


class DatabaseWrapper(PostgresWrapper):
    features_class = DatabaseFeatures
