"""Turning a video into its Event Knowledge Graph (AVA, section 4), segment by segment and in bounded memory."""
