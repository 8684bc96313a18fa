"""Folders with the text and the image of a compilation, which ``keep=True`` leaves behind."""

from __future__ import annotations

from pathlib import Path

from PyGPU._compile.cache import files


def folder_with(source: str) -> Path:
    """Make a folder with the text, and print its name as nvcc does with ``--keep``."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="PyGPU-"))
    files.write_text(folder / "kernel.cu", source)
    print(f"*** compiler output in {folder}")
    return folder


def add_image(folder: Path, image: bytes, suffix: str) -> None:
    """Write the image to the folder of its text, with the suffix that the vendor's tools use."""
    files.write(folder / f"kernel.{suffix}", image)
