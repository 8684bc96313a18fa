"""The name of ``pycuda._mymako``: the package Mako, for programs that import it from there."""

try:
    import mako  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import mako.template  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError:
    raise ImportError(
        "pycuda._mymako: this program needs the package Mako (PyGPU does not): pip install Mako"
    ) from None

template = mako.template
