"""Files of images compiled ahead of time: their names, their contents and the choice for a device.

A file is called ``STEM.ARCHITECTURE.SUFFIX``, as in ``mine.sm_90.cubin``. Its last line is a note
with the types of the kernels' parameters, which loaders of ELF files and PTX ignore.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from PyGPU._compile.cache import architectures

_NOTE = b"\n// PyGPU kernels: "


class Image(NamedTuple):
    """An image, with the names and the parameters that :class:`PyGPU.driver.Module` receives."""

    image: bytes
    names: dict[str, str]
    parameters: Mapping[str, Sequence[tuple[str, str, int]]]


def name(stem: str, arch: str, suffix: str) -> str:
    """Return the name of an image's file. A colon, which scp reads as a host's, becomes ``_``."""
    return f"{stem}.{arch.replace(':', '_')}.{suffix}"


def packed(one: Image) -> bytes:
    """Return the image followed by its note."""
    facts = {"names": one.names, "parameters": dict(one.parameters)}
    is_binary = one.image.startswith(b"\x7fELF")
    image = one.image if is_binary else one.image.rstrip(b"\0")  # PTX is text
    return image + _NOTE + json.dumps(facts).encode() + b"\n"


def unpacked(data: bytes) -> Image:
    """Return the image without its note, and the facts of the note."""
    image, mark, line = data.rpartition(_NOTE)
    try:
        facts = json.loads(line) if mark else {}
        return Image(image if mark else data, facts.get("names", {}), facts.get("parameters", {}))
    except (ValueError, AttributeError):  # no note of ours
        return Image(data, {}, {})


def _in_folder(folder: Path) -> dict[str, dict[str, Path]]:
    """Return the files of images in a folder: stem -> architecture -> path."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        parts = path.name.rsplit(".", 2)
        arch = parts[1].replace("_", ":") if len(parts) == 3 else ""
        arch = arch if arch.startswith("gfx") else arch.replace(":", "_")
        if architectures.target_of(arch):
            found.setdefault(parts[0], {})[arch] = path
    return found


def has_images(path: Path) -> bool:
    """Report whether `path` is a folder, or a stem of images in its folder."""
    if path.is_dir() or not path.parent.is_dir():
        return path.is_dir()
    return path.name in _in_folder(path.parent)


def choose(path: Path, device: str) -> Path:
    """Return the file to load on a device.

    Parameters
    ----------
    path : Path
        A folder with the images of one text, or a stem, ``folder/mine``, in it.
    device : str
        Name of the device's architecture.

    Raises
    ------
    LookupError
        If no image runs on the device; the message lists the images.
    FileNotFoundError
        If `path` is neither.
    """
    found = _in_folder(path if path.is_dir() else path.parent)
    stems = list(found) if path.is_dir() else [path.name]
    if len(stems) > 1:
        raise LookupError(f"{path}: images of several texts; name one: {path / stems[0]}")
    images = found.get(stems[0], {}) if stems else {}
    if not images and not path.is_dir():
        raise FileNotFoundError(2, "no such file, and no images of that name", str(path))
    chosen = architectures.best(images, device)
    if chosen is None:
        there = ", ".join(sorted(one.name for one in images.values())) or "no image"
        raise LookupError(
            f"{path}: no image runs on the device, which is {device}; the folder has {there}; "
            f"make one: python -m PyGPU compile TEXT --arch {device} -o FOLDER"
        )
    return images[chosen]
