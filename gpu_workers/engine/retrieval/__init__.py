"""Retrieval of the events a question is about: three views of the graph, fused to one ranking (AVA, section 5.1)."""
