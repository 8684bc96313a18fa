"""The environment variables of PyGPU: one table for Python, for C++ and for the documentation.

If a row's parser rejects a value, the default is in force and a `SettingWarning` reports the value.
C++ reads its variables by include/PyGPU/runtime/settings.h, which accepts the same values but does
not warn.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from PyGPU._runtime.exceptions import warn

_MAX_INT64 = (1 << 63) - 1


class SettingWarning(UserWarning):
    """An environment variable of PyGPU has an invalid value; its default is in force.

    Issued at import, or when the variable is read if the program sets it later.
    """


# Plain classes: the creation of a NamedTuple class takes a tenth of a millisecond of the import.
class Parser:
    """Function from a variable's text to its value, which is None for invalid texts."""

    def __init__(self, expected: str, parse: Callable[[str], Any]) -> None:
        self.expected = expected
        self.parse = parse


def one_of(*words: str) -> Parser:
    """Return the parser of a variable that must be one of `words`."""
    return Parser(
        f"one of {', '.join(words)}" if len(words) > 1 else words[0],
        lambda text: text if text in words else None,
    )


def _parse_number(text: str) -> int | None:
    """Parse an integer such as 65536, 512M or 1.5GB, or return None.

    A number may have up to six decimals, a suffix K, M, G or T for powers of 1024, and a B.
    """
    found = re.fullmatch(r"([0-9]+)(?:\.([0-9]{1,6}))?([KMGT]?)B?", text.upper())
    if not found:
        return None
    unit = 1 << 10 * " KMGT".index(found[3] or " ")
    decimals = found[2] or "0"
    fraction, remainder = divmod(int(decimals) * unit, 10 ** len(decimals))
    return None if remainder else int(found[1]) * unit + fraction


def number(minimum: int, maximum: int, expected: str) -> Parser:
    """Return the parser of an integer from `minimum` to `maximum`, such as 65536, 64K or 1.5GB."""

    def parse(text: str) -> int | None:
        value = _parse_number(text)
        return value if value is not None and minimum <= value <= maximum else None

    return Parser(expected, parse)


def _parse_version(text: str) -> int | None:
    found = re.fullmatch(r"([0-9]{1,3})(?:\.([0-9]{1,2}))?", text)
    return 1000 * int(found[1]) + 10 * int(found[2] or 0) if found else None


def _parse_seconds(text: str) -> float | None:
    found = re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", text)
    return float(text) if found else None


def _parse_failure(text: str) -> str | None:
    found = re.fullmatch(r"([0-9]+)(?::.*)?", text, re.DOTALL)
    return text if found and 1 <= int(found[1]) <= _MAX_INT64 else None


_SWITCH = one_of("0", "1")
_BYTES = number(0, _MAX_INT64, "a number of bytes, such as 65536, 64K or 1.5GB")
_ANY = Parser("any text", lambda text: text)


class Setting:
    """A row of the table.

    Parameters
    ----------
    name : str
        Name of the variable.
    parser : Parser
        Parser of its values.
    default : str, int or None
        Value if the variable is not set. None if another module or C++ decides.
    default_text : str
        Default in words.
    doc : str
        Meaning, in one line.
    reader : str
        Languages that read the variable: "Python", "C++" or "Python, C++".
    alias : str, optional
        PyCUDA's name of the variable, read if `name` is not set.
    """

    def __init__(
        self,
        name: str,
        parser: Parser,
        default: str | int | None,
        default_text: str,
        doc: str,
        reader: str,
        alias: str = "",
    ) -> None:
        self.name = name
        self.parser = parser
        self.default = default
        self.default_text = default_text
        self.doc = doc
        self.reader = reader
        self.alias = alias


ROWS = (
    Setting(
        "PYGPU_TARGET",
        Parser("one of cuda, hip, host", str.lower),  # targets.py checks it before all others
        None,
        "the first that is built and has a device",
        "target to use; any other value is an ImportError",
        "Python",
    ),
    Setting(
        "PYGPU_DEVICE",
        number(0, 1 << 30, "the ordinal of a device"),
        None,
        "the first device on which a context can be made",
        "ordinal of the device of `pycuda.autoinit` and `make_default_context`",
        "Python",
        "CUDA_DEVICE",
    ),
    Setting(
        "PYGPU_CHECK",
        one_of("warn", "error", "off"),
        "warn",
        "`warn`",
        "reaction to an argument whose dtype differs from the kernel's parameter: `warn`, `error` "
        "or `off`",
        "C++",
    ),
    Setting(
        "PYGPU_CHECK_CALLS",
        one_of("sync"),
        None,
        "not set",
        "`sync`: wait after each call of a compiled library, so that the call that caused an error "
        "reports it",
        "C++",
    ),
    Setting(
        "PYGPU_STAGING",
        _BYTES,
        None,
        "512K on GPUs, 0 on `host` and on one core",
        "smallest transfer to the device, in bytes, that several threads copy; to the host, three "
        "quarters of it; 0: all transfers are copies of the runtime",
        "C++",
    ),
    Setting(
        "PYGPU_RESULT_CACHE",
        _BYTES,
        None,
        "a sixteenth of the memory, at most 1G",
        "most bytes of host memory that large results of `get()` leave for later ones; 0: none",
        "C++",
    ),
    Setting(
        "PYGPU_BLOCK_CACHE",
        _SWITCH,
        None,
        "1 on GPUs, 0 on `host`",
        "1: keep freed blocks of memory, and use them again for arrays of the same size",
        "C++",
    ),
    Setting(
        "PYGPU_POOLS",
        _SWITCH,
        None,
        "1; 0 on Radeon GPUs with ROCm 7",
        "1: stream-ordered allocation, where the device supports it",
        "C++",
    ),
    Setting(
        "PYGPU_PEER_COPIES",
        _SWITCH,
        None,
        "1",
        "1: the first copy between two devices enables peer access, so that copies go directly "
        "between their memories",
        "C++",
    ),
    Setting(
        "PYGPU_CACHE_DIR",
        _ANY,
        None,
        "`$XDG_CACHE_HOME/PyGPU/kernels`, else `~/.cache/PyGPU/kernels`",
        "folder of the cache of compiled kernels",
        "Python",
        "PYCUDA_CACHE_DIR",
    ),
    Setting(
        "PYGPU_CACHE_MAXSIZE",
        _BYTES,
        1 << 30,
        "1G",
        "size limit of the cache of compiled kernels",
        "Python",
    ),
    Setting(
        "PYGPU_DISABLE_CACHE",
        _ANY,
        None,
        "not set",
        "any text: compiled kernels are not cached",
        "Python",
        "PYCUDA_DISABLE_CACHE",
    ),
    Setting(
        "PYGPU_PROGRESS",
        Parser("seconds, such as 0.5 or 10", _parse_seconds),
        None,
        "2 if stderr is a terminal or a notebook, otherwise 0",
        "seconds after which a line on stderr reports a compilation that still runs; 0: no line",
        "Python",
    ),
    Setting(
        "PYGPU_DEFAULT_NVCC_FLAGS",
        _ANY,
        None,
        "no options",
        "options of a `SourceModule` that is made without `options=`",
        "Python",
        "PYCUDA_DEFAULT_NVCC_FLAGS",
    ),
    *[
        Setting(
            f"PYGPU_{name.upper()}",
            _ANY,
            None,
            "found by a search of the toolkits",
            f"path of {name}'s library",
            "Python",
        )
        for name in ("NVRTC", "nvJitLink", "HIPRTC")
    ],
    Setting(
        "PYGPU_STATED_CUDA_VERSION",
        Parser("a version such as 11.8", _parse_version),
        None,
        "the runtime's and the driver's",
        "version that `get_version()` and `get_driver_version()` return",
        "Python",
    ),
    Setting(
        "PYGPU_COMPARISONS",
        one_of("numpy", "pycuda"),
        None,
        "`numpy`; `pycuda` after `install_as_pycuda()` and in `python -m PyGPU run`",
        "dtypes of `a > b`: bool, as in NumPy, or the arrays' dtype, as in PyCUDA; under `pycuda`, "
        "sums of small integers have PyCUDA's dtypes too, and only bools are masks",
        "Python, C++",
    ),
    Setting(
        "PYGPU_NUMPY_COMPAT",
        _SWITCH,
        "0",
        "0",
        "1: `import pycuda` restores removed names of NumPy; `run --numpy-compat` sets it",
        "Python",
    ),
    Setting(
        "PYGPU_HOST_DEVICES",
        number(1, 64, "an integer from 1 to 64"),
        1,
        "1",
        "number of devices of the target `host`",
        "C++",
    ),
    Setting(
        "PYGPU_HOST_MEMORY",
        number(1 << 20, 1 << 50, "a number of bytes from 1M to 1024T"),
        None,
        "the computer's memory, except for memory that other programs use",
        "memory of each device: bytes, or a size such as 512M",
        "C++",
    ),
    Setting(
        "PYGPU_HOST_THREADS",
        number(1, 1024, "an integer from 1 to 1024"),
        None,
        "all cores that the process may use",
        "number of cores that run blocks",
        "C++",
    ),
    Setting(
        "PYGPU_HOST_WARP",
        one_of("32", "64"),
        "32",
        "32",
        "warp size: 32 or 64",
        "Python, C++",
    ),
    Setting(
        "PYGPU_HOST_STRICT",
        _SWITCH,
        "0",
        "0",
        "1: check each memory access of kernels; allocations end at their last byte, not at a "
        "multiple of 512 bytes",
        "Python, C++",
    ),
    Setting(
        "PYGPU_HOST_INTERFACE",
        _SWITCH,
        "0",
        "0; `install_as_pycuda()` sets 1",
        "1: arrays of the target `host` have `__cuda_array_interface__`, as arrays of GPUs do",
        "C++",
    ),
    Setting(
        "PYGPU_HOST_FAIL",
        Parser("a positive integer n, or n:name with the name of a call", _parse_failure),
        None,
        "no call fails",
        "n: the n-th call of the runtime fails; n:cudaMalloc: the n-th call of cudaMalloc fails",
        "C++",
    ),
    Setting(
        "PYGPU_HOST_PROCESSOR",
        one_of("any"),
        None,
        "the processor of this computer",
        "`any`: compile kernels of array operations for all processors of the architecture, as "
        "emulators such as Valgrind require",
        "Python",
    ),
    Setting(
        "PYGPU_HOST_CXX",
        _ANY,
        None,
        "the first that is installed: g++, c++ or clang++",
        "C++ compiler for kernels",
        "Python",
    ),
)

SETTINGS = {row.name: row for row in ROWS}
_reported: set[tuple[str, str]] = set()


def _parse(row: Setting) -> tuple[Any, str, str]:
    """Return (value, name, text) of a row.

    For an invalid text, the value is the default, and the others are the variable and its text. For
    a valid text or without one, they are empty.
    """
    for name in filter(None, (row.name, row.alias)):
        text = os.environ.get(name, "").strip()
        if not text:
            continue
        value = row.parser.parse(text)
        return (row.default, name, text) if value is None else (value, "", "")
    return row.default, "", ""


def _message(row: Setting, name: str, text: str) -> str:
    return (
        f"{name}={text!r}: expected {row.parser.expected}; "
        f"the default is in force: {row.default_text.replace('`', '')}"
    )


def _read(row: Setting) -> Any:
    value, name, text = _parse(row)
    if name and (name, text) not in _reported:
        _reported.add((name, text))
        warn(_message(row, name, text), SettingWarning)
    return value


def invalid() -> list[str]:
    """Return a message for each invalid value in the environment."""
    found = ((row, *_parse(row)[1:]) for row in ROWS)
    return [_message(row, name, text) for row, name, text in found if name]


def value(name: str) -> Any:
    """Return the current value of a variable, or its default. Warn once of each invalid value."""
    return _read(SETTINGS[name])


def check() -> None:
    """Warn of each invalid value in the environment."""
    for row in ROWS:
        if row.name in os.environ or (row.alias and row.alias in os.environ):
            _read(row)


def table(prefix: str = "PYGPU_") -> str:
    """Return the rows of the variables with a prefix as a table in Markdown."""
    lines = ["| variable | meaning | default |", "|---|---|---|"]
    for row in ROWS:
        if row.name.startswith(prefix):
            names = f"`{row.name}`" + (f", else `{row.alias}`" if row.alias else "")
            lines.append(f"| {names} | {row.doc} | {row.default_text} |")
    return "\n".join(lines) + "\n"
