"""A synthetic ten-hour index with known times, clocks, topics, counts, speech and writing, and questions about it."""
