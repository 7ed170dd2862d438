"""``python -m ava_cloud`` is the command `ava`."""

from ava_cloud.cli import main

main()
