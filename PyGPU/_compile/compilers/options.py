"""Options of nvcc, which PyCUDA programs pass, parsed for other compilers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from PyGPU._runtime import in_text, settings


def note(message: str, *arguments: object) -> None:
    """Log an ignored option with the logger "PyGPU"."""
    import logging  # slow to import, and few programs need it

    logging.getLogger("PyGPU").info(message, *arguments)


# Options that have no meaning without nvcc's host compiler, linker and files: without a value, and
# with a value after `=` or in the next word.
_ALONE = {
    *("-g", "-m64", "-m32", "-c", "-v", "--verbose", "--keep", "-keep", "-lcudadevrt", "--cubin"),
    *("-cubin", "-ptx", "--ptx", "-dw"),
    *("--expt-relaxed-constexpr", "--expt-extended-lambda", "--extended-lambda", "-lineno"),
    *("-expt-relaxed-constexpr", "-expt-extended-lambda", "-extended-lambda", "-res-usage"),
    *("-Wno-deprecated-gpu-targets", "--resource-usage", "-shared", "--shared", "-fatbin"),
    *("--compile", "-O", "-M", "--debug", "-pg", "-s", "--save-temps", "-save-temps"),
}
_WITH_VALUE = {
    *("-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir", "-code", "--gpu-code"),
    *("-gencode", "--generate-code", "-x", "--x", "-o", "--output-file", "-L", "-l", "-Xlinker"),
    *("-default-stream", "--default-stream", "-odir", "--output-directory", "-e", "--entries"),
    *("-t", "--threads", "-Xarchive", "--linker-options", "-Xnvlink", "--keep-dir", "-m"),
    *("-Werror", "-Xfatbin", "--machine", "--optimize"),
}
# Options with a value, by the attribute that stores or lists it.
_VALUES = {
    **{"-arch": "arch", "--gpu-architecture": "arch", "-std": "std", "--std": "std"},
    **dict.fromkeys(("-I", "--include-path", "-isystem", "--system-include"), "include_dirs"),
    **{"-include": "pre_includes", "--pre-include": "pre_includes"},
    **{"-Xptxas": "ptxas", "--ptxas-options": "ptxas"},
}
# Options without a value: the attribute that they set, and to what.
_SWITCHES = {
    **dict.fromkeys(("-use_fast_math", "--use_fast_math", "-ffast-math"), ("fast_math", True)),
    **dict.fromkeys(("-G", "--device-debug"), ("debug", True)),
    **dict.fromkeys(("-lineinfo", "--generate-line-info"), ("line_info", True)),
    **dict.fromkeys(("-dc", "--device-c"), ("relocatable", True)),
    **dict.fromkeys(("-dlto", "--dlink-time-opt"), ("link_time", True)),
    **dict.fromkeys(("-w", "--disable-warnings"), ("warnings", False)),
    **{f"-O{level}": ("optimize", level) for level in "0123"},
}
# Options of NVIDIA's device compilers that have no equivalent in other C++ compilers.
_NVIDIAS = (
    r"--?(?:fmad|ftz|prec-div|prec-sqrt|restrict|dopt|device-w|diag-\w+|default-device|"
    r"device-as-default-execution-space|device-debug|extra-device-vectorization|ewp|minimal|"
    r"split-compile|jump-table-density|device-int128|builtin-[\w-]+|no-source-include|time|ptxas)\b"
)
# Reserved names, and names that configure the headers before a text.
_FOR_HEADERS = r"-[DU](?:_|NDEBUG\b|PYGPU_|CUDA_|HIP_)"


class Options:
    """The options of a compilation, independent of a compiler's spelling."""

    def __init__(self) -> None:
        self.arch: str | None = None
        self.std: str | None = None
        self.include_dirs: list[str] = []
        self.macros: list[str] = []  # "-DNAME=1", "-UNAME", in their order
        self.pre_includes: list[str] = []
        self.fast_math = False
        self.debug = False  # -G
        self.line_info = False
        self.optimize: str | None = None  # "0" ... "3"
        self.max_registers: int | None = None
        self.warnings = True
        self.ptxas: list[str] = []
        self.relocatable = False  # -rdc=true: the image is an input of a linker
        self.link_time = False  # -dlto: the linker optimizes
        self.processor: tuple[str, ...] = ()  # on host: the compiler's flags for this processor
        self.other: list[str] = []  # passed to the compiler

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and vars(self) == vars(other)

    def is_without_fma(self) -> bool:
        """Report whether products and sums are rounded separately (``-fmad=false``)."""
        return any(re.fullmatch(r"-?-fmad=false", word) for word in self.other)

    def for_headers(self) -> list[str]:
        """Return the macros that headers before the text use; they go on the command line."""
        return [word for word in self.macros if re.match(_FOR_HEADERS, word)]

    def in_front(self) -> str:
        """Return the text that defines all other macros and includes the pre-included headers.

        The text follows our headers, so a user's macro of any name cannot change them.
        """
        lines = []
        for word in self.macros:
            name, has_value, value = word[2:].partition("=")
            if re.match(_FOR_HEADERS, word):
                pass
            elif word.startswith("-U"):
                lines.append(f"#undef {name}")
            else:
                lines.append(f"#define {name} {value if has_value else 1}".partition("\n")[0])
        for header in self.pre_includes:
            is_here = os.path.exists(header)  # the working directory comes first for such headers
            path = os.path.abspath(header) if is_here else header
            lines.append(f'#include "{in_text(path)}"')
        return "\n".join(['#line 1 "<command-line>"', *lines, ""]) if lines else ""

    def numbered(self, name: str, text: str) -> str:
        """Return a text after these macros and headers; messages number its lines in `name`."""
        return f'{self.in_front()}#line 1 "{name}"\n{text}'

    def without_nvidias(self) -> list[str]:
        """Return the other options for a compiler that is not NVIDIA's; log the ignored ones."""
        kept = [word for word in self.other if not re.match(_NVIDIAS, word)]
        for word in (word for word in self.other if word not in kept):
            note("the option %s is ignored: it means something to NVIDIA's compilers only", word)
        return kept


def of_environment() -> tuple[list[str], list[str]]:
    """Return the options that nvcc adds before and after those of its command line."""
    return _flags_in("NVCC_PREPEND_FLAGS"), _flags_in("NVCC_APPEND_FLAGS")


def _flags_in(name: str) -> list[str]:
    text = os.environ.get(name, "")
    if not text:
        return []
    import shlex  # few programs need it

    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{name}={text!r}: {error}") from None


def _words(options: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    for option in options:
        if not isinstance(option, (str, os.PathLike)):
            raise TypeError(f"options: expected a list of str, got {option!r} in it")
        yield os.fspath(option)


def parse(options: Iterable[str | os.PathLike[str]]) -> Options:
    """Parse nvcc's options, or raise TypeError or ValueError.

    Options without a meaning for a run-time compiler are ignored, and logged.
    """
    if isinstance(options, (str, bytes)):
        raise TypeError(f"options: expected a list of str, got {options!r}")
    result = Options()
    words = list(_words(options))
    position = 0

    def value_of(word: str, name: str) -> str:
        """Return the value of `word`: after `=`, after a short name, or the next word."""
        nonlocal position
        if word.startswith(name + "="):
            return word[len(name) + 1 :]
        if word != name:
            return word[len(name) :]
        position += 1
        if position >= len(words):
            raise ValueError(f"options: {name} needs a value")
        return words[position]

    while position < len(words):
        word = words[position].strip()
        name = word.split("=", 1)[0]
        if not word:
            pass
        elif word.startswith(("-D", "-U")):
            result.macros.append(word[:2] + value_of(word, word[:2]))
        elif name in ("--define-macro", "--undefine-macro"):
            result.macros.append(f"-{name[2].upper()}{value_of(word, name)}")
        elif (named := "-I" if word.startswith("-I") else name) in _VALUES:
            value, stored = value_of(word, named), getattr(result, _VALUES[named])
            if isinstance(stored, list):
                stored.append(value)
            else:
                setattr(result, _VALUES[named], value)
        elif word in _SWITCHES:
            setattr(result, *_SWITCHES[word])
        elif name in ("-maxrregcount", "--maxrregcount"):
            value = value_of(word, name)
            if not value.isdigit():
                raise ValueError(f"options: {name} needs a number, got {value!r}")
            result.max_registers = int(value)
        elif name in ("-rdc", "--relocatable-device-code"):
            result.relocatable = value_of(word, name) == "true"
        elif word in _ALONE:
            note("the option %s is ignored: it means something to nvcc only", word)
        elif name in _WITH_VALUE:
            ignored = value_of(word, name)
            note("the option %s %s is ignored: it means something to nvcc only", name, ignored)
            if name in ("-gencode", "--generate-code") and result.arch is None:
                found = re.search(r"code=\[?\"?((?:sm|compute)_\w+)", ignored)
                result.arch = found.group(1) if found else None
        elif word.startswith(("-L", "-l", "-W", "-fPIC")):
            note("the option %s is ignored: it means something to nvcc only", word)
        else:
            result.other.append(word)
        position += 1
    return result


def flags_of_environment() -> list[str]:
    """Return the options in PYGPU_DEFAULT_NVCC_FLAGS or PYCUDA_DEFAULT_NVCC_FLAGS."""
    return (settings.value("PYGPU_DEFAULT_NVCC_FLAGS") or "").split()


_default_flags = flags_of_environment()
_provider: Callable[[], list[str]] = lambda: _default_flags  # noqa: E731


def default_flags() -> list[str]:
    """Return the options of compilations without options of their own."""
    return _provider()


def set_default_flags(provider: Callable[[], list[str]]) -> None:
    """Set the function that returns these options, so that a program may replace the list."""
    global _provider
    _provider = provider
