"""``python -m PyGPU run``: run a PyCUDA program unmodified."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import runpy
import sys
from types import TracebackType

from PyGPU._as_pycuda.install import install_as_pycuda
from PyGPU._runtime import commands, state

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.dirname(_HERE)
_OURS = {
    os.path.abspath(__file__),
    *(os.path.join(_PACKAGE, name) for name in ("__main__.py", "debug.py")),
}
#: Environment variable by which worker processes also restore NumPy's removed names.
NUMPY_COMPAT = "PYGPU_NUMPY_COMPAT"


_COMMON = """Its `import pycuda` imports PyGPU; all other modules are the usual ones. Arguments
after the script or the module are the program's own. The exit status is the program's.

--numpy-compat restores names that NumPy has removed, such as numpy.int."""
_EXAMPLES = [
    ("script.py input.dat", "a script with an argument"),
    ("-m package.module", "a module, as python -m runs it"),
    ("--numpy-compat old_script.py", "a script of NumPy's early years"),
]
_RUN = f"Run a PyCUDA program unmodified. {_COMMON}"
_DEBUG = f"""Run a PyCUDA program with kernels for a debugger. They are compiled with debug
information (-G), the cache is not used, and their sources are kept in folders whose names are
printed. Start it under the debugger: cuda-gdb on NVIDIA, rocgdb on AMD, gdb on the target host,
where kernels are functions of the process.

{_COMMON}"""
_DEBUG_EXAMPLES = [
    *_EXAMPLES[:2],
    ("script.py", "break in a kernel; put `cuda-gdb --args` or `gdb --args` in front"),
]


def debug(arguments: list[str], prog: str | None = None) -> None:
    """Run a program as :func:`run` does, with kernels for a debugger.

    :param list of str arguments: As of :func:`run`.
    :param prog: Command of the user, for messages.
    """
    state.set_debugging()
    parser = commands.parser("debug", _DEBUG, _DEBUG_EXAMPLES, usage=_USAGE)
    parser.prog = prog or parser.prog
    _run(arguments, parser)


_USAGE = """%(prog)s [--numpy-compat] script.py args...
       %(prog)s [--numpy-compat] -m module args..."""


def run(arguments: list[str]) -> None:
    """Run a program whose ``import pycuda`` imports PyGPU.

    :param list of str arguments: Optional ``--numpy-compat``; a script, or ``-m`` and a module; the
        program's own arguments. Or ``--help``.
    """
    _run(arguments, commands.parser("run", _RUN, _EXAMPLES, usage=_USAGE))


def _run(arguments: list[str], parser: argparse.ArgumentParser) -> None:
    """Run the program on a command line."""
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
    if not getattr(sys.flags, "safe_path", False):
        with contextlib.suppress(OSError):  # the working directory is removed
            sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.realpath(program))
    if is_module and not _is_module(program):
        parser.exit(1, f"{parser.prog}: no module named {program}\n")
    _OURS.add(os.path.abspath(sys.argv[0]))  # the script pygpu, if that was called
    sys.argv = names
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
            raise  # the module's package failed to import something else
        return False


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the exception that ended the program, with the program's own frames only."""
    while trace:
        file = trace.tb_frame.f_code.co_filename
        is_ours = file == runpy.__file__ or os.path.abspath(file) in _OURS
        if not (file.startswith("<frozen ") or is_ours):
            break
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)
