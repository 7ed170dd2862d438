"""Runs a SELECT that a model wrote against an in-memory SQLite database, and nothing else (ADR 18).

The database holds copies of rows that the question may read anyway. The guards keep a statement from changing them,
from reaching anything outside the database, and from taking more time or memory than a question may cost.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

MAX_SQL = 4_000
"""Maximum number of characters of a statement."""

MAX_ROWS, MAX_COLUMNS, MAX_CELL = 50, 12, 120
"""Maximum number of rows and columns of a result, and of characters of a cell."""

MAX_VALUE = 1_000
"""Maximum number of bytes of a value or a row inside SQLite. It bounds the time of one step, because LIKE reads a whole
value in a step, and the memory of a sort."""

MAX_STEPS = 2_000_000
"""Maximum number of steps of SQLite's virtual machine."""

MAX_CPU_S = 0.05
"""Maximum time of the processor for one statement. Steps alone do not bound it: a step that sorts or compares long
values is slow."""

MAX_COMPILED = 1_000
"""Maximum number of questions that SQLite asks the authorizer while it compiles a statement."""

MAX_EXPANDED = 100_000
"""Maximum size that a statement may reach when SQLite puts the inner queries into the outer ones. SQLite does so before
it asks the authorizer, a copy for each mention of a name: a statement of 1 kB with 18 WITH queries, each of which
mentions the one before twice, took 0.4 s and 150 MB (SQLite 3.40)."""

FUNCTIONS = frozenset(
    {
        "abs", "avg", "coalesce", "count", "group_concat", "ifnull", "length", "like", "lower", "max", "min", "nullif",
        "round", "substr", "sum", "upper",
    }
)  # fmt: skip
"""The functions that a statement may call. None reads a file, runs SQL or builds a value longer than its arguments."""

_STEPS_BETWEEN_CHECKS = 1_000

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * MAX_SQL,
    sqlite3.SQLITE_LIMIT_COLUMN: 64,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 4,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 5_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_TOKEN = re.compile(
    r"""(?P<space>[ \t\n\v\f\r]+|--[^\n]*|/\*.*?(?:\*/|\Z))
      |(?P<name>[A-Za-z_\x80-\U0010ffff][\w$\x80-\U0010ffff]*
               |"(?:[^"]|"")*"|'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^\]]*(?:\]|\Z))
      |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
"""A token of SQL. A string is a name: SQLite reads 'objects' as one where a table is expected."""

_STRANGE = re.compile("[\0\ufeff\ud800-\udfff]")
"""Characters that end a statement, that SQLite skips like a space, or that cannot be encoded."""

_RESERVED = ("sqlite_", "pragma_")

_KEYWORDS = frozenset(
    {
        "all", "and", "as", "asc", "between", "by", "case", "cross", "desc", "distinct", "else", "end", "exists",
        "from", "group", "having", "in", "inner", "is", "join", "left", "like", "limit", "not", "null", "offset", "on",
        "or", "order", "outer", "select", "then", "union", "using", "when", "where", "with",
    }
)  # fmt: skip


class SqlRefused(Exception):
    """A statement did not run, or did not end. The message says what to do instead."""


@dataclass(frozen=True, slots=True)
class SelectResult:
    """columns: their names, at most MAX_COLUMNS. rows: at most MAX_ROWS, text cells cut to MAX_CELL characters.

    more: whether there are further rows. left_out: number of columns that are not shown.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    more: bool
    left_out: int


def closed_connection(script: str) -> sqlite3.Connection:
    """Return a new in-memory database with the tables of script, to be filled before select() locks it."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript("PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;" + script)
    return connection


def select(connection: sqlite3.Connection, statement: str, *, tables: Collection[str]) -> SelectResult:
    """Run one SELECT over tables and return its first rows. The connection serves this one statement.

    Raises SqlRefused, whatever the statement is; no other exception leaves.
    """
    _lock(connection, frozenset(tables), _defined(_checked_words(statement)))
    try:
        cursor = connection.execute(statement)
        rows = cursor.fetchmany(MAX_ROWS + 1)
    except (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError, OverflowError) as error:
        raise SqlRefused(_advice(error, tables)) from None
    names = [str(column[0]) for column in cursor.description or ()]
    return SelectResult(
        columns=tuple(name[:MAX_CELL] for name in names[:MAX_COLUMNS]),
        rows=tuple(tuple(_cell(value) for value in row[:MAX_COLUMNS]) for row in rows[:MAX_ROWS]),
        more=len(rows) > MAX_ROWS,
        left_out=max(0, len(names) - MAX_COLUMNS),
    )


def _checked_words(statement: str) -> list[str]:
    """Return the names and keywords of the statement, in lower case.

    Refuses what the authorizer is not asked about (EXPLAIN, REINDEX, VALUES), or too late (nested queries).
    """
    if len(statement) > MAX_SQL:
        raise SqlRefused(f"The statement has {len(statement)} characters; at most {MAX_SQL} are read.")
    if _STRANGE.search(statement):
        raise SqlRefused("The statement contains a character that SQL has no use for.")
    tokens = [match for match in _TOKEN.finditer(statement) if match.lastgroup != "space"]
    words = [token.group().lower() for token in tokens if token.lastgroup == "name"]
    if not tokens or not words or tokens[0].group().lower() != words[0] or words[0] not in ("select", "with"):
        raise SqlRefused("Begin with SELECT or WITH: nothing else is run here.")
    if _expanded(words) > MAX_EXPANDED:
        raise SqlRefused("The statement nests too many queries that mention each other. Write one SELECT with a join.")
    return words


def _expanded(words: Sequence[str]) -> float:
    """Return an upper bound of the size of the statement with all inner queries put in, in mentions of names.

    At worst each SELECT reads the next one, and each mention in it becomes a copy of that one. With the mentions spread
    evenly the product is largest. One more level is for the aliases of a SELECT, which its own WHERE may mention.
    """
    levels = 1 + words.count("select")
    names = sum(word not in _KEYWORDS for word in words)
    return float((names / levels) ** levels)


def _defined(words: Sequence[str]) -> frozenset[str]:
    """Return the names before an AS, among which are those of WITH queries, without those that SQLite reserves."""
    return frozenset(name for name, after in pairwise(words) if after == "as" and not name.startswith(_RESERVED))


def _lock(connection: sqlite3.Connection, tables: frozenset[str], defined: frozenset[str]) -> None:
    asked = 0

    def authorize(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
        nonlocal asked
        asked += 1
        if asked > MAX_COMPILED:
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ and first is not None:
            # COUNT(*) over a WITH query asks for its name, without a column and without a database.
            counted = not second and database is None and first.lower() in defined
            known = first.lower() in tables and database in ("main", None)
            return sqlite3.SQLITE_OK if known or counted else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION and second in FUNCTIONS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    steps = 0
    began = time.thread_time()

    def goes_on_too_long() -> bool:
        nonlocal steps
        steps += _STEPS_BETWEEN_CHECKS
        return steps > MAX_STEPS or time.thread_time() - began > MAX_CPU_S

    for limit, most in _LIMITS.items():
        connection.setlimit(limit, most)
    connection.set_progress_handler(goes_on_too_long, _STEPS_BETWEEN_CHECKS)
    connection.set_authorizer(authorize)


def _advice(error: Exception, tables: Collection[str]) -> str:
    text = str(error)
    names = ", ".join(sorted(tables))
    if "interrupted" in text:
        return "The statement took too long. Join fewer tables, or name what you look for in WHERE."
    if "one statement at a time" in text:
        return "Send one statement at a time."
    if any(word in text for word in ("prohibited", "not authorized", "authorizer", "constructor failed")):
        return (
            f"Not allowed: {text}. Only SELECT over {names} with the functions {', '.join(sorted(FUNCTIONS))} is run."
        )
    if "too big" in text or isinstance(error, MemoryError):
        return "The statement or one of its values is too large. Select rows instead of joining them into one text."
    if "no such table" in text:
        return f"{text}. The tables are {names}."
    return f"SQLite says: {text}."


def _cell(value: object) -> object:
    if isinstance(value, str):
        return value if len(value) <= MAX_CELL else value[: MAX_CELL - 1] + "…"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return value
