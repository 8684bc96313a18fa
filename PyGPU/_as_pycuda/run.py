"""``python -m PyGPU run``: a PyCUDA program, as it is."""

from __future__ import annotations

import os
import runpy
import sys

from PyGPU._as_pycuda.install import install_as_pycuda

_SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim")


def run(script: str, arguments: list[str]) -> None:
    """Run a program whose ``import pycuda`` means PyGPU.

    Parameters
    ----------
    script : str
    arguments : list of str
        Its ``sys.argv[1:]``.
    """
    if not os.path.exists(script):
        print(f"python -m PyGPU run: can't open file {script!r}: no such file", file=sys.stderr)
        sys.exit(2)
    install_as_pycuda()
    sys.argv = [script, *arguments]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    sys.path.append(_SHIM)  # for worker processes
    runpy.run_path(script, run_name="__main__")
