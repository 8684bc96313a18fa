"""The driver's enumerations and flags: members, values, dicts of names, what `|` gives."""

import enum
import pickle

import pytest

import PyGPU.driver as drv

ENUMERATIONS = {
    "ctx_flags": "SCHED_AUTO=0 SCHED_SPIN=1 SCHED_YIELD=2 BLOCKING_SYNC=4 SCHED_BLOCKING_SYNC=4 "
    "SCHED_MASK=7 MAP_HOST=8 LMEM_RESIZE_TO_MAX=16 FLAGS_MASK=255",
    "event_flags": "DEFAULT=0 BLOCKING_SYNC=1 DISABLE_TIMING=2 INTERPROCESS=4",
    "pointer_attribute": "CONTEXT=1 MEMORY_TYPE=2 DEVICE_POINTER=3 HOST_POINTER=4",
    "profiler_output_mode": "KEY_VALUE_PAIR=0 CSV=1",
    "function_attribute": "MAX_THREADS_PER_BLOCK=0 SHARED_SIZE_BYTES=1 CONST_SIZE_BYTES=2 "
    "LOCAL_SIZE_BYTES=3 NUM_REGS=4 PTX_VERSION=5 BINARY_VERSION=6 CACHE_MODE_CA=7 "
    "MAX_DYNAMIC_SHARED_SIZE_BYTES=8 PREFERRED_SHARED_MEMORY_CARVEOUT=9 MAX=16",
    "func_cache": "PREFER_NONE=0 PREFER_SHARED=1 PREFER_L1=2 PREFER_EQUAL=3",
    "shared_config": "DEFAULT_BANK_SIZE=0 FOUR_BYTE_BANK_SIZE=1 EIGHT_BYTE_BANK_SIZE=2",
    "array_format": "UNSIGNED_INT8=1 UNSIGNED_INT16=2 UNSIGNED_INT32=3 SIGNED_INT8=8 "
    "SIGNED_INT16=9 SIGNED_INT32=10 HALF=16 FLOAT=32",
    "address_mode": "WRAP=0 CLAMP=1 MIRROR=2 BORDER=3",
    "filter_mode": "POINT=0 LINEAR=1",
    "memory_type": "HOST=1 DEVICE=2 ARRAY=3 UNIFIED=4",
    "compute_mode": "DEFAULT=0 PROHIBITED=2 EXCLUSIVE_PROCESS=3",
    "jit_option": "MAX_REGISTERS=0 THREADS_PER_BLOCK=1 WALL_TIME=2 INFO_LOG_BUFFER=3 "
    "INFO_LOG_BUFFER_SIZE_BYTES=4 ERROR_LOG_BUFFER=5 ERROR_LOG_BUFFER_SIZE_BYTES=6 "
    "OPTIMIZATION_LEVEL=7 TARGET_FROM_CUCONTEXT=8 TARGET=9 FALLBACK_STRATEGY=10",
    "jit_target": "COMPUTE_30=30 COMPUTE_32=32 COMPUTE_35=35 COMPUTE_37=37 COMPUTE_50=50 "
    "COMPUTE_52=52 COMPUTE_53=53 COMPUTE_60=60 COMPUTE_61=61 COMPUTE_62=62 COMPUTE_70=70 "
    "COMPUTE_72=72 COMPUTE_75=75 COMPUTE_80=80 COMPUTE_86=86 COMPUTE_90=90 COMPUTE_90A=65626",
    "jit_fallback": "PREFER_PTX=0 PREFER_BINARY=1",
    "jit_input_type": "CUBIN=0 PTX=1 FATBINARY=2 OBJECT=3 LIBRARY=4",
    "mem_attach_flags": "GLOBAL=1 HOST=2 SINGLE=4",
    "limit": "STACK_SIZE=0 PRINTF_FIFO_SIZE=1 MALLOC_HEAP_SIZE=2 DEV_RUNTIME_SYNC_DEPTH=3 "
    "DEV_RUNTIME_PENDING_LAUNCH_COUNT=4",
    "ipc_mem_flags": "LAZY_ENABLE_PEER_ACCESS=1",
    "graphics_register_flags": "NONE=0 READ_ONLY=1 WRITE_DISCARD=2 SURFACE_LDST=4 TEXTURE_GATHER=8",
    "array_cubemap_face": "POSITIVE_X=0 NEGATIVE_X=1 POSITIVE_Y=2 NEGATIVE_Y=3 POSITIVE_Z=4 "
    "NEGATIVE_Z=5",
    "device_attribute": """
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
    COMPUTE_CAPABILITY_MAJOR=75 COMPUTE_CAPABILITY_MINOR=76
    MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH=77 STREAM_PRIORITIES_SUPPORTED=78
    GLOBAL_L1_CACHE_SUPPORTED=79 LOCAL_L1_CACHE_SUPPORTED=80
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
    """,
}
FLAGS = {
    "host_alloc_flags": "PORTABLE=1 DEVICEMAP=2 WRITECOMBINED=4",
    "mem_host_register_flags": "PORTABLE=1 DEVICEMAP=2",
    "array3d_flags": "ARRAY3D_2DARRAY=1 ARRAY3D_LAYERED=1 2DARRAY=1 SURFACE_LDST=2 CUBEMAP=4 "
    "TEXTURE_GATHER=8",
}
CONSTANTS = {
    "TRSA_OVERRIDE_FORMAT": 1,
    "TRSF_READ_AS_INTEGER": 1,
    "TRSF_NORMALIZED_COORDINATES": 2,
    "TR_DEFAULT": -1,
}


def numbered(text):
    return {name: int(value) for name, value in (part.split("=") for part in text.split())}


each_enumeration = pytest.mark.parametrize("name", ENUMERATIONS)


@each_enumeration
def test_members_and_their_values(name):
    cls, expected = getattr(drv, name), numbered(ENUMERATIONS[name])
    for member, value in expected.items():
        found = getattr(cls, member)
        assert isinstance(found, cls) and isinstance(found, int) and found == value
        assert cls.names[member] is found and cls.values[value] is found is cls(value)
        assert found.name in expected and expected[found.name] == value
    assert {member: int(value) for member, value in cls.names.items()} == expected
    assert set(cls.values) == set(expected.values())
    assert all(type(value) is int for value in cls.values)


@each_enumeration
def test_members_are_ints_that_know_their_name(name):
    cls = getattr(drv, name)
    assert issubclass(cls, int) and cls.__name__ == name and cls.__doc__
    for member, value in numbered(ENUMERATIONS[name]).items():
        found = getattr(cls, member)
        assert found.name in repr(found)
        assert hash(found) == hash(value) and found + 1 == value + 1
        assert pickle.loads(pickle.dumps(found)) is found


@each_enumeration
def test_or_gives_a_plain_int(name):
    members = list(getattr(drv, name).names.values())
    combined = members[0] | members[-1]
    assert type(combined) is int and combined == int(members[0]) | int(members[-1])
    assert type(members[-1] | 128) is int and type(128 | members[-1]) is int


@each_enumeration
def test_unknown_members(name):
    cls = getattr(drv, name)
    with pytest.raises(AttributeError):
        _ = cls.NO_SUCH_MEMBER
    with pytest.raises(ValueError, match="987654"):
        cls(987654)


@pytest.mark.parametrize("name", FLAGS)
def test_flags(name):
    cls = getattr(drv, name)
    found = {key: value for key, value in vars(cls).items() if type(value) is int}
    assert found == numbered(FLAGS[name])
    assert not isinstance(cls, enum.EnumMeta) and cls.__doc__
    for arguments in ((), (1,)):
        with pytest.raises(TypeError):
            cls(*arguments)


def test_a_flag_whose_name_is_no_identifier():
    assert getattr(drv.array3d_flags, "2DARRAY") == drv.array3d_flags.ARRAY3D_LAYERED == 1


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name):
    assert getattr(drv, name) == CONSTANTS[name] and type(getattr(drv, name)) is int


def test_this_table_leaves_no_enumeration_out():
    found = {name for name, value in vars(drv).items() if isinstance(value, enum.EnumMeta)}
    assert found == set(ENUMERATIONS)
    assert len(drv.device_attribute.values) == 102
