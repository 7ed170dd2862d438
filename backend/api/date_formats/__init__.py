"""How Django writes dates, by language."""
