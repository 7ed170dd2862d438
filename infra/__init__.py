"""The ways in which AVA Cloud runs: the local stack, images, charts and dashboards."""
