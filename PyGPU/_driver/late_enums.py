"""Enumerations of the driver API that are imported at their first use: most programs use none."""

from __future__ import annotations

from PyGPU._driver.enumeration import _Enumeration, _listed

__all__ = [
    "address_mode",
    "array_cubemap_face",
    "array_format",
    "compute_mode",
    "event_flags",
    "filter_mode",
    "func_cache",
    "function_attribute",
    "graphics_register_flags",
    "jit_fallback",
    "jit_input_type",
    "jit_option",
    "jit_target",
    "limit",
    "mem_attach_flags",
    "memory_type",
    "pointer_attribute",
    "shared_config",
]


@_listed
class event_flags(_Enumeration):
    """Flags of an event.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.event_flags.DISABLE_TIMING)
    2
    """

    DEFAULT, BLOCKING_SYNC, DISABLE_TIMING, INTERPROCESS = 0, 1, 2, 4


@_listed
class pointer_attribute(_Enumeration):
    """Attributes of an address.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.pointer_attribute.MEMORY_TYPE)
    2
    """

    CONTEXT, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER = 1, 2, 3, 4


@_listed
class function_attribute(_Enumeration):
    """Attributes of a kernel; sizes are in bytes.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.function_attribute.NUM_REGS)
    4
    """

    MAX_THREADS_PER_BLOCK, SHARED_SIZE_BYTES, CONST_SIZE_BYTES, LOCAL_SIZE_BYTES = 0, 1, 2, 3
    NUM_REGS, PTX_VERSION, BINARY_VERSION, CACHE_MODE_CA = 4, 5, 6, 7
    MAX_DYNAMIC_SHARED_SIZE_BYTES, PREFERRED_SHARED_MEMORY_CARVEOUT, MAX = 8, 9, 16


@_listed
class func_cache(_Enumeration):
    """Preferred use of the on-chip memory: shared memory or L1 cache.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.func_cache.PREFER_SHARED)
    1
    """

    PREFER_NONE, PREFER_SHARED, PREFER_L1, PREFER_EQUAL = 0, 1, 2, 3


@_listed
class shared_config(_Enumeration):
    """Bank sizes of shared memory, which current devices do not let a program choose.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.shared_config.EIGHT_BYTE_BANK_SIZE)
    2
    """

    DEFAULT_BANK_SIZE, FOUR_BYTE_BANK_SIZE, EIGHT_BYTE_BANK_SIZE = 0, 1, 2


@_listed
class array_format(_Enumeration):
    """Element formats of arrays and textures.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.array_format.FLOAT)
    32
    """

    UNSIGNED_INT8, UNSIGNED_INT16, UNSIGNED_INT32, SIGNED_INT8, SIGNED_INT16 = 1, 2, 3, 8, 9
    SIGNED_INT32, HALF, FLOAT = 10, 16, 32


@_listed
class address_mode(_Enumeration):
    """Addressing of a texture outside its extent.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.address_mode.CLAMP)
    1
    """

    WRAP, CLAMP, MIRROR, BORDER = 0, 1, 2, 3


@_listed
class filter_mode(_Enumeration):
    """Filtering of a texture between its elements.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.filter_mode.LINEAR)
    1
    """

    POINT, LINEAR = 0, 1


@_listed
class memory_type(_Enumeration):
    """Kinds of memory that a copy reads or writes.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.memory_type.DEVICE)
    2
    """

    HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4


@_listed
class compute_mode(_Enumeration):
    """Restrictions on the processes that may use a device.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.compute_mode.EXCLUSIVE_PROCESS)
    3
    """

    DEFAULT, PROHIBITED, EXCLUSIVE_PROCESS = 0, 2, 3


@_listed
class jit_option(_Enumeration):
    """Options of :func:`module_from_buffer` and :class:`Linker`.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.jit_option.MAX_REGISTERS)
    0
    """

    MAX_REGISTERS, THREADS_PER_BLOCK, WALL_TIME, INFO_LOG_BUFFER = 0, 1, 2, 3
    INFO_LOG_BUFFER_SIZE_BYTES, ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE_BYTES = 4, 5, 6
    OPTIMIZATION_LEVEL, TARGET_FROM_CUCONTEXT, TARGET, FALLBACK_STRATEGY = 7, 8, 9, 10


@_listed
class jit_target(_Enumeration):
    """Architectures, as values of ``jit_option.TARGET``.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.jit_target.COMPUTE_90)
    90
    """

    COMPUTE_30, COMPUTE_32, COMPUTE_35, COMPUTE_37, COMPUTE_50, COMPUTE_52 = 30, 32, 35, 37, 50, 52
    COMPUTE_53, COMPUTE_60, COMPUTE_61, COMPUTE_62, COMPUTE_70, COMPUTE_72 = 53, 60, 61, 62, 70, 72
    COMPUTE_75, COMPUTE_80, COMPUTE_86, COMPUTE_90, COMPUTE_90A = 75, 80, 86, 90, 65626


@_listed
class jit_fallback(_Enumeration):
    """Preferred code when no image fits the device exactly.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.jit_fallback.PREFER_BINARY)
    1
    """

    PREFER_PTX, PREFER_BINARY = 0, 1


@_listed
class jit_input_type(_Enumeration):
    """Kinds of images that a :class:`Linker` accepts.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.jit_input_type.PTX)
    1
    """

    CUBIN, PTX, FATBINARY, OBJECT, LIBRARY = 0, 1, 2, 3, 4


@_listed
class mem_attach_flags(_Enumeration):
    """Streams and processors that may access managed memory.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.mem_attach_flags.GLOBAL)
    1
    """

    GLOBAL, HOST, SINGLE = 1, 2, 4


@_listed
class limit(_Enumeration):
    """Resource limits of a context.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.limit.PRINTF_FIFO_SIZE)
    1
    """

    STACK_SIZE, PRINTF_FIFO_SIZE, MALLOC_HEAP_SIZE, DEV_RUNTIME_SYNC_DEPTH = 0, 1, 2, 3
    DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4


@_listed
class graphics_register_flags(_Enumeration):
    """Access to graphics memory.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.graphics_register_flags.READ_ONLY)
    1
    """

    NONE, READ_ONLY, WRITE_DISCARD, SURFACE_LDST, TEXTURE_GATHER = 0, 1, 2, 4, 8


@_listed
class array_cubemap_face(_Enumeration):
    """Faces of a cubemap.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> int(drv.array_cubemap_face.NEGATIVE_X)
    1
    """

    POSITIVE_X, NEGATIVE_X, POSITIVE_Y, NEGATIVE_Y, POSITIVE_Z, NEGATIVE_Z = 0, 1, 2, 3, 4, 5
