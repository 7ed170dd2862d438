"""The words that the prose of this project avoids, for the tests of documents and of code."""

from __future__ import annotations

import re

PRIVATE_WORDS = re.compile(r"\b(anew|beside|likeness|told|tells?|for want of|cancelled)\b", re.IGNORECASE)
"""Words used in a private sense; the usual words are report, show, again, next to, similarity, canceled."""
COLUMNS = 120
"""Maximum length of a line of prose."""
