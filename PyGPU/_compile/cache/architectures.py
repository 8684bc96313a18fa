"""Names of GPU architectures: the target that compiles for each, the image for a device."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NVIDIA = r"(sm|compute)_(\d{1,2})(\d)([af]?)"
_AMD = r"(gfx[0-9a-f]+)((?::(?:sramecc|xnack)[+-])*)"
HOST = "host"


def target_of(arch: str) -> str | None:
    """Return the target that compiles for an architecture: cuda for ``sm_90``, hip for ``gfx90a``.

    Returns
    -------
    str or None
        None if `arch` does not name an architecture.
    """
    if arch == HOST:
        return HOST
    if re.fullmatch(_AMD, arch):
        return "hip"
    return "cuda" if re.fullmatch(_NVIDIA, arch) else None


def rank(image: str, device: str) -> tuple[int, ...] | None:
    """Return the preference for an image on a device; None if the device cannot run the image.

    AMD: the image's features (``sramecc+``, ``xnack-``) must be among the device's. An image
    without a feature runs with either setting. NVIDIA: a binary needs a device of the same major
    version and of at least its minor version. PTX, which the driver compiles, needs a device of at
    least its version. A name with ``a`` runs on its version only, with ``f`` on its major version.

    Parameters
    ----------
    image : str
        Architecture that the image was compiled for.
    device : str
        Architecture of the device.
    """
    if image == device:
        return (3,)
    amd, its_amd = re.fullmatch(_AMD, image), re.fullmatch(_AMD, device)
    if amd and its_amd:
        features = {*filter(None, amd[2].split(":"))}
        runs = amd[1] == its_amd[1] and features <= {*its_amd[2].split(":")}
        return (2, len(features)) if runs else None
    nvidia, its = re.fullmatch(_NVIDIA, image), re.fullmatch(_NVIDIA, device)
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
    """Return the best of several images for a device; None if the device can run none."""
    ranks = {image: rank(image, device) for image in images}
    usable = {image: found for image, found in ranks.items() if found is not None}
    return max(usable, key=lambda image: usable[image]) if usable else None
