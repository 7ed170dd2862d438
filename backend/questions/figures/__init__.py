"""The figures of a comparison, from plain records: the API, the console and the evaluation harness share them.

Nothing here imports Django.
"""
