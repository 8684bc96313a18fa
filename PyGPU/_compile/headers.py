"""Headers that kernels include: ours, and what the text of others contributes to a cache key."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from PyGPU._runtime import include_root


def folder(name: str) -> str:
    """A folder of headers for kernels: "device", "rtc", "rtc_hip", "host/cuda"."""
    return str(include_root() / "PyGPU" / name)


@cache
def fingerprint() -> bytes:
    """A digest of all of PyGPU's own headers."""
    digest = hashlib.sha256()
    for path in sorted(include_root().rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(include_root())).encode())
            digest.update(path.read_bytes())
    return digest.digest()


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)


def contents(source: str, folders: Iterable[str], pre_includes: Iterable[str] = ()) -> list[bytes]:
    """What the headers of a source hold, for the key of its cache entry.

    Follows ``#include`` through the user's folders, whatever conditions stand around it. A header
    that is not found there is the compiler's own and goes with its version.
    """
    seen: dict[str, bytes] = {}
    queue = [(name, None) for name in (*_INCLUDE.findall(source), *pre_includes)]
    while queue:
        name, origin = queue.pop()
        places = [name] if os.path.isabs(name) else []
        if not places:
            places = [
                os.path.join(place, name) for place in ([origin] if origin else []) + [*folders]
            ]
        for place in places:
            if place in seen:
                break
            try:
                data = Path(place).read_bytes()
            except OSError:
                continue
            seen[place] = data
            text = data.decode("utf-8", "replace")
            queue += [(inner, os.path.dirname(place)) for inner in _INCLUDE.findall(text)]
            break
    return [part for place in sorted(seen) for part in (place.encode(), seen[place])]


# Parts of the prelude for run-time compilers that only some sources need, and pay for.
_SWITCHES = {
    "-DPYGPU_USES_STD": r"\bstd\b",
    "-DPYGPU_USES_LIMITS": r"\bnumeric_limits\b",
    "-DPYGPU_USES_TRAITS": r"\b(?:enable_if|is_\w+|conditional|decay|remove_\w+|pair)(?:_t|_v)?\b",
    "-DPYGPU_OWN_INTEGERS": r"\btypedef\b[^;]*\bu?int(?:8|16|32|64)_t\s*;",
}


def prelude_switches(source: str, folders: Iterable[str], pre_includes: Iterable[str]) -> list[str]:
    """The macros that turn on what a source, or a header of the user's, needs of the prelude."""
    texts = contents(source, folders, pre_includes)
    text = "\n".join([source, *(part.decode("utf-8", "replace") for part in texts)])
    found = [switch for switch, pattern in _SWITCHES.items() if re.search(pattern, text)]
    traits = "-DPYGPU_USES_TRAITS"
    return [one for one in found if one != traits or "-DPYGPU_USES_STD" in found]


def wrap_extern_c(source: str) -> str:
    """The text with C names, its ``#include`` lines outside: templates cannot have C names.

    Line numbers stay the user's. A header included inside braces stays where it is.
    """
    result, depth = ['extern "C" {\n#line 1'], 0
    for number, line in enumerate(source.split("\n"), 1):
        if _INCLUDE.match(line) and depth == 0:
            result.append(f'}}\n#line {number}\n{line}\nextern "C" {{\n#line {number + 1}')
        else:
            result.append(line)
            if not line.lstrip().startswith("#"):
                code = re.sub(r"""//.*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", "", line)
                depth = max(0, depth + code.count("{") - code.count("}"))
    return "\n".join(result) + "\n}\n"
