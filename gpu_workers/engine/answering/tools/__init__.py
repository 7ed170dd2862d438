"""The tools that answering methods share: typed calls on the graph, which answer in words and never raise."""
