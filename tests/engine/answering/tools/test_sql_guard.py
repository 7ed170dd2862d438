"""A SELECT that a model wrote reads the tables it was given, and nothing else can be done with it."""

from __future__ import annotations

import sqlite3
from itertools import islice
from pathlib import Path

import pytest

from bench.hostile_sql import content, copy_of, foreign, memory, statements
from gpu_workers.engine.answering.agent import sql_guard
from gpu_workers.engine.answering.agent.object_tools import TABLES
from gpu_workers.engine.answering.agent.sql_guard import SelectResult, SqlRefused, select

OBJECTS = 40


def run(statement: str, *, objects: int = OBJECTS) -> SelectResult:
    return select(memory(objects), statement, tables=TABLES)


def refusal(statement: str, *, objects: int = OBJECTS) -> str:
    with pytest.raises(SqlRefused) as refused:
        run(statement, objects=objects)
    return str(refused.value)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE objects",
        "DELETE FROM objects",
        "UPDATE objects SET category = 'x'",
        "INSERT INTO objects (object_id) VALUES (99)",
        "ATTACH 'other.db' AS other",
        "PRAGMA writable_schema = 1",
        "VACUUM INTO 'copy.db'",
        "BEGIN",
        "CREATE TEMP TABLE x (a)",
        "EXPLAIN SELECT * FROM objects",
        "REINDEX",
        "VALUES (1)",
        "",
        "--",
        "; SELECT 1",
        "'SELECT' 1",
    ],
)
def test_only_select_and_with_begin_a_statement(statement: str) -> None:
    assert refusal(statement) == "Begin with SELECT or WITH: nothing else is run here."


@pytest.mark.parametrize(
    "statement",
    [
        "WITH x AS (SELECT 1) DELETE FROM objects",
        "WITH x AS (SELECT 1) UPDATE objects SET category = 'x'",
        "WITH x AS (SELECT 1) INSERT INTO objects (object_id) SELECT * FROM x",
        "SELECT * FROM sqlite_master",
        "SELECT count(*) FROM sqlite_master",
        "SELECT count(*) FROM SQLITE_MASTER",
        "SELECT 1 FROM temp.sqlite_master",
        "WITH sqlite_master AS (SELECT 1) SELECT count(*) FROM main.sqlite_master",
        "WITH sqlite_temp_master AS (SELECT 1 AS sqlite_master) SELECT count(*) FROM sqlite_master",
        "SELECT * FROM pragma_table_list",
        "SELECT * FROM json_each('[1]')",
        "SELECT load_extension('x')",
        "SELECT zeroblob(9)",
        "SELECT randomblob(9)",
        "SELECT printf('%d', 1)",
        "SELECT json_extract('[1]', '$[0]')",
        "SELECT changes()",
        "SELECT current_timestamp",
        "SELECT 'a' GLOB 'a'",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r",
    ],
)
def test_what_the_authorizer_does_not_allow(statement: str) -> None:
    assert refusal(statement).startswith("Not allowed: ")


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("SELECT 1; SELECT 2", "Send one statement at a time."),
        ("SELECT ';'; DROP TABLE objects", "Send one statement at a time."),
        ("SELECT * FROM ekg_trackedobject", "no such table: ekg_trackedobject. The tables are appearances, "),
        ("SELECT name FROM objects", "SQLite says: no such column: name."),
        ("SELECT", "SQLite says: incomplete input."),
        ("SELECT object_id FROM objects WHERE category = 'person", "SQLite says: unrecognized token"),
        ("SELECT ?", "SQLite says: too many SQL variables."),
        ("SELECT :a", "SQLite says: too many SQL variables."),
        ("SELECT 1\0", "The statement contains a character that SQL has no use for."),
        ("SELECT '\ud800'", "The statement contains a character that SQL has no use for."),
        ("SELECT \ufeff1", "The statement contains a character that SQL has no use for."),
        ("SELECT " + "1" * 4_000, "The statement has 4007 characters; at most 4000 are read."),
        ("SELECT " + "1" * 1_000_000, "The statement has 1000007 characters; at most 4000 are read."),
        ("SELECT cast(x'ff' AS TEXT)", "SQLite says: Could not decode"),
        (" UNION ".join(["SELECT 1"] * 5), "SQLite says: too many terms in compound SELECT."),
        ("SELECT 'a' LIKE '" + "%" * 101 + "'", "SQLite says: LIKE or GLOB pattern too complex."),
        ("SELECT '" + "a" * 1_001 + "'", "The statement or one of its values is too large."),
    ],
)
def test_a_refusal_says_what_to_do(statement: str, advice: str) -> None:
    assert refusal(statement).startswith(advice)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM objects a, objects b, objects c, objects d WHERE a.category > b.category",
        "SELECT max(a.category || b.category) FROM objects a, objects b, objects c",
        "SELECT a.*, b.* FROM objects a, objects b, objects c ORDER BY c.first_ms, a.colour",
    ],
)
def test_what_takes_too_long_is_interrupted(statement: str) -> None:
    assert refusal(statement, objects=2_000).startswith("The statement took too long.")


def test_steps_are_counted_even_if_they_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_guard, "MAX_CPU_S", 1e9)
    crossed = "SELECT count(*) FROM objects a, objects b, objects c, objects d WHERE a.category > b.category"
    assert refusal(crossed, objects=200).startswith("The statement took too long.")


@pytest.mark.parametrize(
    "again",
    ["SELECT a FROM c{0}, c{0}", "SELECT a FROM c{0} UNION ALL SELECT a FROM c{0}", "SELECT a + a AS a FROM c{0}"],
)
def test_queries_that_double_each_other_are_refused_before_they_are_compiled(again: str) -> None:
    doubled = ", ".join(f"c{n} AS ({again.format(n - 1)})" for n in range(1, 19))
    statement = f"WITH c0 AS (SELECT object_id a FROM objects), {doubled} SELECT a FROM c18"
    assert refusal(statement).startswith("The statement nests too many queries")


def test_quotes_do_not_hide_the_names_of_queries() -> None:
    doubled = ", ".join(f"\"c {n}\" AS (SELECT 1 FROM [c {n - 1}], `c {n - 1}`, 'c {n - 1}')" for n in range(1, 12))
    assert refusal(f'WITH "c 0" AS (SELECT 1), {doubled} SELECT 1 FROM "c 11"').startswith("The statement nests")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT object_id FROM objects WHERE category = 'person' ORDER BY object_id LIMIT 2",
        "  select Object_ID from OBJECTS where category like 'PERSON' order by 1 limit 2 ;",
        '/* two */ SELECT object_id FROM main.objects WHERE category = "person" ORDER BY object_id LIMIT 2;--',
        "WITH p AS (SELECT object_id FROM objects WHERE category = 'person') SELECT * FROM p ORDER BY 1 LIMIT 2",
    ],
)
def test_a_select_gives_rows(statement: str) -> None:
    result = run(statement)
    assert result.rows == ((1,), (4,))
    assert (result.more, result.left_out) == (False, 0)


def test_tables_hold_spans_and_events() -> None:
    assert run("SELECT * FROM objects WHERE object_id = 2").rows == (
        (2, 1, "car", "red", 1_000, 7_000, 1_700, 2, 1, 1, 1.0),
    )
    assert run("SELECT * FROM appearances WHERE object_id = 2").rows == ((2, 1, 1_000, 1_700), (2, 1, 6_000, 7_000))
    assert run("SELECT * FROM object_events WHERE object_id = 2").rows == ((2, 2),)
    counted = "WITH p AS (SELECT object_id FROM objects WHERE confidence < 0.7) SELECT count(*) FROM p"
    assert run(counted).rows == ((20,),)


def test_rows_columns_and_cells_are_bounded() -> None:
    wide = run("SELECT *, *, '" + "é" * 121 + "' AS long FROM objects LIMIT -1", objects=60)
    assert (len(wide.rows), wide.more) == (50, True)
    assert (len(wide.columns), len(wide.rows[0]), wide.left_out) == (12, 12, 11)
    assert run("SELECT '" + "é" * 121 + "'").rows == (("é" * 119 + "…",),)
    assert run("SELECT '" + "é" * 120 + "'").rows == (("é" * 120,),)
    assert run("SELECT x'0102'").rows == (("2 bytes",),)
    assert not run("SELECT object_id FROM objects", objects=50).more


def test_a_connection_has_no_other_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    connection = memory(1)
    for statement in ("SELECT 1", "ATTACH 'x.db' AS x", "WITH x AS (SELECT 1) SELECT * FROM x"):
        try:
            select(connection, statement, tables=TABLES)
        except SqlRefused:
            continue
    with pytest.raises(sqlite3.Error):
        connection.execute("ATTACH 'x.db' AS x")
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        connection.execute("DELETE FROM objects")


def test_a_thousand_hostile_statements_change_nothing_and_see_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sql_guard, "MAX_CPU_S", 0.005)
    original = memory(OBJECTS).serialize()
    before = content(copy_of(original))
    answered = refused = 0
    for statement in islice(statements(), 1_000):
        connection = copy_of(original)
        try:
            rows = select(connection, statement, tables=TABLES).rows
            answered += bool(rows)
        except SqlRefused:
            refused += 1
            rows = ()
        assert content(connection) == before, statement
        assert not foreign(rows), statement
        connection.close()
    assert list(tmp_path.iterdir()) == []
    assert answered > 50, "some statements are harmless"
    assert refused > 500
