"""Types of PyGPU.library: a stub for editors and type checkers."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from typing_extensions import TypeAlias

from PyGPU._host import LibraryFunction as LibraryFunction
from PyGPU._types import CacheDir

_Path: TypeAlias = str | PathLike[str]

class Library:
    path: Path
    __iter__: None
    def __getattr__(self, name: str) -> LibraryFunction: ...
    def __getitem__(self, name: str) -> LibraryFunction: ...

def load(
    source: _Path | Sequence[_Path],
    declarations: str | PathLike[str] = "",
    *,
    options: Sequence[str] = (),
    include_dirs: Sequence[_Path] = (),
    libraries: Sequence[str] = (),
    arch: str | Sequence[str] = "native",
    cache_dir: CacheDir = None,
    errors: bool = False,
) -> Library: ...
def build(
    *sources: _Path,
    out: _Path | None = None,
    target: str | None = None,
    arch: str | Sequence[str] = "native",
    options: Sequence[str] = (),
    include_dirs: Sequence[_Path] = (),
    libraries: Sequence[str] = (),
    cache_dir: CacheDir = None,
) -> Path: ...
