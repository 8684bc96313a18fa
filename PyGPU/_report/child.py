"""The process that runs checks: ``python -m PyGPU._report.child DESCRIPTOR PACKAGE CHECK...``.

Each line that the process writes to the descriptor is a JSON object: a check begins, has found
something, or has ended. The process ends after a check that failed, because a device error may
break the following checks.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

_Tell = Callable[[dict[str, Any]], None]


def _run(package: str, name: str, tell: _Tell) -> str:
    """Run a check: send a generator's items to the parent process, or return the check's text."""
    group, _, function = name.partition(".")
    result = getattr(importlib.import_module(f"{package}.{group}"), function)()
    if isinstance(result, Iterator):
        for one in result:
            tell({"found": one})
        return ""
    return result or ""


def _outcome(package: str, name: str, tell: _Tell) -> dict[str, Any]:
    """Run a check once or twice, and return the result for the parent process."""
    seconds: list[float] = []
    found: dict[str, Any] = {"end": name, "seconds": seconds, "state": "OK"}
    once = importlib.import_module(f"{package}.table").ONCE
    for _ in range(1 if name.startswith(once) else 2):
        start = time.perf_counter()
        try:
            found["text"] = _run(package, name, tell)
        except BaseException as error:
            is_skipped = type(error).__name__ == "Skipped"
            found["state"] = "SKIPPED" if is_skipped else "FAILED"
            found["text"] = str(error) if is_skipped else traceback.format_exc()
        seconds.append(time.perf_counter() - start)
        if found["state"] != "OK":
            break
    return found


def main(descriptor: int, package: str, names: list[str]) -> None:
    """Run the checks of a package until one fails."""

    def tell(what: dict[str, Any]) -> None:
        os.write(descriptor, json.dumps(what).encode() + b"\n")

    for name in names:
        tell({"begin": name})
        found = _outcome(package, name, tell)
        sys.stdout.flush()
        tell(found)
        if found["state"] == "FAILED":
            return


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
