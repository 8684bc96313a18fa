"""The names of ``pycuda.driver``: devices, contexts, memory, copies, streams, modules, functions.

Below is the runtime API: contexts are names for the primary context, and memory, streams and events
can be shared with every library that uses the runtime.
"""

from PyGPU import _driver_state
from PyGPU._driver_copies import (
    ArgumentHandler as ArgumentHandler,
    In as In,
    InOut as InOut,
    Out as Out,
    from_device as from_device,
    from_device_like as from_device_like,
    memcpy_dtod as memcpy_dtod,
    memcpy_dtod_async as memcpy_dtod_async,
    memcpy_dtoh as memcpy_dtoh,
    memcpy_dtoh_async as memcpy_dtoh_async,
    memcpy_htod as memcpy_htod,
    memcpy_htod_async as memcpy_htod_async,
    memcpy_peer as memcpy_peer,
    memcpy_peer_async as memcpy_peer_async,
    memset_d16 as memset_d16,
    memset_d16_async as memset_d16_async,
    memset_d2d16 as memset_d2d16,
    memset_d2d16_async as memset_d2d16_async,
    memset_d2d32 as memset_d2d32,
    memset_d2d32_async as memset_d2d32_async,
    memset_d2d8 as memset_d2d8,
    memset_d2d8_async as memset_d2d8_async,
    memset_d32 as memset_d32,
    memset_d32_async as memset_d32_async,
    memset_d8 as memset_d8,
    memset_d8_async as memset_d8_async,
    to_device as to_device,
)
from PyGPU._driver_device import (
    Context as Context,
    Device as Device,
    get_driver_version as get_driver_version,
    get_version as get_version,
    have_gl_ext as have_gl_ext,
    init as init,
)
from PyGPU._driver_enums import (
    TRSA_OVERRIDE_FORMAT as TRSA_OVERRIDE_FORMAT,
    TRSF_NORMALIZED_COORDINATES as TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER as TRSF_READ_AS_INTEGER,
    TR_DEFAULT as TR_DEFAULT,
    address_mode as address_mode,
    array3d_flags as array3d_flags,
    array_cubemap_face as array_cubemap_face,
    array_format as array_format,
    compute_mode as compute_mode,
    ctx_flags as ctx_flags,
    device_attribute as device_attribute,
    event_flags as event_flags,
    filter_mode as filter_mode,
    func_cache as func_cache,
    function_attribute as function_attribute,
    graphics_register_flags as graphics_register_flags,
    host_alloc_flags as host_alloc_flags,
    ipc_mem_flags as ipc_mem_flags,
    jit_fallback as jit_fallback,
    jit_input_type as jit_input_type,
    jit_option as jit_option,
    jit_target as jit_target,
    limit as limit,
    mem_attach_flags as mem_attach_flags,
    mem_host_register_flags as mem_host_register_flags,
    memory_type as memory_type,
    pointer_attribute as pointer_attribute,
    profiler_output_mode as profiler_output_mode,
    shared_config as shared_config,
)
from PyGPU._driver_memory import (
    AlignedHostAllocation as AlignedHostAllocation,
    DeviceAllocation as DeviceAllocation,
    HostAllocation as HostAllocation,
    HostPointer as HostPointer,
    IPCMemoryHandle as IPCMemoryHandle,
    ManagedAllocation as ManagedAllocation,
    ManagedAllocationOrStub as ManagedAllocationOrStub,
    PagelockedHostAllocation as PagelockedHostAllocation,
    PointerHolderBase as PointerHolderBase,
    RegisteredHostMemory as RegisteredHostMemory,
    aligned_empty as aligned_empty,
    aligned_empty_like as aligned_empty_like,
    aligned_zeros as aligned_zeros,
    aligned_zeros_like as aligned_zeros_like,
    managed_empty as managed_empty,
    managed_empty_like as managed_empty_like,
    managed_zeros as managed_zeros,
    managed_zeros_like as managed_zeros_like,
    mem_alloc as mem_alloc,
    mem_alloc_like as mem_alloc_like,
    mem_alloc_pitch as mem_alloc_pitch,
    mem_get_address_range as mem_get_address_range,
    mem_get_info as mem_get_info,
    mem_get_ipc_handle as mem_get_ipc_handle,
    pagelocked_empty as pagelocked_empty,
    pagelocked_empty_like as pagelocked_empty_like,
    pagelocked_zeros as pagelocked_zeros,
    pagelocked_zeros_like as pagelocked_zeros_like,
    register_host_memory as register_host_memory,
)
from PyGPU._driver_module import (
    Function as Function,
    Module as Module,
    module_from_buffer as module_from_buffer,
    module_from_file as module_from_file,
)
from PyGPU._driver_state import (
    set_debugging as set_debugging,
)
from PyGPU._driver_stream import (
    Event as Event,
    Stream as Stream,
    initialize_profiler as initialize_profiler,
    start_profiler as start_profiler,
    stop_profiler as stop_profiler,
)

from PyGPU.errors import (
    ArgumentError,
    CompileError,
    Error,
    LaunchError,
    LogicError,
    MemoryError,
    RuntimeError,
)


def __getattr__(name):
    if name == "CUDA_DEBUGGING":
        return _driver_state.debugging
    raise AttributeError(f"module 'PyGPU.driver' has no attribute {name!r}")
