"""``python -m PyGPU.debug script.py args...``: a PyCUDA program with kernels for a debugger.

Kernels are compiled with -G, their texts stay in folders whose names are printed, and no image
comes from the cache. The program's ``import pycuda`` means PyGPU.
"""

from __future__ import annotations

import sys

from PyGPU._as_pycuda.run import run
from PyGPU._runtime.state import set_debugging

__all__: list[str] = []


def main() -> None:
    """Run the program that the command line names."""
    set_debugging()
    run(sys.argv[1:], "python -m PyGPU.debug")


if __name__ == "__main__":
    main()
