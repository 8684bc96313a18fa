"""The process that runs checks: ``python -m PyGPU._report.child DESCRIPTOR CHECK...``.

Each line that it writes to the descriptor is a JSON object: that a check begins, or how it ended.
After a check that failed the process ends: a device error may spoil those that follow.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from typing import Any

from PyGPU._report import table
from PyGPU._runtime import hooks


def _outcome(name: str) -> dict[str, Any]:
    """Run a check once or twice, and return the result for the parent process."""
    seconds: list[float] = []
    found: dict[str, Any] = {"end": name, "seconds": seconds, "state": "OK"}
    for _ in range(1 if name.startswith(table.ONCE) else 2):
        start = time.perf_counter()
        try:
            group, _, function = name.partition(".")
            found["text"] = getattr(hooks.loaded(f"PyGPU._report.{group}"), function)() or ""
        except BaseException as error:
            is_skipped = type(error).__name__ == "Skipped"
            found["state"] = "SKIPPED" if is_skipped else "FAILED"
            found["text"] = str(error) if is_skipped else traceback.format_exc()
        seconds.append(time.perf_counter() - start)
        if found["state"] != "OK":
            break
    return found


def main(descriptor: int, names: list[str]) -> None:
    """Run the checks until one fails."""

    def tell(what: dict[str, Any]) -> None:
        os.write(descriptor, json.dumps(what).encode() + b"\n")

    for name in names:
        tell({"begin": name})
        found = _outcome(name)
        sys.stdout.flush()
        tell(found)
        if found["state"] == "FAILED":
            return


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
