"""Enumerations of the driver API that other modules use as they are imported, and constants."""

from __future__ import annotations

from PyGPU._driver.enumeration import _Constants, _Enumeration, _listed

__all__ = [
    "array3d_flags",
    "ctx_flags",
    "host_alloc_flags",
    "ipc_mem_flags",
    "mem_host_register_flags",
    "profiler_output_mode",
]


@_listed
class ctx_flags(_Enumeration):
    """Ways for a thread to wait for the device, and other flags of a context.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.ctx_flags.SCHED_SPIN)
    1
    """

    SCHED_AUTO, SCHED_SPIN, SCHED_YIELD, BLOCKING_SYNC, SCHED_BLOCKING_SYNC = 0, 1, 2, 4, 4
    SCHED_MASK, MAP_HOST, LMEM_RESIZE_TO_MAX, FLAGS_MASK = 7, 8, 16, 255


@_listed
class profiler_output_mode(_Enumeration):
    """File formats of :func:`initialize_profiler`, which ignores them.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.profiler_output_mode.CSV)
    1
    """

    KEY_VALUE_PAIR, CSV = 0, 1


@_listed
class ipc_mem_flags(_Enumeration):
    """Flags for opening another process's memory.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS)
    1
    """

    LAZY_ENABLE_PEER_ACCESS = 1


class host_alloc_flags(_Constants):
    """Flags of page-locked memory.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.host_alloc_flags.DEVICEMAP
    2
    """

    PORTABLE, DEVICEMAP, WRITECOMBINED = 1, 2, 4


class mem_host_register_flags(_Constants):
    """Flags of registered host memory.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.mem_host_register_flags.DEVICEMAP
    2
    """

    PORTABLE, DEVICEMAP = 1, 2


class array3d_flags(_Constants):
    """Flags of an array.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.array3d_flags.SURFACE_LDST
    2
    """

    ARRAY3D_2DARRAY, ARRAY3D_LAYERED, SURFACE_LDST, CUBEMAP, TEXTURE_GATHER = 1, 1, 2, 4, 8


setattr(array3d_flags, "2DARRAY", 1)  # not an identifier: only getattr can read it
