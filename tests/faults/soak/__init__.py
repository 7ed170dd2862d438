"""Hours of mixed load on a whole service, to see what grows."""
