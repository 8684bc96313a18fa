"""Which target this process uses: the choice, its reasons, and the loaded module.

The look for a device is cheap (device nodes, the driver's library, visibility variables) and makes
no runtime call: importing PyGPU never creates a context.
"""

from __future__ import annotations

import ctypes
import glob
import importlib
import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

TARGETS = ("cuda", "hip", "host")  # in the order of preference
NO_GPU = "no GPU target can be used"


class HostFallbackWarning(UserWarning):
    """No GPU target could be used, so PyGPU runs on the host machine."""


def is_built(target: str) -> bool:
    """Was this target compiled into the installation?"""
    return importlib.util.find_spec(f"PyGPU._{target}") is not None


# Values of the visibility variables that leave a device. Runtimes discard an invalid entry and all
# entries after it, so the first entry decides.
_INDEX = r"(0|[1-9]\d*|GPU-[\da-fA-F]{0,16})(,.*)?"
_SHOWN = {
    "CUDA_VISIBLE_DEVICES": r"(?!\s*(-1|NoDevFiles)?\s*(,|$)).*",
    "ROCR_VISIBLE_DEVICES": r"(?i)\s*(\+?(0x[\da-f]+|\d+)|gpu-[\da-f]{1,16})\s*(,.*)?",
    "HIP_VISIBLE_DEVICES": rf'{_INDEX}| *"{_INDEX}" *',
}


def _hidden(name: str, runtime: str | None = None) -> str | None:
    """Say so if the variable hides every device; `runtime` names the rules if not its own."""
    value = os.environ.get(name)
    if value is None or re.fullmatch(_SHOWN[runtime or name], value, re.DOTALL):
        return None
    return f"{name}={value!r} hides every device"


def _hidden_by_rocm() -> str | None:
    """ROCr hides devices, and HIP some of those that are left.

    HIP reads CUDA_VISIBLE_DEVICES only where HIP_VISIBLE_DEVICES is not set, and never
    GPU_DEVICE_ORDINAL, which is for OpenCL.
    """
    own = "HIP_VISIBLE_DEVICES"
    read = own if own in os.environ else "CUDA_VISIBLE_DEVICES"
    return _hidden("ROCR_VISIBLE_DEVICES") or _hidden(read, own)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def why_no_device(target: str) -> str | None:
    """Why a GPU target has no device here, or None where it seems to have one."""
    if target == "host":
        return None
    if target == "cuda":
        nodes = ("/dev/nvidia[0-9]*", "/dev/dxg", "/dev/nvhost-gpu", "/dev/nvgpu/igpu0/*")
        hidden = _hidden("CUDA_VISIBLE_DEVICES")
        if hidden:
            return hidden
        if not any(glob.glob(node) for node in nodes):
            return "no NVIDIA device node (/dev/nvidia0)"
        return None if _loads("libcuda.so.1") else "the driver's library libcuda.so.1 is not found"
    hidden = _hidden_by_rocm()
    if hidden:
        return hidden
    if not os.path.exists("/dev/kfd"):
        return "no AMD device node (/dev/kfd)"
    return None if glob.glob("/dev/dri/renderD*") else "no AMD device node (/dev/dri/renderD*)"


def runtime_library(target: str) -> str | None:
    """The path of the vendor's library that this process has loaded: libamdhip64.so.5, .6, .7."""
    name = {"cuda": "libcuda.so", "hip": "libamdhip64.so"}.get(target)
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps}
    found = sorted(path for path in paths if name and os.path.basename(path).startswith(name))
    return found[0] if found else None


def load(target: str) -> ModuleType:
    """Import the compiled module of a target."""
    return importlib.import_module(f"PyGPU._{target}")


def _remedy() -> str:
    """What to do where nothing is compiled."""
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
    """The first built target with a device (host always has one), and why those before it fail."""
    refused: dict[str, str] = {}
    for target in TARGETS:
        why = why_no_device(target) if is_built(target) else "not built"
        if why is None:
            try:
                return load(target), refused
            except ImportError as error:  # a vendor library that is not there
                why = f"its libraries do not load: {error}"
        refused[target] = why
    raise ImportError(
        "PyGPU has no compiled target to run on ("
        + "; ".join(f"{target}: {why}" for target, why in refused.items())
        + f"); {_remedy()}"
    )


def choose() -> tuple[ModuleType, str, dict[str, str]]:
    """The module to use, why it was chosen, and why each other target was not."""
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
    """Is it ``python -m PyGPU`` that imports this? Its user wants the reason, and no traceback."""
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


_module, reason, refused = _chosen()
if TYPE_CHECKING:
    from PyGPU import _host

    core = _host  # all targets' modules have the same names
else:
    core = _module

#: What to tell a user who may have expected a GPU; None where there is nothing to tell.
fallback = None
if reason == NO_GPU:
    fallback = (
        "PyGPU runs on the host machine, without a GPU ("
        + "; ".join(f"{target}: {why}" for target, why in refused.items())
        + "). Set PYGPU_TARGET=host to choose this and silence the warning."
    )
