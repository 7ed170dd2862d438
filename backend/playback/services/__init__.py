"""Writes to renditions, and the tokens that open them."""
