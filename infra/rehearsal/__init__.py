"""Rehearsal of the deployment: every service as the shipped files write it, as processes in sandboxes of this machine.

``dockerfile``, ``compose`` and ``terraform`` read the shipped files. ``images`` makes what a Dockerfile makes.
``network`` and ``sandbox`` stand for a container engine. ``substitutes`` names what stands for an outside image.
"""
