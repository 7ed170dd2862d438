# ruff: noqa: S608 - statements are made of parts on purpose
"""Hostile SQL of a seeded grammar, for the guard of SELECTs that a model writes, and what it may never bring about."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator

from bench.figures import Figures, at_least, at_most
from gpu_workers.engine.answering.agent.object_tools import TABLES, ScopeObject, object_tables
from gpu_workers.engine.answering.agent.sql_guard import SqlRefused, closed_connection, select
from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.ports import EventPlace, StoredObject

STATEMENTS = 1_000
OBJECTS = 2_000
FOREIGN = ("create table", "create index", "objects_by_id", "sqlite_", "temp_store", "3.", "/", "main", "ssl")
"""Texts that none of the tables holds: of SQLite's own tables, of its version, of settings and of files."""

_WRITES = (
    "DROP TABLE {table}", "DELETE FROM {table}", "UPDATE {table} SET object_id = 1", "ALTER TABLE {table} RENAME TO x",
    "INSERT INTO {table} (object_id) VALUES (9)", "REPLACE INTO {table} (object_id) VALUES (9)",
    "CREATE TABLE x AS SELECT * FROM {table}", "CREATE TEMP TABLE x (a)", "CREATE VIEW v AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON {table} BEGIN SELECT 1; END", "ATTACH '{path}' AS other", "DETACH main",
    "VACUUM INTO '{path}'", "VACUUM", "PRAGMA {pragma}", "BEGIN", "COMMIT", "SAVEPOINT s", "REINDEX", "ANALYZE",
    "EXPLAIN SELECT * FROM {table}", "EXPLAIN QUERY PLAN SELECT 1", "VALUES (1), (2)",
    "WITH x AS (SELECT 1) DELETE FROM {table}", "WITH x AS (SELECT 1) UPDATE {table} SET object_id = 2",
    "WITH x AS (SELECT 7) INSERT INTO {table} (object_id) SELECT * FROM x",
)  # fmt: skip
_PRAGMAS = ("writable_schema = 1", "database_list", "temp_store = 0", "journal_mode = WAL", "user_version = 7")
_PLACES = (
    "sqlite_master", "main.sqlite_master", "temp.sqlite_master", "sqlite_schema", "sqlite_temp_schema", "sqlite_stat1",
    "pragma_table_list", "pragma_database_list", "pragma_function_list", "pragma_table_info('objects')",
    "json_each('[1]')", "json_tree('[1]')", "dbstat", "sqlite_stmt", "bytecode('SELECT 1')", "tables_used('SELECT 1')",
    "generate_series(1, 9)", "fsdir('/')", "pg_catalog.pg_tables", "ekg_trackedobject", "information_schema.tables",
)  # fmt: skip
_CALLS = (
    "load_extension('{path}')", "readfile('/etc/passwd')", "writefile('{path}', 'x')", "edit('x')", "changes()",
    "zeroblob(99999999)", "randomblob(99999999)", "printf('%99999d', 1)", "format('%99999d', 1)", "sqlite_version()",
    "json_extract('[1]', '$[0]')", "sqlite_source_id()", "sqlite_compileoption_get(1)", "random()", "date('now')",
    "replace('a', 'a', 'aa')", "char(47)", "quote('a')", "unicode('a')", "last_insert_rowid()", "total_changes()",
    "fts3_tokenizer('x')", "sqlite_rename_table(1, 2, 3, 4, 5, 6, 7)", "pg_sleep(9)", "current_setting('x')",
    "set_config('app.tenant_id', '1', true)", "query_to_xml('SELECT 1', true, true, '')", "current_timestamp",
    "row_number() OVER ()", "'a' GLOB 'a'", "'a' -> '$'", "'a' REGEXP 'a'", "'a' MATCH 'a'", "hex('a')",
)  # fmt: skip


def statements(seed: int = 0) -> Iterator[str]:
    """Yield statements without end, the same ones for a seed. About one in ten is harmless."""
    choices = random.Random(seed)
    while True:
        yield _disguised(choices, choices.choice(_KINDS)(choices))


def _write(choices: random.Random) -> str:
    form = choices.choice(_WRITES)
    return form.format(table=choices.choice([*TABLES]), path=_path(choices), pragma=choices.choice(_PRAGMAS))


def _foreign(choices: random.Random) -> str:
    place = choices.choice(_PLACES)
    what = choices.choice(("*", "count(*)", "1", "max(1)"))
    form = choices.choice(
        (
            "SELECT {what} FROM {place}",
            "SELECT object_id FROM objects UNION SELECT {what} FROM {place}",
            "SELECT (SELECT {what} FROM {place} LIMIT 1)",
            "WITH x AS (SELECT {what} FROM {place}) SELECT * FROM x",
            "SELECT o.object_id, p.* FROM objects o, {place} p",
            "SELECT object_id FROM objects WHERE EXISTS (SELECT {what} FROM {place})",
            "WITH sqlite_master AS (SELECT 1) SELECT {what} FROM main.sqlite_master",
        )
    )
    return form.format(what=what, place=place)


def _call(choices: random.Random) -> str:
    call = choices.choice(_CALLS).format(path=_path(choices))
    return choices.choice(("SELECT {}", "SELECT object_id FROM objects WHERE {}", "SELECT 1 ORDER BY {}")).format(call)


def _slow(choices: random.Random) -> str:
    count = choices.randint(2, 6)
    tables = [choices.choice([*TABLES]) for _ in range(count)]
    crossed = ", ".join(f"{table} t{n}" for n, table in enumerate(tables))
    long = "a" * choices.randint(1, 1_200)
    pattern = "%a" * choices.randint(1, 60) + "%b"
    return choices.choice(
        (
            f"SELECT count(*) FROM {crossed} WHERE t0.object_id <> t1.object_id",
            f"SELECT group_concat(t0.object_id || '{long}') FROM {crossed}",
            f"SELECT t0.*, '{long}' FROM {crossed} ORDER BY t1.object_id, 2",
            f"SELECT DISTINCT t0.object_id || '{long}' || t1.object_id FROM {crossed}",
            f"SELECT count(*) FROM {crossed} WHERE (t0.object_id || '{long}') LIKE '{pattern}'",
            f"SELECT max(upper(lower('{long}' || t1.object_id))) FROM {crossed}",
            f"SELECT t0.object_id FROM {crossed} GROUP BY t0.object_id || t1.object_id HAVING count(*) > 1e9",
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        )
    )


def _large(choices: random.Random) -> str:
    levels, width = choices.randint(2, 24), choices.randint(2, 12)
    copies = [f"c{n} AS (SELECT 1 a FROM {', '.join([f'c{n - 1}'] * width)})" for n in range(1, levels)]
    sums = [f"c{n} AS (SELECT {' + '.join(['a'] * width)} a FROM c{n - 1})" for n in range(1, levels)]
    unions = [f"c{n} AS ({' UNION ALL '.join([f'SELECT a FROM c{n - 1}'] * width)})" for n in range(1, levels)]
    chain = choices.choice((copies, sums, unions))
    return choices.choice(
        (
            f"WITH c0 AS (SELECT object_id a FROM objects), {', '.join(chain)} SELECT a FROM c{levels - 1}",
            f"SELECT {'(' * 40 * width}1{')' * 40 * width}",
            f"SELECT {' + '.join(['object_id'] * 30 * width)} FROM objects",
            f"SELECT * FROM {', '.join(['objects'] * 8 * width)}",
            f"SELECT {', '.join(['*'] * 40 * width)} FROM objects",
            f"SELECT 1 WHERE 1 IN ({', '.join(['1'] * 200 * width)})",
            " UNION ".join(["SELECT 1"] * 4 * width),
            "SELECT * FROM " + "(SELECT * FROM " * 4 * width + "objects" + ")" * 4 * width,
        )
    )


def _harmless(choices: random.Random) -> str:
    return choices.choice(
        (
            "SELECT object_id FROM objects WHERE category = 'person'",
            "SELECT o.object_id, e.event FROM objects o JOIN object_events e ON e.object_id = o.object_id LIMIT 5",
            "WITH p AS (SELECT object_id FROM objects WHERE confidence < 0.7) SELECT count(*) FROM p",
            "SELECT category, count(*), sum(visible_ms) FROM objects GROUP BY category ORDER BY 2 DESC",
        )
    )


_KINDS: tuple[Callable[[random.Random], str], ...] = (
    _write, _write, _foreign, _foreign, _call, _call, _slow, _slow, _large, _large, _harmless,
)  # fmt: skip


def _disguised(choices: random.Random, statement: str) -> str:
    return choices.choice(
        (
            statement,
            statement,
            f"{statement};",
            f"{statement};--",
            f"  \n\t{statement}",
            f"/* count */ {statement}",
            f"-- '\n{statement}",
            f"SELECT 1; {statement}",
            f"SELECT ';' ; {statement}",
            statement.swapcase(),
            f"{statement} LIMIT -1",
            f"{statement} \ufeff",
            f"{statement}\0",
            statement.replace(" ", "/**/"),
            statement.replace("objects", '"objects"'),
            statement.replace("'", "‘"),
            f"SELECT object_id FROM objects WHERE category = '{statement}'",
        )
    )


def _path(choices: random.Random) -> str:
    return choices.choice(("hostile.db", "file:hostile.db?mode=rwc", ":memory:", "/dev/null"))


def memory(objects: int) -> sqlite3.Connection:
    """Return the tables of a video in which that many objects come and go, one per second."""
    video = stable_id("video", "hostile")
    shown = []
    for n in range(objects):
        spans = (Span(1_000 * n, 1_000 * n + 700), Span(1_000 * n + 5_000, 1_000 * n + 6_000))
        category = ("person", "car", "dog")[n % 3]
        thing = StoredObject(stable_id("object", n), video, n, category, "red", spans, 1, 1, 1.0 if n % 2 else 0.5)
        place = EventPlace(stable_id("event", n), video, n, Span(1_000 * n, 1_000 * n + 1_000))
        shown.append(ScopeObject(n + 1, 1, thing, ((n + 1, place),)))
    return object_tables(shown)


def copy_of(original: bytes) -> sqlite3.Connection:
    """Return a new database in memory with the content of a serialized one."""
    connection = closed_connection("")
    connection.deserialize(original)
    return connection


def content(connection: sqlite3.Connection) -> tuple[bytes, list[object]]:
    """Return everything in the database, with all guards off: its pages, its temporary tables, and its files."""
    connection.set_authorizer(None)
    connection.set_progress_handler(None, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000_000)
    outside = [connection.execute("SELECT name FROM sqlite_temp_master"), connection.execute("PRAGMA database_list")]
    return connection.serialize(), [row for rows in outside for row in rows]


def sql_guard() -> Figures:
    original = memory(OBJECTS).serialize()
    before = content(copy_of(original))
    writes, names, answered, worst_s = 0, 0, 0, 0.0
    source = statements()
    for _ in range(STATEMENTS):
        connection = copy_of(original)
        statement = next(source)
        began = time.thread_time()
        try:
            rows = select(connection, statement, tables=TABLES).rows
        except SqlRefused:
            rows = ()
        worst_s = max(worst_s, time.thread_time() - began)
        answered += bool(rows)
        names += foreign(rows)
        writes += content(connection) != before
        connection.close()
    of = f"{STATEMENTS:,} hostile statements over {OBJECTS:,} objects"
    yield at_most("sql_guard_writes", writes, 0, f"statements that changed the database, of {of}")
    yield at_most("sql_guard_foreign_names", names, 0, f"results that show another table, setting or file, of {of}")
    yield at_most("sql_guard_worst_ms", worst_s * 1000, 100, f"processor time of the slowest of {of}")
    yield at_least("sql_guard_answered", answered, 50, f"statements that were harmless and got their rows, of {of}")


def foreign(rows: tuple[tuple[object, ...], ...]) -> bool:
    """Whether a cell holds a text that comes from none of the tables. A statement's own words may stand in a cell."""
    texts = [cell.lower() for row in rows for cell in row if isinstance(cell, str)]
    return any(name in text for name in FOREIGN for text in texts)
