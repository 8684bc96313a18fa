"""Inspection of caches of compiled kernels."""

__all__ = ["SETTINGS", "entries"]

#: Environment variables of the cache: its folder, its size limit, and whether it is on.
SETTINGS = (
    *("PYGPU_CACHE_DIR", "PYCUDA_CACHE_DIR", "PYGPU_DISABLE_CACHE", "PYCUDA_DISABLE_CACHE"),
    "PYGPU_CACHE_MAXSIZE",
)


def entries(folder):
    """Return the files of kernels in a cache, without precompiled headers."""
    found = [p for p in folder.rglob("*") if p.is_file() and "prelude" not in p.parts]
    assert not list(folder.rglob(".new-*")), "a half-written file was left behind"
    return sorted(found)
