"""Sub-interpreters of this process, by the private modules that every Python since 3.9 has."""

from __future__ import annotations

import sys

try:
    import _interpreters as _module
except ImportError:
    import _xxsubinterpreters as _module


def create(own_gil=False):
    """Return a new sub-interpreter; before Python 3.12 all interpreters share the GIL."""
    if own_gil or sys.version_info < (3, 12):
        return _module.create()
    if sys.version_info < (3, 13):
        return _module.create(isolated=False)
    return _module.create("legacy")


def run(source, **options):
    """Run a program, which must not be empty, in a new sub-interpreter, and end that."""
    interpreter = create(**options)
    try:
        _module.run_string(interpreter, source)
    finally:
        _module.destroy(interpreter)
