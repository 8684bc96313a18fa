"""``python -m PyGPU run``: a PyCUDA program, as it is."""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import sys
from types import TracebackType

from PyGPU._as_pycuda.install import install_as_pycuda

_HERE = os.path.dirname(os.path.abspath(__file__))
_SHIM = os.path.join(_HERE, "shim")
_OURS = (os.path.abspath(__file__), os.path.join(os.path.dirname(_HERE), "__main__.py"))


def run(arguments: list[str]) -> None:
    """Run a program whose ``import pycuda`` means PyGPU.

    Parameters
    ----------
    arguments : list of str
        A script or ``-m`` and a module, and the program's own arguments; or ``--help``.
    """
    parser = argparse.ArgumentParser(
        prog="python -m PyGPU run",
        usage="%(prog)s script.py args...\n       %(prog)s -m module args...",
        description="Run a program for PyCUDA as it is: its `import pycuda` means PyGPU.",
    )
    is_module = arguments[:1] == ["-m"]
    names = arguments[1:] if is_module else arguments
    if names[:1] in (["-h"], ["--help"]):
        parser.print_help()
        return
    if not names or names[0].startswith("-"):
        parser.error("expected a script, or -m and a module")
    program = names[0]
    if not is_module and not os.path.exists(program):
        parser.exit(2, f"{parser.prog}: can't open file {program!r}: no such file\n")
    install_as_pycuda()
    if is_module and not _is_module(program):
        parser.exit(1, f"{parser.prog}: no module named {program}\n")
    sys.argv = names
    if not is_module and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(program))
    sys.path.append(_SHIM)  # for worker processes
    sys.excepthook = _show
    if is_module:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(program, run_name="__main__")


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise  # by a package that the module lies in
        return False


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What ended the program, with the frames of the program alone."""
    while trace:
        file = trace.tb_frame.f_code.co_filename
        if not (file.startswith("<frozen ") or file == runpy.__file__ or file in _OURS):
            break
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)
