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
_PACKAGE = os.path.dirname(_HERE)
_OURS = (
    os.path.abspath(__file__),
    *(os.path.join(_PACKAGE, name) for name in ("__main__.py", "debug.py")),
)
#: Tells the program's worker processes that NumPy's old names are wanted.
NUMPY_COMPAT = "PYGPU_NUMPY_COMPAT"


def run(arguments: list[str], command: str = "python -m PyGPU run") -> None:
    """Run a program whose ``import pycuda`` means PyGPU.

    Parameters
    ----------
    arguments : list of str
        ``--numpy-compat``, if NumPy is to have its old names; a script or ``-m`` and a module, and
        the program's own arguments; or ``--help``.
    command : str
        What the user has called.
    """
    parser = argparse.ArgumentParser(
        prog=command,
        usage="%(prog)s [--numpy-compat] script.py args...\n"
        "       %(prog)s [--numpy-compat] -m module args...",
        description="Run a program for PyCUDA as it is: its `import pycuda` means PyGPU. With "
        "--numpy-compat, NumPy has the names again that it has dropped, such as numpy.int.",
    )
    numpy_compat = arguments[:1] == ["--numpy-compat"]
    names = arguments[1:] if numpy_compat else arguments
    is_module = names[:1] == ["-m"]
    names = names[1:] if is_module else names
    if names[:1] in (["-h"], ["--help"]):
        parser.print_help()
        return
    if not names or names[0].startswith("-"):
        parser.error("expected a script, or -m and a module")
    program = names[0]
    if not is_module and not os.path.exists(program):
        parser.exit(2, f"{parser.prog}: can't open file {program!r}: no such file\n")
    if numpy_compat:
        os.environ[NUMPY_COMPAT] = "1"
    install_as_pycuda(numpy_compat=numpy_compat)
    if is_module and not _is_module(program):
        parser.exit(1, f"{parser.prog}: no module named {program}\n")
    sys.argv = names
    if not is_module and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(program))
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
