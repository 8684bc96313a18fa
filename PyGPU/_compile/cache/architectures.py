"""Names of GPU architectures: the target that compiles for each, the images that a device loads."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NVIDIA = re.compile(r"(sm|compute)_(\d{1,2})(\d)([af]?)")
_AMD = re.compile(r"(gfx[0-9a-f]+)((?::(?:sramecc|xnack)[+-])*)")
HOST = "host"


def target_of(arch: str) -> str | None:
    """Target that compiles for an architecture: ``sm_90`` is cuda's, ``gfx90a`` is hip's.

    Returns
    -------
    str or None
        None where `arch` is no architecture's name.
    """
    if arch == HOST:
        return HOST
    if _AMD.fullmatch(arch):
        return "hip"
    return "cuda" if _NVIDIA.fullmatch(arch) else None


def rank(image: str, device: str) -> tuple[int, ...] | None:
    """Preference for an image on a device, the highest first; None where it cannot run.

    AMD: the image's features (``sramecc+``, ``xnack-``) are among the device's. An image without a
    feature runs with either setting. NVIDIA: an image of the same major version and of no later
    minor version; PTX of no later version, which the driver compiles. Names that end in ``a`` run
    on that version alone, in ``f`` on that major version alone.

    Parameters
    ----------
    image : str
        Architecture that the image was compiled for.
    device : str
        Architecture of the device.
    """
    if image == device:
        return (3,)
    amd, its_amd = _AMD.fullmatch(image), _AMD.fullmatch(device)
    if amd and its_amd:
        features = {*filter(None, amd[2].split(":"))}
        runs = amd[1] == its_amd[1] and features <= {*its_amd[2].split(":")}
        return (2, len(features)) if runs else None
    nvidia, its = _NVIDIA.fullmatch(image), _NVIDIA.fullmatch(device)
    if not (nvidia and its):
        return None
    version, at_most = (int(nvidia[2]), int(nvidia[3])), (int(its[2]), int(its[3]))
    is_binary, suffix = nvidia[1] == "sm", nvidia[4]
    same_major = version[0] == at_most[0]
    if version > at_most or (suffix == "a" and version != at_most):
        return None
    if not same_major and (is_binary or suffix):
        return None
    return (2 if is_binary else 1, *version, " fa".index(suffix or " "))


def best(images: Iterable[str], device: str) -> str | None:
    """Image to load on a device, of those for several architectures; None where none runs."""
    ranks = {image: rank(image, device) for image in images}
    usable = {image: found for image, found in ranks.items() if found is not None}
    return max(usable, key=lambda image: usable[image]) if usable else None
