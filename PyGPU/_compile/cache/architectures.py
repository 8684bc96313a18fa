"""Names of GPU architectures: the target of an architecture, and the best image for a device."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NVIDIA = r"(sm|compute)_(\d{1,2})(\d)([af]?)"
_AMD = r"(gfx[0-9a-f]+)((?::(?:sramecc|xnack)[+-])*)"
HOST = "host"


def target_of(arch: str) -> str | None:
    """Return the target whose compiler supports an architecture.

    Returns
    -------
    str or None
        Name of the target: cuda for ``sm_90``, hip for ``gfx90a``. None if `arch` does not name an
        architecture.
    """
    if arch == HOST:
        return HOST
    if re.fullmatch(_AMD, arch):
        return "hip"
    return "cuda" if re.fullmatch(_NVIDIA, arch) else None


def rank(image: str, device: str) -> tuple[int, ...] | None:
    """Return the rank of an image for a device: of several images, the one of highest rank is best.

    The rules for AMD GPUs:

    - The image and the device have the same processor, such as ``gfx90a``.
    - The device has all features of the image, such as ``sramecc+`` or ``xnack-``. An image that
      does not state a feature runs with either setting of it.

    The rules for NVIDIA GPUs, whose architectures have a major and a minor version:

    - A binary (``sm_86``) runs on devices of its major version, from its minor version on.
    - PTX (``compute_86``), which the driver compiles, runs on devices of its version or newer.
    - With the suffix ``a``, both run only on devices of exactly their version. With the suffix
      ``f``, PTX also needs a device of its major version.

    Parameters
    ----------
    image : str
        Architecture that the image was compiled for.
    device : str
        Architecture of the device.

    Returns
    -------
    tuple of int or None
        Rank of the image; None if the device cannot run the image.
    """
    if image == device:
        return (3,)
    amd_image, amd_device = re.fullmatch(_AMD, image), re.fullmatch(_AMD, device)
    if amd_image and amd_device:
        features = {*filter(None, amd_image[2].split(":"))}
        has_features = features <= {*amd_device[2].split(":")}
        return (2, len(features)) if amd_image[1] == amd_device[1] and has_features else None
    nvidia_image, nvidia_device = re.fullmatch(_NVIDIA, image), re.fullmatch(_NVIDIA, device)
    if not (nvidia_image and nvidia_device):
        return None
    version = (int(nvidia_image[2]), int(nvidia_image[3]))
    device_version = (int(nvidia_device[2]), int(nvidia_device[3]))
    is_binary, suffix = nvidia_image[1] == "sm", nvidia_image[4]
    is_same_major = version[0] == device_version[0]
    if version > device_version or (suffix == "a" and version != device_version):
        return None
    if not is_same_major and (is_binary or suffix):
        return None
    return (2 if is_binary else 1, *version, " fa".index(suffix or " "))


def best(images: Iterable[str], device: str) -> str | None:
    """Return the image of the highest rank for a device; None if the device can run none."""
    ranks = {image: rank(image, device) for image in images}
    usable = {image: key for image, key in ranks.items() if key is not None}
    return max(usable, key=lambda image: usable[image]) if usable else None
