"""Enumerations and flags of the driver API, under PyCUDA's names. The numbers are CUDA's."""

import enum

__all__ = [
    "TRSA_OVERRIDE_FORMAT",
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
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
TR_DEFAULT = -1


class _Enumeration(enum.IntEnum):
    """Members are ints that print as their names."""

    def __str__(self):
        return self.name

    def __format__(self, spec):
        return format(self.name if not spec else int(self), spec)


def _enumeration(name, doc, members):
    """An enumeration of ints, with PyCUDA's dicts ``names`` and ``values``."""
    made = _Enumeration(name, members, module="PyGPU.driver")
    made.__doc__ = doc
    made.names = dict(made.__members__)
    made.values = {int(member): member for member in made}
    return made


def _numbered(text):
    """{"A": 1, "B": 2} from "A=1 B=2"."""
    return {name: int(value) for name, value in (part.split("=") for part in text.split())}


def _flags(name, doc, text):
    """A plain class that holds ints and makes no objects."""

    def refuse(cls):
        raise TypeError(f"{name} only holds constants")

    body = {"__doc__": doc, "__module__": "PyGPU.driver", "__new__": refuse, **_numbered(text)}
    return type(name, (), body)


ctx_flags = _enumeration(
    "ctx_flags",
    "How a thread waits for the device.",
    _numbered(
        "SCHED_AUTO=0 SCHED_SPIN=1 SCHED_YIELD=2 BLOCKING_SYNC=4 SCHED_BLOCKING_SYNC=4 "
        "SCHED_MASK=7 MAP_HOST=8 LMEM_RESIZE_TO_MAX=16 FLAGS_MASK=255"
    ),
)
event_flags = _enumeration(
    "event_flags",
    "What an event is for.",
    _numbered("DEFAULT=0 BLOCKING_SYNC=1 DISABLE_TIMING=2 INTERPROCESS=4"),
)
pointer_attribute = _enumeration(
    "pointer_attribute",
    "What can be asked of an address.",
    _numbered("CONTEXT=1 MEMORY_TYPE=2 DEVICE_POINTER=3 HOST_POINTER=4"),
)
profiler_output_mode = _enumeration(
    "profiler_output_mode", "Formats of old profilers.", _numbered("KEY_VALUE_PAIR=0 CSV=1")
)
function_attribute = _enumeration(
    "function_attribute",
    "What can be asked of a kernel; sizes in bytes.",
    _numbered(
        "MAX_THREADS_PER_BLOCK=0 SHARED_SIZE_BYTES=1 CONST_SIZE_BYTES=2 LOCAL_SIZE_BYTES=3 "
        "NUM_REGS=4 PTX_VERSION=5 BINARY_VERSION=6 CACHE_MODE_CA=7 "
        "MAX_DYNAMIC_SHARED_SIZE_BYTES=8 PREFERRED_SHARED_MEMORY_CARVEOUT=9 MAX=16"
    ),
)
func_cache = _enumeration(
    "func_cache",
    "What on-chip memory is preferred for.",
    _numbered("PREFER_NONE=0 PREFER_SHARED=1 PREFER_L1=2 PREFER_EQUAL=3"),
)
shared_config = _enumeration(
    "shared_config",
    "Bank sizes of shared memory, which devices no longer let one choose.",
    _numbered("DEFAULT_BANK_SIZE=0 FOUR_BYTE_BANK_SIZE=1 EIGHT_BYTE_BANK_SIZE=2"),
)
array_format = _enumeration(
    "array_format",
    "Element formats of arrays and textures.",
    _numbered(
        "UNSIGNED_INT8=1 UNSIGNED_INT16=2 UNSIGNED_INT32=3 SIGNED_INT8=8 SIGNED_INT16=9 "
        "SIGNED_INT32=10 HALF=16 FLOAT=32"
    ),
)
address_mode = _enumeration(
    "address_mode",
    "What a texture gives outside its extent.",
    _numbered("WRAP=0 CLAMP=1 MIRROR=2 BORDER=3"),
)
filter_mode = _enumeration(
    "filter_mode", "What a texture gives between its elements.", _numbered("POINT=0 LINEAR=1")
)
memory_type = _enumeration(
    "memory_type", "Sides of a copy.", _numbered("HOST=1 DEVICE=2 ARRAY=3 UNIFIED=4")
)
compute_mode = _enumeration(
    "compute_mode",
    "Who may use a device.",
    _numbered("DEFAULT=0 PROHIBITED=2 EXCLUSIVE_PROCESS=3"),
)
jit_option = _enumeration(
    "jit_option",
    "Options of module_from_buffer.",
    _numbered(
        "MAX_REGISTERS=0 THREADS_PER_BLOCK=1 WALL_TIME=2 INFO_LOG_BUFFER=3 "
        "INFO_LOG_BUFFER_SIZE_BYTES=4 ERROR_LOG_BUFFER=5 ERROR_LOG_BUFFER_SIZE_BYTES=6 "
        "OPTIMIZATION_LEVEL=7 TARGET_FROM_CUCONTEXT=8 TARGET=9 FALLBACK_STRATEGY=10"
    ),
)
jit_target = _enumeration(
    "jit_target",
    "Architectures, for jit_option.TARGET.",
    {
        **{
            f"COMPUTE_{number}": number
            for number in (30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 90)
        },
        "COMPUTE_90A": 65626,
    },
)
jit_fallback = _enumeration(
    "jit_fallback",
    "What to do without an image for the device.",
    _numbered("PREFER_PTX=0 PREFER_BINARY=1"),
)
jit_input_type = _enumeration(
    "jit_input_type",
    "What a linker is given.",
    _numbered("CUBIN=0 PTX=1 FATBINARY=2 OBJECT=3 LIBRARY=4"),
)
mem_attach_flags = _enumeration(
    "mem_attach_flags", "Who may touch managed memory.", _numbered("GLOBAL=1 HOST=2 SINGLE=4")
)
limit = _enumeration(
    "limit",
    "Limits of a context.",
    _numbered(
        "STACK_SIZE=0 PRINTF_FIFO_SIZE=1 MALLOC_HEAP_SIZE=2 DEV_RUNTIME_SYNC_DEPTH=3 "
        "DEV_RUNTIME_PENDING_LAUNCH_COUNT=4"
    ),
)
ipc_mem_flags = _enumeration(
    "ipc_mem_flags", "How another process's memory is opened.", {"LAZY_ENABLE_PEER_ACCESS": 1}
)
graphics_register_flags = _enumeration(
    "graphics_register_flags",
    "How graphics memory is used.",
    _numbered("NONE=0 READ_ONLY=1 WRITE_DISCARD=2 SURFACE_LDST=4 TEXTURE_GATHER=8"),
)
array_cubemap_face = _enumeration(
    "array_cubemap_face",
    "Faces of a cubemap.",
    _numbered("POSITIVE_X=0 NEGATIVE_X=1 POSITIVE_Y=2 NEGATIVE_Y=3 POSITIVE_Z=4 NEGATIVE_Z=5"),
)
host_alloc_flags = _flags(
    "host_alloc_flags", "Kinds of page-locked memory.", "PORTABLE=1 DEVICEMAP=2 WRITECOMBINED=4"
)
mem_host_register_flags = _flags(
    "mem_host_register_flags", "Kinds of registered memory.", "PORTABLE=1 DEVICEMAP=2"
)
array3d_flags = _flags(
    "array3d_flags",
    "Kinds of arrays.",
    "ARRAY3D_2DARRAY=1 ARRAY3D_LAYERED=1 2DARRAY=1 SURFACE_LDST=2 CUBEMAP=4 TEXTURE_GATHER=8",
)

device_attribute = _enumeration(
    "device_attribute",
    "What can be asked of a device.",
    _numbered("""
    MAX_THREADS_PER_BLOCK=1 MAX_BLOCK_DIM_X=2 MAX_BLOCK_DIM_Y=3 MAX_BLOCK_DIM_Z=4
    MAX_GRID_DIM_X=5 MAX_GRID_DIM_Y=6 MAX_GRID_DIM_Z=7 MAX_SHARED_MEMORY_PER_BLOCK=8
    SHARED_MEMORY_PER_BLOCK=8 TOTAL_CONSTANT_MEMORY=9 WARP_SIZE=10 MAX_PITCH=11
    MAX_REGISTERS_PER_BLOCK=12 REGISTERS_PER_BLOCK=12 CLOCK_RATE=13 TEXTURE_ALIGNMENT=14
    GPU_OVERLAP=15 MULTIPROCESSOR_COUNT=16 KERNEL_EXEC_TIMEOUT=17 INTEGRATED=18
    CAN_MAP_HOST_MEMORY=19 COMPUTE_MODE=20 MAXIMUM_TEXTURE1D_WIDTH=21
    MAXIMUM_TEXTURE2D_WIDTH=22 MAXIMUM_TEXTURE2D_HEIGHT=23 MAXIMUM_TEXTURE3D_WIDTH=24
    MAXIMUM_TEXTURE3D_HEIGHT=25 MAXIMUM_TEXTURE3D_DEPTH=26 MAXIMUM_TEXTURE2D_ARRAY_WIDTH=27
    MAXIMUM_TEXTURE2D_LAYERED_WIDTH=27 MAXIMUM_TEXTURE2D_ARRAY_HEIGHT=28
    MAXIMUM_TEXTURE2D_LAYERED_HEIGHT=28 MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES=29
    MAXIMUM_TEXTURE2D_LAYERED_LAYERS=29 SURFACE_ALIGNMENT=30 CONCURRENT_KERNELS=31
    ECC_ENABLED=32 PCI_BUS_ID=33 PCI_DEVICE_ID=34 TCC_DRIVER=35 MEMORY_CLOCK_RATE=36
    GLOBAL_MEMORY_BUS_WIDTH=37 L2_CACHE_SIZE=38 MAX_THREADS_PER_MULTIPROCESSOR=39
    ASYNC_ENGINE_COUNT=40 UNIFIED_ADDRESSING=41 MAXIMUM_TEXTURE1D_LAYERED_WIDTH=42
    MAXIMUM_TEXTURE1D_LAYERED_LAYERS=43 MAXIMUM_TEXTURE2D_GATHER_WIDTH=45
    MAXIMUM_TEXTURE2D_GATHER_HEIGHT=46 MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE=47
    MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE=48 MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE=49
    PCI_DOMAIN_ID=50 TEXTURE_PITCH_ALIGNMENT=51 MAXIMUM_TEXTURECUBEMAP_WIDTH=52
    MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH=53 MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS=54
    MAXIMUM_SURFACE1D_WIDTH=55 MAXIMUM_SURFACE2D_WIDTH=56 MAXIMUM_SURFACE2D_HEIGHT=57
    MAXIMUM_SURFACE3D_WIDTH=58 MAXIMUM_SURFACE3D_HEIGHT=59 MAXIMUM_SURFACE3D_DEPTH=60
    MAXIMUM_SURFACE1D_LAYERED_WIDTH=61 MAXIMUM_SURFACE1D_LAYERED_LAYERS=62
    MAXIMUM_SURFACE2D_LAYERED_WIDTH=63 MAXIMUM_SURFACE2D_LAYERED_HEIGHT=64
    MAXIMUM_SURFACE2D_LAYERED_LAYERS=65 MAXIMUM_SURFACECUBEMAP_WIDTH=66
    MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH=67 MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS=68
    MAXIMUM_TEXTURE1D_LINEAR_WIDTH=69 MAXIMUM_TEXTURE2D_LINEAR_WIDTH=70
    MAXIMUM_TEXTURE2D_LINEAR_HEIGHT=71 MAXIMUM_TEXTURE2D_LINEAR_PITCH=72
    MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH=73 MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT=74
    COMPUTE_CAPABILITY_MAJOR=75 COMPUTE_CAPABILITY_MINOR=76 MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH=77
    STREAM_PRIORITIES_SUPPORTED=78 GLOBAL_L1_CACHE_SUPPORTED=79 LOCAL_L1_CACHE_SUPPORTED=80
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR=81 MAX_REGISTERS_PER_MULTIPROCESSOR=82
    MANAGED_MEMORY=83 MULTI_GPU_BOARD=84 MULTI_GPU_BOARD_GROUP_ID=85
    HOST_NATIVE_ATOMIC_SUPPORTED=86 SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO=87
    PAGEABLE_MEMORY_ACCESS=88 CONCURRENT_MANAGED_ACCESS=89 COMPUTE_PREEMPTION_SUPPORTED=90
    CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM=91 MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=97
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES=100 DIRECT_MANAGED_MEM_ACCESS_FROM_HOST=101
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED=103 HANDLE_TYPE_WIN32_HANDLE_SUPPORTED=104
    HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED=105 MAX_BLOCKS_PER_MULTIPROCESSOR=106
    GENERIC_COMPRESSION_SUPPORTED=107 MAX_PERSISTING_L2_CACHE_SIZE=108
    RESERVED_SHARED_MEMORY_PER_BLOCK=111 READ_ONLY_HOST_REGISTER_SUPPORTED=113
    MEMORY_POOLS_SUPPORTED=115
    """),
)
