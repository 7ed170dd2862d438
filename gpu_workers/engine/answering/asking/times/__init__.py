"""The time that a question names: its words by rules (grammar, with a table of words for each language), its meaning by
the recordings in scope (resolving), its anchor by retrieval (anchors)."""
