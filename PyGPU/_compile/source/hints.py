"""Hints for programs whose kernel text does not compile."""

from __future__ import annotations

import re

from PyGPU._compile.source import child_launches, inline_ptx, toolkit_headers, wrapping

_FILE = r"[^\n{};]+\.(cu|cuh|cpp|cc|c|h|hpp|ptx|cubin)"


def hint(
    source: str,
    log: str,
    has_c_names: bool,
    is_relocatable: bool,
    understands_ptx: bool,
    has_toolkit: bool,
) -> str:
    """Return advice for a text that does not compile, by the compiler's log; often nothing.

    `has_c_names`: the text was wrapped in ``extern "C"``.
    """
    name = re.fullmatch(_FILE, source.strip())
    if name and name[1] in ("ptx", "cubin"):
        return "the source is a file's name: module_from_file() loads what is compiled"
    if name:
        return "the source is a file's name, not the text of kernels: pass open(name).read()"
    ptx = "" if understands_ptx else inline_ptx.hint(source, log)
    c_names = wrapping.hint(log) if has_c_names else ""
    missing = toolkit_headers.missing_wheel(log)
    libraries = missing if has_toolkit else toolkit_headers.hint([source])
    return ptx or c_names or libraries or child_launches.hint(source, is_relocatable)
