"""The program of Timerbus, a durable timer service. The wheel installs it into the environment's folder of programs."""

from __future__ import annotations

import sysconfig
from pathlib import Path


def path() -> Path:
    """Return the path of the program."""
    packages = Path(__file__).parents[1]
    # In an environment, and in the folder of `pip install --prefix` or `--user`, packages are in lib/python3.11/site-packages.
    folders = [packages.parents[2] / "bin", packages / "bin", Path(sysconfig.get_path("scripts"))]
    for folder in folders:
        if (folder / "timerbus").is_file():
            return folder / "timerbus"
    raise FileNotFoundError(f"timerbus is in none of {', '.join(map(str, folders))}: install timerbus-server again")
