"""Measurements of speed and memory, each as a ratio against a reference that runs right next to it."""
