"""Files whose contents a call of the driver loads."""

from __future__ import annotations

import os

from PyGPU._runtime import core, errors


def file_contents(call: str, filename: str | os.PathLike[str]) -> bytes:
    """Return a file's contents; a missing file raises the error of the given call."""
    try:
        with open(os.fspath(filename), "rb") as file:
            return file.read()
    except FileNotFoundError as error:
        missing = core.cudaError_t(301, str(error))
        raise errors.exception_of(call, missing) from None
