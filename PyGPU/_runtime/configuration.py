"""Facts about this installation and its devices, which ``python -m PyGPU`` prints."""

from __future__ import annotations

from typing import Any

from PyGPU._runtime import docstrings, errors, installation, targets
from PyGPU._runtime.capabilities import capabilities

__all__ = ["facts", "show", "show_config"]


def facts() -> dict[str, Any]:
    """Return the facts about this installation and its devices, as plain data."""
    core = targets.core
    count, status = core.cudaGetDeviceCount()
    return {
        "version": core.__version__,
        "target": capabilities.target,
        "reason": targets.reason,
        "built": [target for target in targets.TARGETS if targets.is_built(target)],
        "refused": targets.refused,
        "architectures": core.architectures,
        "runtime_version": core.cudaRuntimeGetVersion()[0],
        "driver_version": core.cudaDriverGetVersion()[0],
        "runtime_library": targets.runtime_library(capabilities.target),
        "status": {"code": status.code, "name": status.name},
        "hiding": targets.hiding() if status.code == errors.NO_DEVICE else None,
        "devices": [_device(core, ordinal) for ordinal in range(count)],
        "include": str(installation.include_root()),
        "libraries": str(installation.PACKAGE),
    }


def _device(core: Any, ordinal: int) -> dict[str, Any]:
    """Return the name, the memory in bytes and the architecture of a device."""
    properties = core.cudaDeviceProp(ordinal)
    return {
        "name": properties.name(),
        "memory": properties.totalGlobalMem(),
        "architecture": properties.architecture(),
        "multiprocessors": properties.multiProcessorCount(),
    }


def show(facts: dict[str, Any]) -> None:
    """Print the facts for a reader."""
    print(f"PyGPU {facts['version']}")
    print(f"targets built: {', '.join(facts['built'])}")
    print(f"target in use: {facts['target']} ({facts['reason']})")
    for target, why in facts["refused"].items():
        print(f"  not {target}: {why}")
    if facts["architectures"]:
        print(f"built for: {facts['architectures']}")
    library = f", {facts['runtime_library']}" if facts["runtime_library"] else ""
    print(f"runtime {facts['runtime_version']}, driver {facts['driver_version']}{library}")
    if facts["status"]["code"]:
        print(f"no devices: {facts['status']['name']} ({facts['status']['code']})")
    if facts["hiding"]:
        print(f"  {facts['hiding']}")
    for ordinal, one in enumerate(facts["devices"]):
        memory = one["memory"] / 2**30
        print(f"device {ordinal}: {one['name']}, {memory:.1f} GiB, {one['architecture']}")
    print(f"headers: {facts['include']}")
    print(f"libraries: {facts['libraries']}")


def show_config() -> None:
    """Print this installation: targets, versions, devices, folders.

    ``python -m PyGPU info`` prints the same, and ``python -m PyGPU doctor`` looks for faults.

    >>> import PyGPU
    >>> PyGPU.show_config()  # doctest: +ELLIPSIS
    PyGPU ...
    targets built: ...host
    target in use: host (...)
    ...
    """
    show(facts())


docstrings.complete(__name__)
