"""The report of an answer: one page that shows to somebody without an account what the answer rests on."""
