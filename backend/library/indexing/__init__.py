"""The life of an index version, one step per file.

begin -> intake -> plan -> segments and follow_ups -> completion -> activation or failure -> retirement; progress and
api show the current step. Tasks and workers call these steps in a checkpoint of their job, and decide nothing
themselves.

A job's row is locked before its video's (backend.jobs.models.LOCK_ORDER), so a step enqueues before it locks the video.
"""
