"""Names of the current device's architecture, for compilers and for files of images."""

from __future__ import annotations

from PyGPU._runtime import core, errors


def _properties() -> core.cudaDeviceProp:
    return core.cudaDeviceProp(errors.check(core.cudaGetDevice(), "cudaGetDevice"))


def _attribute(number: int) -> int:
    ordinal = errors.check(core.cudaGetDevice(), "cudaGetDevice")
    return errors.check(core.cudaDeviceGetAttribute(number, ordinal), "cudaDeviceGetAttribute")


def capability() -> tuple[int, int]:
    """Return the compute capability (major, minor) of the current device."""
    return _attribute(75), _attribute(76)


def architecture(by_capability: bool) -> str:
    """Return the name that a compiler has for the current device's architecture.

    Parameters
    ----------
    by_capability : bool
        The name is made of the compute capability: ``sm_90``. The device's properties, which have
        the name on AMD, are slower to read.
    """
    if not by_capability:
        return _properties().architecture()
    major, minor = capability()
    return f"sm_{major}{minor}"


def device_image() -> str:
    """Return the name by which images are chosen for the current device.

    The name is ``sm_90`` or ``host``, and includes AMD's features: ``gfx90a:sramecc+:xnack-``.
    """
    if not errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount"):
        raise errors.exception_of("cudaGetDeviceCount", core.cudaError_t(100))
    properties = _properties()
    return ":".join(filter(None, (properties.architecture(), properties.features())))
