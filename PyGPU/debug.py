"""``python -m PyGPU.debug script.py args...``: run a PyCUDA program with debuggable kernels.

Kernels are compiled with -G and without the cache. Their source files are kept in folders whose
names are printed. The program's ``import pycuda`` imports PyGPU.
"""

from __future__ import annotations

import sys

from PyGPU._as_pycuda.run import debug

__all__: list[str] = []


def main() -> None:
    """Run the program on the command line."""
    debug(sys.argv[1:], "python -m PyGPU.debug")


if __name__ == "__main__":
    main()
