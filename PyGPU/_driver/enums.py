"""Enumerations and flags of the driver API: PyCUDA's names, CUDA's numbers."""

from __future__ import annotations

import enum
import inspect
from typing import Any, ClassVar

__all__ = [
    "TRSA_OVERRIDE_FORMAT",
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "TRSF_SRGB",
    "TR_DEFAULT",
    "address_mode",
    "array3d_flags",
    "array_cubemap_face",
    "array_format",
    "compute_mode",
    "ctx_flags",
    "device_attribute",
    "event_flags",
    "filter_mode",
    "func_cache",
    "function_attribute",
    "graphics_register_flags",
    "host_alloc_flags",
    "ipc_mem_flags",
    "jit_fallback",
    "jit_input_type",
    "jit_option",
    "jit_target",
    "limit",
    "mem_attach_flags",
    "mem_host_register_flags",
    "memory_type",
    "pointer_attribute",
    "profiler_output_mode",
    "shared_config",
]

TRSA_OVERRIDE_FORMAT = 1
TRSF_READ_AS_INTEGER = 1
TRSF_NORMALIZED_COORDINATES = 2
TRSF_SRGB = 16
TR_DEFAULT = -1


_PARAMETERS = """

Parameters
----------
value : int
    Number of a member.
"""


class _Metaclass(enum.EnumMeta):
    """Adds ``names`` and ``values``, PyCUDA's dicts of members, and the docstring's parameter."""

    # From Python 3.14 on a class cannot replace the signature of a lookup by number.
    __signature__ = inspect.Signature(
        [inspect.Parameter("value", inspect.Parameter.POSITIONAL_ONLY)]
    )
    names: dict[str, Any]
    values: dict[int, Any]

    def __init__(cls, *arguments: Any) -> None:
        super().__init__(*arguments)
        cls.names = dict(cls.__members__)
        cls.values = {member.value: member for member in cls.names.values()}
        if cls.names and cls.__module__ == __name__:
            cls.__module__ = "PyGPU.driver"
        if cls.__doc__:  # None with python -OO
            cls.__doc__ += _PARAMETERS


class _Enumeration(enum.IntEnum, metaclass=_Metaclass):
    """An int that prints as its name."""

    names: ClassVar[dict[str, _Enumeration]]
    values: ClassVar[dict[int, _Enumeration]]

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name if not spec else int(self), spec)


class _Constants:
    """A namespace of plain ints, which cannot be instantiated."""

    def __init_subclass__(cls) -> None:
        cls.__module__ = "PyGPU.driver"

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} only holds constants and makes no objects")


class address_mode(_Enumeration):
    """Addressing of a texture outside its extent."""

    WRAP, CLAMP, MIRROR, BORDER = 0, 1, 2, 3


class array_cubemap_face(_Enumeration):
    """Faces of a cubemap."""

    POSITIVE_X, NEGATIVE_X, POSITIVE_Y, NEGATIVE_Y, POSITIVE_Z, NEGATIVE_Z = 0, 1, 2, 3, 4, 5


class array_format(_Enumeration):
    """Element formats of arrays and textures."""

    UNSIGNED_INT8, UNSIGNED_INT16, UNSIGNED_INT32, SIGNED_INT8, SIGNED_INT16 = 1, 2, 3, 8, 9
    SIGNED_INT32, HALF, FLOAT = 10, 16, 32


class compute_mode(_Enumeration):
    """Restrictions on the processes that may use a device."""

    DEFAULT, PROHIBITED, EXCLUSIVE_PROCESS = 0, 2, 3


class ctx_flags(_Enumeration):
    """Ways for a thread to wait for the device, and other flags of a context."""

    SCHED_AUTO, SCHED_SPIN, SCHED_YIELD, BLOCKING_SYNC, SCHED_BLOCKING_SYNC = 0, 1, 2, 4, 4
    SCHED_MASK, MAP_HOST, LMEM_RESIZE_TO_MAX, FLAGS_MASK = 7, 8, 16, 255


class device_attribute(_Enumeration):
    """Attributes of a device, for :meth:`Device.get_attribute`."""

    MAX_THREADS_PER_BLOCK, MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = 1, 2, 3, 4
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z, MAX_SHARED_MEMORY_PER_BLOCK = 5, 6, 7, 8
    SHARED_MEMORY_PER_BLOCK, TOTAL_CONSTANT_MEMORY, WARP_SIZE, MAX_PITCH = 8, 9, 10, 11
    MAX_REGISTERS_PER_BLOCK, REGISTERS_PER_BLOCK, CLOCK_RATE, TEXTURE_ALIGNMENT = 12, 12, 13, 14
    GPU_OVERLAP, MULTIPROCESSOR_COUNT, KERNEL_EXEC_TIMEOUT, INTEGRATED = 15, 16, 17, 18
    CAN_MAP_HOST_MEMORY, COMPUTE_MODE, MAXIMUM_TEXTURE1D_WIDTH = 19, 20, 21
    MAXIMUM_TEXTURE2D_WIDTH, MAXIMUM_TEXTURE2D_HEIGHT, MAXIMUM_TEXTURE3D_WIDTH = 22, 23, 24
    MAXIMUM_TEXTURE3D_HEIGHT, MAXIMUM_TEXTURE3D_DEPTH, MAXIMUM_TEXTURE2D_ARRAY_WIDTH = 25, 26, 27
    MAXIMUM_TEXTURE2D_LAYERED_WIDTH, MAXIMUM_TEXTURE2D_ARRAY_HEIGHT = 27, 28
    MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES = 28, 29
    MAXIMUM_TEXTURE2D_LAYERED_LAYERS, SURFACE_ALIGNMENT, CONCURRENT_KERNELS = 29, 30, 31
    ECC_ENABLED, PCI_BUS_ID, PCI_DEVICE_ID, TCC_DRIVER, MEMORY_CLOCK_RATE = 32, 33, 34, 35, 36
    GLOBAL_MEMORY_BUS_WIDTH, L2_CACHE_SIZE, MAX_THREADS_PER_MULTIPROCESSOR = 37, 38, 39
    ASYNC_ENGINE_COUNT, UNIFIED_ADDRESSING, MAXIMUM_TEXTURE1D_LAYERED_WIDTH = 40, 41, 42
    MAXIMUM_TEXTURE1D_LAYERED_LAYERS, MAXIMUM_TEXTURE2D_GATHER_WIDTH = 43, 45
    MAXIMUM_TEXTURE2D_GATHER_HEIGHT, MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE = 46, 47
    MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE = 48, 49
    PCI_DOMAIN_ID, TEXTURE_PITCH_ALIGNMENT, MAXIMUM_TEXTURECUBEMAP_WIDTH = 50, 51, 52
    MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS = 53, 54
    MAXIMUM_SURFACE1D_WIDTH, MAXIMUM_SURFACE2D_WIDTH, MAXIMUM_SURFACE2D_HEIGHT = 55, 56, 57
    MAXIMUM_SURFACE3D_WIDTH, MAXIMUM_SURFACE3D_HEIGHT, MAXIMUM_SURFACE3D_DEPTH = 58, 59, 60
    MAXIMUM_SURFACE1D_LAYERED_WIDTH, MAXIMUM_SURFACE1D_LAYERED_LAYERS = 61, 62
    MAXIMUM_SURFACE2D_LAYERED_WIDTH, MAXIMUM_SURFACE2D_LAYERED_HEIGHT = 63, 64
    MAXIMUM_SURFACE2D_LAYERED_LAYERS, MAXIMUM_SURFACECUBEMAP_WIDTH = 65, 66
    MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS = 67, 68
    MAXIMUM_TEXTURE1D_LINEAR_WIDTH, MAXIMUM_TEXTURE2D_LINEAR_WIDTH = 69, 70
    MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, MAXIMUM_TEXTURE2D_LINEAR_PITCH = 71, 72
    MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT = 73, 74
    COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = 75, 76
    MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, STREAM_PRIORITIES_SUPPORTED = 77, 78
    GLOBAL_L1_CACHE_SUPPORTED, LOCAL_L1_CACHE_SUPPORTED = 79, 80
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, MAX_REGISTERS_PER_MULTIPROCESSOR = 81, 82
    MANAGED_MEMORY, MULTI_GPU_BOARD, MULTI_GPU_BOARD_GROUP_ID = 83, 84, 85
    HOST_NATIVE_ATOMIC_SUPPORTED, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 86, 87
    PAGEABLE_MEMORY_ACCESS, CONCURRENT_MANAGED_ACCESS, COMPUTE_PREEMPTION_SUPPORTED = 88, 89, 90
    CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 91, 97
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 100, 101
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, HANDLE_TYPE_WIN32_HANDLE_SUPPORTED = 103, 104
    HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED, MAX_BLOCKS_PER_MULTIPROCESSOR = 105, 106
    GENERIC_COMPRESSION_SUPPORTED, MAX_PERSISTING_L2_CACHE_SIZE = 107, 108
    RESERVED_SHARED_MEMORY_PER_BLOCK, READ_ONLY_HOST_REGISTER_SUPPORTED = 111, 113
    MEMORY_POOLS_SUPPORTED = 115


class event_flags(_Enumeration):
    """Flags of an event."""

    DEFAULT, BLOCKING_SYNC, DISABLE_TIMING, INTERPROCESS = 0, 1, 2, 4


class filter_mode(_Enumeration):
    """Filtering of a texture between its elements."""

    POINT, LINEAR = 0, 1


class func_cache(_Enumeration):
    """Preferred use of the on-chip memory: shared memory or L1 cache."""

    PREFER_NONE, PREFER_SHARED, PREFER_L1, PREFER_EQUAL = 0, 1, 2, 3


class function_attribute(_Enumeration):
    """Attributes of a kernel; sizes are in bytes."""

    MAX_THREADS_PER_BLOCK, SHARED_SIZE_BYTES, CONST_SIZE_BYTES, LOCAL_SIZE_BYTES = 0, 1, 2, 3
    NUM_REGS, PTX_VERSION, BINARY_VERSION, CACHE_MODE_CA = 4, 5, 6, 7
    MAX_DYNAMIC_SHARED_SIZE_BYTES, PREFERRED_SHARED_MEMORY_CARVEOUT, MAX = 8, 9, 16


class graphics_register_flags(_Enumeration):
    """Access to graphics memory."""

    NONE, READ_ONLY, WRITE_DISCARD, SURFACE_LDST, TEXTURE_GATHER = 0, 1, 2, 4, 8


class ipc_mem_flags(_Enumeration):
    """Flags for opening another process's memory."""

    LAZY_ENABLE_PEER_ACCESS = 1


class jit_fallback(_Enumeration):
    """Preferred code when no image fits the device exactly."""

    PREFER_PTX, PREFER_BINARY = 0, 1


class jit_input_type(_Enumeration):
    """Kinds of images that a :class:`Linker` accepts."""

    CUBIN, PTX, FATBINARY, OBJECT, LIBRARY = 0, 1, 2, 3, 4


class jit_option(_Enumeration):
    """Options of :func:`module_from_buffer` and :class:`Linker`."""

    MAX_REGISTERS, THREADS_PER_BLOCK, WALL_TIME, INFO_LOG_BUFFER = 0, 1, 2, 3
    INFO_LOG_BUFFER_SIZE_BYTES, ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE_BYTES = 4, 5, 6
    OPTIMIZATION_LEVEL, TARGET_FROM_CUCONTEXT, TARGET, FALLBACK_STRATEGY = 7, 8, 9, 10


class jit_target(_Enumeration):
    """Architectures, as values of ``jit_option.TARGET``."""

    COMPUTE_30, COMPUTE_32, COMPUTE_35, COMPUTE_37, COMPUTE_50, COMPUTE_52 = 30, 32, 35, 37, 50, 52
    COMPUTE_53, COMPUTE_60, COMPUTE_61, COMPUTE_62, COMPUTE_70, COMPUTE_72 = 53, 60, 61, 62, 70, 72
    COMPUTE_75, COMPUTE_80, COMPUTE_86, COMPUTE_90, COMPUTE_90A = 75, 80, 86, 90, 65626


class limit(_Enumeration):
    """Resource limits of a context."""

    STACK_SIZE, PRINTF_FIFO_SIZE, MALLOC_HEAP_SIZE, DEV_RUNTIME_SYNC_DEPTH = 0, 1, 2, 3
    DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4


class mem_attach_flags(_Enumeration):
    """Streams and processors that may access managed memory."""

    GLOBAL, HOST, SINGLE = 1, 2, 4


class memory_type(_Enumeration):
    """Kinds of memory that a copy reads or writes."""

    HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4


class pointer_attribute(_Enumeration):
    """Attributes of an address."""

    CONTEXT, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER = 1, 2, 3, 4


class profiler_output_mode(_Enumeration):
    """File formats of :func:`initialize_profiler`, which ignores them."""

    KEY_VALUE_PAIR, CSV = 0, 1


class shared_config(_Enumeration):
    """Bank sizes of shared memory, which current devices do not let a program choose."""

    DEFAULT_BANK_SIZE, FOUR_BYTE_BANK_SIZE, EIGHT_BYTE_BANK_SIZE = 0, 1, 2


class array3d_flags(_Constants):
    """Flags of an array."""

    ARRAY3D_2DARRAY, ARRAY3D_LAYERED, SURFACE_LDST, CUBEMAP, TEXTURE_GATHER = 1, 1, 2, 4, 8


class host_alloc_flags(_Constants):
    """Flags of page-locked memory."""

    PORTABLE, DEVICEMAP, WRITECOMBINED = 1, 2, 4


class mem_host_register_flags(_Constants):
    """Flags of registered host memory."""

    PORTABLE, DEVICEMAP = 1, 2


setattr(array3d_flags, "2DARRAY", 1)  # not an identifier: only getattr can read it
