"""``python -m PyGPU cache``: show or clear the cache of compiled kernels on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PyGPU._compile.cache import entries, eviction
from PyGPU._runtime import commands, settings


def _megabytes(nbytes: int) -> str:
    return f"{nbytes / 1e6:.1f} MB"


def _contents(found: list[eviction.Item]) -> str:
    """Return the numbers of kernels and precompiled headers, and their size."""
    headers = [item for item in found if Path(item.path).suffix == ".gch"]
    kernels = [item for item in found if eviction.is_entry(Path(item.path).name)]
    total = _megabytes(sum(item.nbytes for item in found))
    return f"{len(kernels)} kernels, {len(headers)} precompiled headers, {total}"


def main(arguments: Sequence[str]) -> None:
    """Run the command with its arguments."""
    parser = commands.parser(
        "cache",
        """Show or clear the cache on disk: compiled kernels, libraries of PyGPU.load, and the
        precompiled headers of the target host.

        PyGPU compiles each text once for each device and set of options; later runs load the
        result. PYGPU_CACHE_DIR sets the folder, PYGPU_CACHE_MAXSIZE the limit, above which the
        files that were not used for the longest time are removed. PYGPU_DISABLE_CACHE=1 turns the
        cache off. It is always safe to clear it: kernels are compiled again.""",
        [
            ("", "the folder, the number of kernels, their size and the limit"),
            ("--clear", "remove everything"),
        ],
    )
    parser.add_argument(
        "--clear", action="store_true", help="remove all kernels and precompiled headers"
    )
    is_clearing = parser.parse_args(arguments).clear
    folder = entries.directory(None)
    if folder is None:
        print("cache: off, by PYGPU_DISABLE_CACHE or for want of a home folder")
        return
    print(f"cache: {folder}")
    if is_clearing:
        print(f"removed: {_contents(eviction.clear(folder))}")
    left = eviction.items(folder)
    if left or not is_clearing:
        limit = _megabytes(settings.value("PYGPU_CACHE_MAXSIZE"))
        print(f"kept: {_contents(left)}, of at most {limit} (PYGPU_CACHE_MAXSIZE, as in 2G)")
