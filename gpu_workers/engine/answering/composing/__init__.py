"""The text of an answer that asks for more than a sentence: a list, steps, a table, a count with places, a summary."""
