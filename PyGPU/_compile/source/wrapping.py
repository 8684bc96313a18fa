"""The text that a vendor's compiler gets for a kernel text: C names, visible references."""

from __future__ import annotations

import re

from PyGPU._compile.source import comments
from PyGPU._compile.source.headers import REFERENCE_TYPE

_HIDDEN = rf"\bstatic\s(?=\s*(?:__device__\s+)?{REFERENCE_TYPE})"


def with_visible_references(source: str) -> str:
    """Return the text with its static texture and surface references as global names.

    Modules of the driver had such references visible.
    """
    return re.sub(_HIDDEN, lambda match: " " * len(match.group()), source)


_INCLUDE = r"[ \t]*#[ \t]*(?:include|include_next|import)\b.*(?<!\\)$"


def wrap_extern_c(source: str) -> str:
    """Return the text in ``extern "C"``, except its ``#include`` lines.

    Headers have templates, which cannot have C names. Lines keep their numbers. An ``#include``
    inside braces stays in place.
    """
    result, depth = ['extern "C" {\n#line 1'], 0
    lines = zip(source.split("\n"), comments.blanked(source).split("\n"))
    for number, (line, code) in enumerate(lines, 1):
        is_directive = code.lstrip().startswith("#")
        if is_directive and re.match(_INCLUDE, line.rstrip()) and depth == 0:
            result.append(f'}}\n#line {number}\n{line}\nextern "C" {{\n#line {number + 1}')
        else:
            result.append(line)
            if not is_directive:
                depth = max(0, depth + code.count("{") - code.count("}"))
    return "\n".join(result) + "\n}\n"


def wrapped(source: str, extern_c: bool) -> str:
    """Return the text that a compiler gets: visible references and, if asked for, C names."""
    source = with_visible_references(source)
    return wrap_extern_c(source) if extern_c else source


# Messages of g++, clang++ and NVRTC about templates and overloads with C names.
_C_LINKAGE = (
    r"template with C linkage|conflicting declaration of C function"
    r"|templates must have C\+\+ linkage|conflicting types for"
    r'|may not have extern "C" linkage|overloaded function "[^"]*" has "C" linkage'
)


def hint(log: str) -> str:
    """Return advice for a text that does not compile with C names; often nothing."""
    if not re.search(_C_LINKAGE, log):
        return ""
    return "templates and overloads have no C names: pass no_extern_c=True"
