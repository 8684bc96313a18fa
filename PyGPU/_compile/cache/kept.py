"""What ``keep=True`` leaves behind: the text and the image of a compilation, in a folder."""

from __future__ import annotations

import tempfile
from pathlib import Path

from PyGPU._compile.cache import architectures, files


def folder_with(source: str) -> Path:
    """A new folder that holds the text, whose name is printed as nvcc's callers are used to."""
    folder = Path(tempfile.mkdtemp(prefix="PyGPU-"))
    files.write_text(folder / "kernel.cu", source)
    print(f"*** compiler output in {folder}")
    return folder


def add_image(folder: Path, image: bytes, target: str) -> None:
    """Beside the text, by the name that nvcc, or whoever makes such images, gives it."""
    (folder / f"kernel.{architectures.suffix(image, target)}").write_bytes(image)
