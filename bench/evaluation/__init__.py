"""The quality of answers: the engine over captions or timed sentences of public question sets (`make eval`)."""
