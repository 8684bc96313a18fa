"""Names of the current device's architecture, for compilers and for the choice of an image."""

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
    """Return the name of the current device's architecture, as compilers expect it.

    Parameters
    ----------
    by_capability : bool
        If True, make the name from the compute capability: ``sm_90``. If False, return the name in
        the device's properties, as AMD's compilers need it; the properties are slower to read.
    """
    if not by_capability:
        return _properties().architecture()
    major, minor = capability()
    return f"sm_{major}{minor}"


def device_image() -> str:
    """Return the name of the current device's architecture, for the choice of an image.

    The name of an AMD GPU includes its features: ``gfx90a:sramecc+:xnack-``.
    """
    if not errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount"):
        raise errors.exception_of("cudaGetDeviceCount", core.cudaError_t(100))
    properties = _properties()
    return ":".join(filter(None, (properties.architecture(), properties.features())))
