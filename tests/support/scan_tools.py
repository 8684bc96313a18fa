"""Scan kernels of both forms, with small tiles and chunks, so that few elements need many."""

import functools

import numpy as np
import pytest

from PyGPU._kernels import scan_kernel
from PyGPU._kernels.text import scan_tiles
from PyGPU._runtime.targets import core
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel

WARP = (
    scan_kernel.state.device_attribute(core.cudaDevAttrWarpSize)
    if core.cudaGetDeviceCount()[0]
    else 32
)


def small_tiles(text, options):
    size = text.dtype.itemsize
    items = {1: 16, 2: 8, 4: 12, 8: 2}.get(size, 3)
    return scan_kernel._tiles(text, scan_tiles.Tile(WARP, 2 * WARP, items, size, pause=20), options)


def tuned_tiles(text, options):
    tile = scan_tiles.tile_for(text.dtype.itemsize, WARP)
    return scan_kernel._tiles(text, tile, options)


def small_chunks(text, options):
    form = scan_kernel._Chunks(text, options)
    form._SHORTEST, form._most = 100 * text.dtype.itemsize, 7
    return form


FORMS = {"small tiles": small_tiles, "tiles": tuned_tiles, "chunks": small_chunks}


@functools.cache
def kernel(kind, form, dtype, expression="a + b", neutral=None, preamble="", **settings):
    """Return a scan kernel of one of the FORMS, cached, as compilation is slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan_kernel, "_build", FORMS[form])
        return kind(dtype, expression, neutral, preamble=preamble, **settings)


def both(form, dtype, expression="a + b", neutral=3, preamble=""):
    """Return the inclusive and the exclusive kernel."""
    return (
        kernel(InclusiveScanKernel, form, dtype, expression, None, preamble),
        kernel(ExclusiveScanKernel, form, dtype, expression, neutral, preamble),
    )


def shifted(inclusive, neutral):
    """Convert the result of an inclusive scan to that of the exclusive one."""
    result = np.empty_like(inclusive)
    result[:1] = neutral
    result[1:] = inclusive[:-1]
    return result
