"""The current device's architecture, by the name that compilers and files of images have for it."""

from __future__ import annotations

from PyGPU._runtime import core, errors


def _attribute(number: int) -> int:
    ordinal = errors.check(core.cudaGetDevice(), "cudaGetDevice")
    return errors.check(core.cudaDeviceGetAttribute(number, ordinal), "cudaDeviceGetAttribute")


def capability() -> tuple[int, int]:
    """(major, minor) of the current device."""
    return _attribute(75), _attribute(76)


def device_architecture() -> str:
    """Name of the current device's architecture, as its vendor's compiler spells it."""
    if core.target == "hip":
        ordinal = errors.check(core.cudaGetDevice(), "cudaGetDevice")
        return core.cudaDeviceProp(ordinal).architecture()
    major, minor = capability()
    return f"sm_{major}{minor}"


def device_image() -> str:
    """Name by which images are chosen for the current device: ``sm_90``, ``host``, and with its
    features ``gfx90a:sramecc+:xnack-``."""
    if not errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount"):
        raise errors.exception_of("cudaGetDeviceCount", core.cudaError_t(100))
    properties = core.cudaDeviceProp(errors.check(core.cudaGetDevice(), "cudaGetDevice"))
    return ":".join(filter(None, (properties.architecture(), properties.features())))
