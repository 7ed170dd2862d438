"""A process of its own for each job that parses media: no secrets, no network, no files, and hard limits.

`boxes` is the side of the worker: it starts boxes, hands them the bytes of a recording and reads their answers as
data. `zygote` starts the processes, `lockdown` gives up their rights, and `jobs` runs inside.
"""
