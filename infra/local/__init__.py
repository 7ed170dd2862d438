"""The whole stack on one machine, from registry packages alone: without containers, root or apt."""
