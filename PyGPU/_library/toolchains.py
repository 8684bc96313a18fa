"""Compilers of whole files for each target: nvcc, hipcc, and the system's C++ compiler."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from PyGPU._compile.cache import architectures
from PyGPU._compile.compilers import device_names, host_compiler, libraries
from PyGPU._compile.compilers import options as _options
from PyGPU._runtime import PACKAGE, capabilities, core, include_root, programs

#: Endings of files that are compiled as device code, whatever the compiler takes them for.
DEVICE_ENDINGS = (".cu", ".hip")
#: Endings of files that are sources.
SOURCE_ENDINGS = (*DEVICE_ENDINGS, ".cpp", ".cc", ".cxx", ".c++", ".C", ".c")
#: Environment variables by which GCC and Clang find headers of C++.
HEADER_VARIABLES = ("CPATH", "CPLUS_INCLUDE_PATH")


class Toolchain(ABC):
    """The compiler of one target, for files of source code."""

    #: Name of the target.
    name = ""
    #: A vendor's toolkit compiles the files; otherwise they are rewritten as C++ first.
    has_toolkit = True

    @abstractmethod
    def compiler(self) -> str:
        """Return the path of the compiler; raise CompilerMissing if there is none."""

    @abstractmethod
    def compiling(
        self, suffix: str, architectures: Sequence[str], options: Sequence[str] = ()
    ) -> list[str]:
        """Return the options that compile a file with this ending, with the user's options."""

    @abstractmethod
    def linking(self, architectures: Sequence[str]) -> list[str]:
        """Return the options that link objects to a shared library."""

    def linked(self, options: Sequence[str], libraries: Sequence[str]) -> list[str]:
        """Return what follows the objects: the user's options and libraries."""
        names = (one if one.startswith("-") or "/" in one else f"-l{one}" for one in libraries)
        return [*options, *names]

    def libraries(self) -> list[str]:
        """Return the options that follow the user's."""
        return []

    def includes(self) -> list[str]:
        """Return the options that name PyGPU's folders of headers."""
        return [f"-I{include_root()}"]

    def architectures(self, asked: str | Sequence[str]) -> list[str]:
        """Return the architectures to build for; empty for the compiler's own choice."""
        if asked != "native":
            names = [asked] if isinstance(asked, str) else list(asked)
            for name in names:
                if architectures.target_of(name) != self.name:
                    raise ValueError(
                        f"arch={name!r}: no architecture of the target {self.name}; expected a "
                        f"name such as {self.example}"
                    )
            return names
        if self.name == capabilities.target and core.cudaGetDeviceCount()[0]:
            return [device_names.device_image()]
        return self.default_architectures()

    #: Name of an architecture, for messages.
    example = "sm_90"

    def default_architectures(self) -> list[str]:
        """Return the architectures without a device."""
        return []

    def environment(self) -> dict[str, str]:
        """Return the environment of the compiler."""
        return programs.environment()


# Inputs of the linker among options.
_INPUT = r"[^-].*\.(?:o|a|so[.\d]*)"


def _with_defaults(options: Sequence[str]) -> list[str]:
    """Return the options after those defaults that they do not set, without the linker's inputs."""
    pairs = zip(["", *options], options)
    options = [b for a, b in pairs if a.startswith("-X") or not re.fullmatch(_INPUT, b)]
    has_standard = any(word.startswith(("-std", "--std")) for word in options)
    has_level = any(re.match(r"-O|--optimize|-G$|--device-debug$", word) for word in options)
    words = [] if has_standard else ["-std=c++17"]
    return [*words, *([] if has_level else ["-O2"]), *options]


def _of_language(suffix: str, words: Sequence[str]) -> list[str]:
    """Return the options of a file; a file of C cannot have a standard of C++."""
    if suffix != ".c":
        return [*words]
    standards = ("-std=c++", "-std=gnu++", "--std=c++", "--std=gnu++")
    return [word for word in words if not word.startswith(standards)]


class Nvcc(Toolchain):
    """NVIDIA's nvcc."""

    name = "cuda"

    def compiler(self) -> str:
        return libraries.program("nvrtc")

    @staticmethod
    def _for(names: Sequence[str]) -> list[str]:
        words = []
        for name in names:
            kind, number = re.fullmatch(r"(sm|compute)_(\w+)", name).groups()  # type: ignore[union-attr]
            words.append(f"-gencode=arch=compute_{number},code={kind}_{number}")
        return words

    def compiling(
        self, suffix: str, architectures: Sequence[str], options: Sequence[str] = ()
    ) -> list[str]:
        words = ["-Xcompiler", "-fPIC", *self._for(architectures), *_with_defaults(options)]
        words = _of_language(suffix, words)
        return [*words, "-DPYGPU_TARGET_CUDA", *(["-x", "cu"] if suffix in DEVICE_ENDINGS else [])]

    def linking(self, architectures: Sequence[str]) -> list[str]:
        words = ["-shared", "-Xcompiler", "-fPIC", "-Xlinker", "-z,defs"]
        return [*words, *self._for(architectures)]


class Hipcc(Toolchain):
    """AMD's hipcc."""

    name = "hip"
    example = "gfx942"

    def compiler(self) -> str:
        return libraries.program("hiprtc")

    def default_architectures(self) -> list[str]:
        return [name for name in core.architectures.split(",") if name]

    def environment(self) -> dict[str, str]:
        # Where nvcc is there too, hipcc would take it.
        return {**programs.environment(), "HIP_PLATFORM": "amd"}

    @staticmethod
    def _for(names: Sequence[str]) -> list[str]:
        return [f"--offload-arch={name}" for name in names]

    def compiling(
        self, suffix: str, architectures: Sequence[str], options: Sequence[str] = ()
    ) -> list[str]:
        words = ["-fPIC", *self._for(architectures), *_with_defaults(options)]
        words = _of_language(suffix, words)
        # CUDA's names for a source that was written for nvcc, and headers that have the names of
        # those of NVIDIA's toolkit. The user's own folders precede a folder of the system.
        ours = f"{include_root()}/PyGPU"
        names = ["-include", f"{ours}/vendor/hip_sources.h", f"-isystem{ours}/rtc_hip"]
        names = names if suffix == ".cu" else []
        device = ["-x", "hip", *names] if suffix in DEVICE_ENDINGS else []
        return [*words, "-DPYGPU_TARGET_HIP", *device]

    def linking(self, architectures: Sequence[str]) -> list[str]:
        words = ["-shared", "-fPIC", "-Wl,-z,defs", "--hip-link"]
        return [*words, *self._for(architectures)]


# Libraries of the vendors' toolkits whose functions the host machine has.
_OF_MACHINE = r"-l(?:cuda|cudart|cudart_static|cudadevrt|amdhip64)"
# Options of nvcc for its host compiler and the linker, as a C++ compiler spells them.
_COMPILER = ("-Xcompiler", "--compiler-options")
_LINKER = ("-Xlinker", "--linker-options")
_LIBRARIES = {"-L": "-L", "--library-path": "-L", "-l": "-l", "--library": "-l"}


def _split(options: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return nvcc's own options, those of its host compiler, and those of the linker."""
    own: list[str] = []
    passed: list[str] = []
    linked: list[str] = []
    words = iter(options)
    for word in words:
        name, has_value, value = word.partition("=")
        if name in (*_COMPILER, *_LINKER, *_LIBRARIES):
            value = value if has_value else next(words, "")
        given = [one.replace("\\,", ",") for one in re.split(r"(?<!\\),", value) if one]
        if word in ("-g", "-pg", "--debug", "--profile"):
            given = [word]
        if name in _COMPILER or given == [word]:
            passed += [one for one in given if one != "-fPIC"]
            linked += given
        elif name in _LINKER:
            linked += [each for one in given for each in ("-Xlinker", one)]
        elif name in _LIBRARIES:
            linked.append(_LIBRARIES[name] + value)
        elif re.match("-L|-l(?!ineinfo|to)|-Wl,", word) or re.fullmatch(_INPUT, word):
            linked.append(word)
        else:
            own.append(word)
    return own, passed, linked


class HostCxx(Toolchain):
    """The system's C++ compiler, for the host machine."""

    name = "host"
    example = "host"
    has_toolkit = False

    def compiler(self) -> str:
        return host_compiler.compiler()

    def architectures(self, asked: str | Sequence[str]) -> list[str]:
        return []  # there is one machine, and the names of GPUs stand for it

    def includes(self) -> list[str]:
        vendors = f"{include_root()}/PyGPU/host"  # headers with the names of the vendors' toolkits
        return [f"-I{vendors}/cuda", f"-I{vendors}/hip", f"-I{include_root()}"]

    def compiling(
        self, suffix: str, architectures: Sequence[str], options: Sequence[str] = ()
    ) -> list[str]:
        ours, for_cxx, _ = _split(options)
        parsed = _options.parse(ours)  # nvcc's options, as SourceModule takes them
        words = [word for word in host_compiler.flags(parsed) if word not in ("-shared", "-w")]
        words += ["-Wno-unused", "-DPYGPU_TARGET_HOST", *parsed.macros, *for_cxx]
        words += [*parsed.without_nvidias(), "-x", "c" if suffix == ".c" else "c++"]
        words += [word for folder in parsed.include_dirs for word in ("-I", folder)]
        words += [word for header in parsed.pre_includes for word in ("-include", header)]
        # nvcc declares CUDA's language in each file of device code, without an include.
        device = ["-D__CUDACC__=1"]
        for header in ("gpu.h", "host/runtime_api.h"):
            device += ["-include", f"{include_root()}/PyGPU/{header}"]
        return [*_of_language(suffix, words), *(device if suffix in DEVICE_ENDINGS else [])]

    def linking(self, architectures: Sequence[str]) -> list[str]:
        return ["-shared", "-fPIC", "-Wl,-z,defs"]

    def linked(self, options: Sequence[str], libraries: Sequence[str]) -> list[str]:
        ours, _, given = _split(options)
        words = [*_options.parse(ours).without_nvidias(), *given, *super().linked((), libraries)]
        return [word for word in words if not re.fullmatch(_OF_MACHINE, word)]

    def libraries(self) -> list[str]:
        # Not by -Wl, which would split a path with a comma.
        return ["-Xlinker", "-rpath", "-Xlinker", str(PACKAGE), *host_compiler.linking()]


#: The compilers by their targets' names.
TOOLCHAINS: dict[str, Toolchain] = {one.name: one for one in (Nvcc(), Hipcc(), HostCxx())}


def of(target: str | None) -> Toolchain:
    """Return the compiler of a target, by default of the one in use."""
    name = capabilities.target if target is None else target
    if name not in TOOLCHAINS:
        raise ValueError(f"target={target!r}: expected one of {', '.join(TOOLCHAINS)}")
    return TOOLCHAINS[name]


def flags(
    toolchain: Toolchain, names: Sequence[str], arch: str | Sequence[str] = "native"
) -> list[str]:
    """Return compiler options for users' sources: "includes", "cflags" with them, "ldflags"."""
    found = toolchain.architectures(arch)
    includes = toolchain.includes()
    by_name = {
        "includes": includes,
        "cflags": [*includes, *toolchain.compiling(DEVICE_ENDINGS[0], found)],
        "ldflags": [*toolchain.linking(found), *toolchain.libraries()],
    }
    return [word for name in names for word in by_name[name]]
