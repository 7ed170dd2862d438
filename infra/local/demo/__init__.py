"""The main job from outside: a customer's program that uses the Python client of this repository."""

import sys
from pathlib import Path

_CLIENT = str(Path(__file__).resolve().parents[3] / "frontend_api_schema" / "python" / "src")
if _CLIENT not in sys.path:
    sys.path.append(_CLIENT)  # it is no package of the service's environment
