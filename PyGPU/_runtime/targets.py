"""Choice of the target of this process: the module to load, and the reasons.

The search for a device is cheap: device nodes, the driver's library, visibility variables. It makes
no runtime call, so importing PyGPU never creates a context.
"""

from __future__ import annotations

import ctypes
import glob
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from PyGPU._runtime import parts

TARGETS = ("cuda", "hip", "host")  # in order of preference
NO_GPU = "no GPU target can be used"
#: Device nodes of a GPU target. One node of each group must exist; messages name a group's first.
NODES = {
    "cuda": (("/dev/nvidia[0-9]*", "/dev/dxg", "/dev/nvhost-gpu", "/dev/nvgpu/igpu0/*"),),
    "hip": (("/dev/kfd",), ("/dev/dri/renderD*",)),
}


class HostFallbackWarning(UserWarning):
    """No GPU target is usable, so PyGPU runs on the host machine.

    Examples
    --------
    >>> import warnings
    >>> from PyGPU import HostFallbackWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", HostFallbackWarning)
    """


#: Major versions of a vendor's library, the newest first. A wheel has a module for each, such as
#: ``_hip7``; a build from source has one module for the version of its toolkit, ``_hip``.
VERSIONS = {"hip": ("7", "6", "5")}
#: A vendor's library, without its version.
LIBRARIES = {"cuda": "libcuda.so", "hip": "libamdhip64.so"}


def modules(target: str) -> list[str]:
    """Return the names of a target's compiled modules in this installation."""
    plain = f"_{target}"
    versioned = [plain + version for version in VERSIONS.get(target, ())]
    found = [name for name in (plain, *versioned) if importlib.util.find_spec(f"PyGPU.{name}")]
    return [plain] if plain in found else found


def is_built(target: str) -> bool:
    """Report whether this installation has the target."""
    return bool(modules(target))


# Values of the visibility variables with at least one device. Runtimes discard an invalid entry and
# all entries after it, so the first entry decides.
_INDEX = r"(0|[1-9]\d*|GPU-[\da-fA-F]{0,16})(,.*)?"
_SHOWN = {
    "CUDA_VISIBLE_DEVICES": r"(?i)\s*(\+?\d|GPU-|MIG-).*",
    "ROCR_VISIBLE_DEVICES": r"(?i)\s*(\+?(0x[\da-f]+|\d+)|gpu-[\da-f]{1,16})\s*(,.*)?",
    "HIP_VISIBLE_DEVICES": rf'{_INDEX}| *"{_INDEX}" *',
}


def _hidden(name: str, count: int, runtime: str | None = None) -> str | None:
    """Return a message if a variable hides every device; otherwise None.

    :param name: Name of the variable.
    :param count: Upper limit of the number of devices to choose from; 0 if unknown.
    :param runtime: Variable whose syntax applies, if it is not the syntax of `name`.
    """
    value = os.environ.get(name)
    if value is None:
        return None
    if not re.fullmatch(_SHOWN[runtime or name], value, re.DOTALL):
        return f"{name}={value!r} hides every device"
    index = re.match(r"[\s\"+]*(0x[\da-f]+|\d+)\s*\"?\s*(,|$)", value, re.I)
    if not index or not count:
        return None
    if int(index[1], 16 if index[1][:2].lower() == "0x" else 10) < count:
        return None
    has = "is 1 device" if count == 1 else f"are at most {count} devices"
    return f"{name}={value!r} hides every device, as there {has} to choose from"


def _variables(target: str) -> tuple[str, ...]:
    """Return the visibility variables that a target's runtime reads, in their order.

    HIP reads CUDA_VISIBLE_DEVICES only if HIP_VISIBLE_DEVICES is not set. It never reads
    GPU_DEVICE_ORDINAL, which is for OpenCL.
    """
    if target == "cuda":
        return ("CUDA_VISIBLE_DEVICES",)
    own = "HIP_VISIBLE_DEVICES"
    hip = ("ROCR_VISIBLE_DEVICES", own if own in os.environ else "CUDA_VISIBLE_DEVICES")
    return hip if target == "hip" else ()


def hidden_from(target: str) -> str | None:
    """Return a message if a variable hides every device from a target; otherwise None."""
    if target == "cuda":
        nodes = ("/dev/nvidia[0-9]*", "/proc/driver/nvidia/gpus/*")
        return _hidden("CUDA_VISIBLE_DEVICES", max(len(glob.glob(node)) for node in nodes))
    count = len(glob.glob("/dev/dri/renderD*"))  # includes the nodes of other vendors
    message = None
    for name in _variables(target):
        message = message or _hidden(name, count, "HIP_VISIBLE_DEVICES" if name[0] != "R" else None)
        # The entries of HIP's variable count the devices that ROCr's variable leaves visible.
        entries = len(os.environ.get(name, "").split(",")) if name in os.environ else count
        count = min(count, entries)
    return message


def hiding(target: str | None = None) -> str | None:
    """Return the visibility variables that may hide the devices of a target, for messages.

    :param target: Name of the target; by default the target in use.
    """
    target = target or core.target
    names = [name for name in _variables(target) if name in os.environ]
    if not names:
        return None
    values = ", ".join(f"{name}={os.environ[name]!r}" for name in names)
    return hidden_from(target) or f"{values} may hide the devices"


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def why_no_device(target: str) -> str | None:
    """Return the reason why a target has no device here; None if it seems to have one."""
    if target == "host":
        return None
    hidden = hidden_from(target)
    if hidden:
        return hidden
    missing = missing_node(target)
    if missing or target != "cuda":
        return missing
    return None if _loads("libcuda.so.1") else "the driver's library libcuda.so.1 is not found"


def missing_node(target: str, root: str = "") -> str | None:
    """Return a message if a device node of a GPU target is missing; otherwise None.

    :param target: Name of the target.
    :param root: Folder that contains ``/dev``.
    """
    vendor = {"cuda": "NVIDIA", "hip": "AMD"}[target]
    for group in NODES[target]:
        if not any(glob.glob(root + node) for node in group):
            return f"no {vendor} device node ({group[0].replace('[0-9]*', '0')})"
    return None


def runtime_library(target: str) -> str | None:
    """Return the path of the vendor's library that this process has loaded, or None.

    An example is ``libamdhip64.so.6``.
    """
    name = LIBRARIES.get(target)
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split(maxsplit=5)[-1].strip() for line in maps}
    except OSError:  # a chroot without /proc
        return None
    found = sorted(path for path in paths if name and os.path.basename(path).startswith(name))
    return found[0] if found else None


def _require_main_interpreter() -> None:
    """Raise ImportError in a sub-interpreter, before a compiled module is loaded.

    PyGPU has one state per process, and its C++ code acquires the GIL by ``PyGILState_Ensure``.
    That function supports the main interpreter only: an import elsewhere would never return.
    """
    api = ctypes.PyDLL(None)
    api.PyInterpreterState_Get.restype = api.PyInterpreterState_Main.restype = ctypes.c_void_p
    if api.PyInterpreterState_Get() != api.PyInterpreterState_Main():
        raise ImportError(
            "PyGPU runs only in the main interpreter of a process, not in a sub-interpreter; "
            "use threads or processes"
        )


def load(target: str) -> ModuleType:
    """Import and return the compiled module of a target.

    :raises ImportError: If the vendor's library is missing.
    """
    found = modules(target)
    if found == [f"_{target}"]:
        return importlib.import_module(f"PyGPU._{target}")
    return _load_version(target, found)


def _load_version(target: str, names: Sequence[str]) -> ModuleType:
    """Import the first module of a target whose version of the vendor's library can be loaded."""
    reasons: dict[str, None] = {}
    for name, library in _libraries(target, names):
        try:
            if library:
                ctypes.CDLL(library)  # the module then finds it by its SONAME
            return importlib.import_module(f"PyGPU.{name}")
        except (ImportError, OSError) as error:
            reasons[str(error)] = None
    wanted = [f"{LIBRARIES[target]}.{name[len(target) + 1 :]}" for name in names]
    absent = tuple(f"{library}: cannot open shared object file" for library in wanted)
    others = [reason for reason in reasons if not reason.startswith(absent)]
    message = f"none of {', '.join(wanted)} is found; install ROCm, or name its folder in ROCM_PATH"
    raise ImportError("; ".join([message, *others]))


def _libraries(target: str, names: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield a target's modules with the vendor's library of each, the most likely first.

    The library is None if the loader must find it: by LD_LIBRARY_PATH or in its own folders.
    """
    stem = LIBRARIES[target]
    versions = {name: name[len(target) + 1 :] for name in names}
    # Prefer a loaded version: a second one in the process would have devices and memory of its own.
    loaded = os.path.basename(runtime_library(target) or "")
    yield from ((one, None) for one in names if f"{loaded}.".startswith(f"{stem}.{versions[one]}."))
    from PyGPU._runtime import toolkits

    subfolders = toolkits.library_subfolders()

    def found(toolkit: Sequence[str]) -> Iterator[tuple[str, str | None]]:
        for folder in toolkits.below(toolkit, subfolders):
            for name, version in versions.items():
                path = os.path.join(folder, f"{stem}.{version}")
                if os.path.exists(path):
                    yield name, path

    named = toolkits.named(toolkits.ROCM)
    yield from found(named[1]) if named else ()
    yield from ((name, None) for name in names)
    for toolkit in toolkits.toolkits(toolkits.ROCM):
        yield from found(toolkit)


def _remedy() -> str:
    """Return advice for an installation without a compiled target."""
    archive = next((one for one in Path(__file__).resolve().parents if one.is_file()), None)
    if archive:
        return (
            f"{archive} is an archive, and Python cannot load compiled modules from one: install "
            "PyGPU with pip, or unpack the archive and put its folder on the path"
        )
    folder = Path(__file__).resolve().parents[2]
    if not (folder / "setup.py").is_file():
        return "install it with 'pip install .' from its source folder"
    return (
        f"{folder} is the source folder, which hides an installed PyGPU while Python is started "
        "there: start it in another folder, or install with 'pip install -e .'"
    )


def _explicit(target: str) -> ModuleType:
    if target not in TARGETS:
        raise ImportError(f"PYGPU_TARGET={target!r}: expected one of {', '.join(TARGETS)}")
    if not is_built(target):
        built = ", ".join(t for t in TARGETS if is_built(t))
        if not built:
            raise ImportError(f"PYGPU_TARGET={target}: no target is compiled; {_remedy()}")
        wish = {"hip": "PYBIND_GPU_TARGET=gfx90a"}.get(target, f"PYBIND_GPU_TARGET={target}")
        raise ImportError(
            f"PYGPU_TARGET={target}: this installation has only {built}; "
            f"install with {wish} (an AMD architecture chooses hip)"
        )
    return load(target)


def _first_usable() -> tuple[ModuleType, dict[str, str]]:
    """Return the module of the first built target with a device, and the reasons against others.

    The target host always has a device.
    """
    refused: dict[str, str] = {}
    for target in TARGETS:
        why = why_no_device(target) if is_built(target) else "not built"
        if why is None:
            try:
                return load(target), refused
            except ImportError as error:  # a vendor library is missing
                why = f"its libraries do not load: {error}"
        refused[target] = why
    raise ImportError(
        "PyGPU has no compiled target to run on ("
        + "; ".join(f"{target}: {why}" for target, why in refused.items())
        + f"); {_remedy()}"
    )


def choose() -> tuple[ModuleType, str, dict[str, str]]:
    """Return the module to use, the reason for it, and the reasons against the other targets."""
    asked = os.environ.get("PYGPU_TARGET", "").strip().lower()
    if asked:
        module = _explicit(asked)
        return module, f"PYGPU_TARGET={asked}", {t: "not asked for" for t in TARGETS if t != asked}
    module, refused = _first_usable()
    if module.target != "host":
        for target in TARGETS[TARGETS.index(module.target) + 1 :]:
            refused[target] = f"{module.target} comes first"
        return module, "the first built target with a device", refused
    return module, NO_GPU, refused


def _is_command() -> bool:
    """Report whether the process runs ``python -m PyGPU`` or ``pygpu``, which show no traceback."""
    if sys.argv and os.path.basename(sys.argv[0]) == "pygpu":
        return True
    words = getattr(sys, "orig_argv", [])  # since Python 3.10
    asked = "-mPyGPU" in words or ("-m", "PyGPU") in zip(words, words[1:])
    return asked and sys.argv[:1] == ["-m"]  # until the module is found


def _chosen() -> tuple[ModuleType, str, dict[str, str]]:
    try:
        return choose()
    except ImportError as error:
        if _is_command():
            sys.exit(f"python -m PyGPU: {error}")
        raise


_require_main_interpreter()
_module, reason, refused = _chosen()
#: Names of the parts that are installed.
installed: list[str] = _module._parts.split(",")
parts.explain_missing(installed)


def _missing(name: str) -> object:
    """Raise the AttributeError of an installation without arrays or kernels."""
    where = f"module {_module.__name__!r} has no attribute {name!r}"
    if name.startswith("__"):  # Python itself looks these up
        raise AttributeError(where)
    part = "arrays" if "kernels" in installed else "kernels"
    raise AttributeError(f"{where}: {parts.remedy(part, installed)}")


if "arrays" not in installed:
    _module.__getattr__ = _missing  # type: ignore[method-assign]

if TYPE_CHECKING:
    from PyGPU import _host

    core = _host  # the modules of all targets have the same names
else:
    core = _module

#: Warning for a user who may have expected a GPU; None if the target was chosen or is a GPU.
fallback = None
if reason == NO_GPU:
    fallback = (
        "PyGPU runs on the host machine, without a GPU ("
        + "; ".join(f"{target}: {why}" for target, why in refused.items())
        + "). Set PYGPU_TARGET=host to choose this and silence the warning."
    )
