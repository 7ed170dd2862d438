"""What a question asks for, read from its own words alone: its language, its time, its exact words, its route."""
