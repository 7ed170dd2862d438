"""How good the answers are: the engine over captions or timed sentences of public question sets (`make eval`)."""
