"""Caches of compiled kernels, as tests look at them."""

__all__ = ["SETTINGS", "entries"]

#: Variables that say where the cache is, and whether and how large.
SETTINGS = (
    *("PYGPU_CACHE_DIR", "PYCUDA_CACHE_DIR", "PYGPU_DISABLE_CACHE", "PYCUDA_DISABLE_CACHE"),
    "PYGPU_CACHE_MAXSIZE",
)


def entries(folder):
    """The files of kernels in a cache, without precompiled headers."""
    found = [p for p in folder.rglob("*") if p.is_file() and "prelude" not in p.parts]
    assert not list(folder.rglob(".new-*")), "a file half-written was left behind"
    return sorted(found)
