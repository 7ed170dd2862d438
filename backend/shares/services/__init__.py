"""Making and ending shares, and what their pages show."""
