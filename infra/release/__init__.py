"""A release: its version, the migrations that it froze, and a database of its time that later code upgrades."""
