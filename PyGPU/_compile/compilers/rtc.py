"""NVRTC and HIPRTC: run-time compilers as shared libraries with the same interface.

The library is loaded when the first kernel is compiled. Without one, everything that needs no
compiler keeps working.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers import libraries
from PyGPU._runtime import (
    CompileError,
    CompilerMissing,
    encoded,
    encoded_word,
    programs,
    runtime_library,
    settings,
)

# HIPRTC and old NVRTCs are not safe to call from two threads at once. The lock is reentrant,
# because a signal handler may compile in the thread that holds it.
_lock = threading.RLock()

_uselocale = ctypes.CDLL(None).uselocale
_uselocale.argtypes, _uselocale.restype = [ctypes.c_void_p], ctypes.c_void_p


@contextlib.contextmanager
def _kept_locale() -> Iterator[None]:
    """Restore the locale of the calling thread on exit.

    NVRTC before CUDA 12.6 sets it to "C". Then Python's `open` would decode the program's files as
    ASCII.
    """
    before = _uselocale(None)
    try:
        yield
    finally:
        _uselocale(before)


# Headers for code of the host, which kernel texts include in passing; they are empty.
_EMPTY = """
bits/stdc++.h chrono ctime ctype.h errno.h exception fstream immintrin.h initializer_list iomanip
iostream iterator list malloc.h map memory numeric omp.h random ratio set sstream stdarg.h stdexcept
string sys/time.h thread time.h tuple unistd.h unordered_map vector
"""


class Library:
    """A run-time compiler.

    Parameters
    ----------
    prefix : {"nvrtc", "hiprtc"}
        Prefix of the names of its functions.
    path : str
        File of the shared library, or its name for the loader's search.
    """

    def __init__(self, prefix: str, path: str) -> None:
        self.prefix = prefix
        self._library = ctypes.CDLL(path)
        version = getattr(self._library, f"{prefix}Version", None)
        if version is None:
            raise OSError(f"{path} has no function {prefix}Version")
        # The loader's own search finds a name without a folder.
        self.path = path if os.path.isabs(path) else libraries.file_of(version) or path
        self.binary = "CUBIN" if prefix == "nvrtc" else "Code"
        # NVRTC first looks for headers in the folder of the text, so the text gets a folder without
        # files.
        self._folder = "/dev/null/" if prefix == "nvrtc" else ""

    def call(self, name: str, *arguments: Any) -> int:
        """Call a function, and return its result code."""
        return int(getattr(self._library, self.prefix + name)(*arguments))

    def check(self, name: str, *arguments: Any) -> None:
        code = self.call(name, *arguments)
        if code:
            raise CompileError(f"{self.prefix}{name} failed: {self._reason(code)}", [self.path])

    def _reason(self, code: int) -> str:
        text = getattr(self._library, self.prefix + "GetErrorString")
        text.restype = ctypes.c_char_p
        return str(text(code).decode())

    def version(self) -> tuple[int, int]:
        """Return (major, minor).

        Every HIPRTC of ROCm 5 to 7 reports 9.0. So the version comes from the name of its file if
        possible: ``libhiprtc.so.6.4.43484``.
        """
        named = re.search(r"\.so\.(\d+)\.(\d+)", os.path.basename(os.path.realpath(self.path)))
        if named and self.prefix == "hiprtc":
            return int(named[1]), int(named[2])
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.check("Version", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def architectures(self) -> list[int]:
        """Return the numbers of the architectures that NVRTC compiles for, in ascending order."""
        count = ctypes.c_int()
        self.check("GetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        self.check("GetSupportedArchs", numbers)
        return list(numbers)

    def compile(
        self,
        source: str,
        name: str,
        options: list[str],
        expressions: Sequence[str],
        want: str,
        optional: Sequence[str] = (),
    ) -> Entry:
        """Compile a text to an image of a kind: CUBIN, PTX, LTOIR or Code.

        The entry has the names in the image of the C++ names `expressions`, such as
        ``axpy<float>``, and of those `optional` ones for which the compiler has a name.
        """
        folders = [option[2:] for option in options if option.startswith("-I")]
        empty = [
            name.encode()
            for name in _EMPTY.split()
            if not any(os.path.isfile(os.path.join(folder, name)) for folder in folders)
        ]
        program, texts = ctypes.c_void_p(), ctypes.c_char_p * len(empty)
        self.check(
            "CreateProgram",
            ctypes.byref(program),
            encoded(source),
            encoded_word(self._folder + name),
            len(empty),
            texts(*[b"\n"] * len(empty)),
            texts(*empty),
        )
        try:
            for expression in (*expressions, *optional):
                self.check("AddNameExpression", program, expression.encode())
            words = [encoded_word(option) for option in options]
            with _lock, _kept_locale():
                code = self.call(
                    "CompileProgram", program, len(words), (ctypes.c_char_p * len(words))(*words)
                )
            log = self._text(program, "ProgramLog").replace(self._folder + name, name)
            if code:
                raise CompileError(
                    f"compilation of {name} failed: {self._reason(code)}",
                    [self.prefix, *options],
                    stderr=log,
                )
            names = {}
            for expression in (*expressions, *optional):
                lowered = ctypes.c_char_p()
                wanted = (program, expression.encode(), ctypes.byref(lowered))
                if expression in expressions:
                    self.check("GetLoweredName", *wanted)
                elif self.call("GetLoweredName", *wanted):
                    continue
                names[expression] = (lowered.value or b"").decode()
            return Entry(self._bytes(program, want), log, names)
        finally:
            self.call("DestroyProgram", ctypes.byref(program))

    def _bytes(self, program: Any, what: str) -> bytes:
        size = ctypes.c_size_t()
        self.check(f"Get{what}Size", program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.check(f"Get{what}", program, data)
        return data.raw

    def _text(self, program: Any, what: str) -> str:
        return self._bytes(program, what).split(b"\0")[0].decode("utf-8", "replace").strip()


def compiled(
    make: Callable[[str], Entry], text: str, refused: str, change: Callable[[str], str]
) -> Entry:
    """Return ``make(text)``, or the changed text's if the compiler refused `text` with a message.

    If the changed text does not compile either, the first error is raised.
    """
    try:
        return make(text)
    except CompileError as error:
        if re.search(refused, error.stderr or ""):
            with contextlib.suppress(CompileError):
                return make(change(text))
        raise


def _candidates(prefix: str) -> Iterable[str]:
    """Return paths and names that may be the library, the likeliest first."""
    if prefix == "nvrtc":
        libraries.check_named(prefix, ["libnvrtc"])
        sonames = [f"libnvrtc.so.{major}" for major in (13, 12, "11.2")]
        return libraries.candidates(prefix, "libnvrtc", sonames)
    libraries.check_named(prefix, ["libhiprtc", "libamdhip64"])
    paths = [*libraries.candidates(prefix, "libhiprtc", ["libhiprtc.so"])]
    # Up to ROCm 5, the runtime's library has the functions.
    paths += libraries.candidates(prefix, "libamdhip64", ["libamdhip64.so"])
    if runtime := runtime_library("hip"):  # prefer the version of the loaded runtime
        found = re.search(r"\.so\.\d+", os.path.realpath(runtime))
        number = found[0] if found else ""
        paths.sort(key=lambda path: number not in os.path.realpath(path))
    return paths


_located: dict[str, str] = {}
_loaded: dict[str, Library] = {}
_MISSING = {
    "nvrtc": "NVRTC, NVIDIA's run-time compiler, is not found. Install the CUDA toolkit or "
    "'pip install nvidia-cuda-nvrtc', or name its libnvrtc.so in PYGPU_NVRTC.",
    "hiprtc": "HIPRTC, AMD's run-time compiler, is not found. Install ROCm (package hiprtc), or "
    "name its libhiprtc.so in PYGPU_HIPRTC.",
}


def locate(prefix: str) -> str:
    """Return the path of the compiler's library without loading it, or raise CompilerMissing."""
    if prefix not in _located:
        variable = f"PYGPU_{prefix.upper()}"
        named = settings.value(variable)
        for path in [named] if named else _candidates(prefix):
            if os.path.isabs(path) and os.path.exists(path):
                _located[prefix] = path
                break
            if not os.path.isabs(path) and _try(prefix, path):
                _located[prefix] = _loaded[prefix].path
                break
        else:
            why = f"{variable}={named!r} names no such library. " if named else ""
            raise CompilerMissing(why + _MISSING[prefix], [prefix])
    return _located[prefix]


def _try(prefix: str, path: str) -> bool:
    try:
        _loaded[prefix] = Library(prefix, path)
    except OSError:
        return False
    return True


def library(prefix: str) -> Library:
    """Return the loaded compiler, or raise CompilerMissing."""
    path = locate(prefix)
    if prefix not in _loaded and not _try(prefix, path):
        raise CompilerMissing(f"{path} does not load. {_MISSING[prefix]}", [prefix])
    return _loaded[prefix]


_PROBE = """
import ctypes, sys
library, program = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
text = b'extern "C" __global__ void f() {}'
library.hiprtcCreateProgram(ctypes.byref(program), text, b"probe", 0, None, None)
sys.exit(library.hiprtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(sys.argv[2].encode())))
"""


@lru_cache
def compiles_for(path: str, arch: str) -> bool:
    """Report whether this HIPRTC knows an architecture.

    A child process asks, because the HIPRTC of ROCm 5.2 aborts for an unknown architecture. A
    frozen program has no interpreter to start: HIPRTC's own error, or its abort, must do there.
    """
    if getattr(sys, "frozen", False):
        return True
    command = [sys.executable, "-c", _PROBE, path, f"--offload-arch={arch}"]
    return programs.run(command).status == 0


def identity(prefix: str) -> str:
    """Return a text that differs between installed compilers, without loading one."""
    path = locate(prefix)
    if not os.path.isabs(path):
        return f"{path} {library(prefix).version()}"
    state = os.stat(path)
    return f"{os.path.realpath(path)} {state.st_size} {state.st_mtime_ns}"


def toolkit_include_options(prefix: str) -> list[str]:
    """Return the options for the vendor's headers, if they are installed."""
    path = locate(prefix)
    if not os.path.isabs(path):
        return []
    # The system's folder has the host's headers too, so it comes last if the compiler has an option
    # for that.
    return [
        f"{'-idirafter' if prefix == 'hiprtc' and folder == '/usr/include' else '-I'}{folder}"
        for folder in libraries.headers(prefix, path)
    ]
