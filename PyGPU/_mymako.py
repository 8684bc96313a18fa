"""The name of ``pycuda._mymako``: the package Mako, for programs that fetch it from there."""

try:
    import mako  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import mako.template  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError:
    raise ImportError(
        "PyGPU needs no Mako, but a program that imports pycuda._mymako does: pip install Mako"
    ) from None

template = mako.template
