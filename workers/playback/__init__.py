"""Jobs that make what people watch."""
