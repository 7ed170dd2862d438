"""The whole stack on one machine, from registry packages alone: no containers, no root, no apt."""
