"""Table of PyCUDA's public names and their state in PyGPU, the source of docs/pycuda.md.

A line has names of a module, ``Class.member``, or ``.member`` of the class before it on the line.
Parentheses hold PyCUDA's parameters that programs pass by name; those of the driver, the compiler
and the tools are in test_driver_names.py and test_tools_names.py. Instead, they may say where the
members are listed: "enumeration" in test_driver_enums.py, "vectors" in test_vec.py. Indented lines
continue the names; then comes a note on all of them: "same: ", "better: ", "differs: " or
"absent: " with its reason. No note means "same". Parameters in a note (`axis=`) are PyGPU's and
must exist. "#" begins a section.
"""

from contract_arrays import ARRAYS

from PyGPU import gl, sparse

MODULES = {
    "autoinit": """
# A context for the whole program
device context make_default_context cuda atexit
""",
    "autoprimaryctx": """
# The same, by the primary context
device context
    same: PyGPU uses primary contexts only, so this module and `autoinit` do the same
""",
    "driver": """
# Exceptions
Error LogicError LaunchError
MemoryError RuntimeError
    better: subclasses the builtin of that name, so that either spelling catches it
CompileError .msg .command_line .stdout
CompileError.stderr
    better: line numbers in the compiler's log are those of your source

# Versions and state
init
    better: optional; it checks that there is a device
get_version get_driver_version CUDA_DEBUGGING set_debugging ManagedAllocationOrStub
have_gl_ext
    same: False, as in a PyCUDA built without OpenGL

# Devices
Device .count .name .pci_bus_id .compute_capability .total_memory .get_attributes .can_access_peer
Device.get_attribute
    better: also accepts the attribute's number or its name as a str
Device.__getattr__
    same: `dev.warp_size`, `dev.WARP_SIZE` and all other attributes
Device.__eq__ .__hash__
Device.make_context
    differs: returns the device's primary context, which all libraries on the runtime API share;
    flags have an effect until its first use
Device.retain_primary_context

# Contexts
Context .push .pop .attach .get_current .get_device .synchronize .set_limit .get_limit
Context.__eq__ .__hash__
    differs: all contexts of a device are equal, as they are one
Context.detach
    differs: does not free the device's memory, as the context belongs to the process
Context.set_cache_config .get_cache_config .enable_peer_access .handle
Context.disable_peer_access
    better: accepts the `flags=` of PyCUDA's documentation
Context.set_shared_config .get_shared_config
    differs: no effect, as devices have one bank size
Context.get_api_version
    differs: returns the version of the runtime

# Streams and events
Stream .synchronize .is_done .wait_for_event .handle
    better: every call also accepts an int or any object with `__cuda_stream__` as a stream
Event .record .synchronize .query .time_since .time_till .ipc_handle
Event.from_ipc_handle
    better: also accepts bytes

# Device memory
mem_alloc
    better: accepts NumPy integers
mem_get_info mem_alloc_pitch mem_alloc_like mem_get_address_range
to_device from_device from_device_like mem_get_ipc_handle
DeviceAllocation .free .as_buffer .__int__ .__index__
IPCMemoryHandle .close
    better: accepts bytes; kernels accept it as an argument
PointerHolderBase .get_pointer .as_buffer
    better: kernels accept it as an argument; a subclass need not call its `__init__`

# Host memory
pagelocked_empty pagelocked_zeros
    better: the shape may be a NumPy integer
pagelocked_empty_like pagelocked_zeros_like
PagelockedHostAllocation .free .get_flags .get_device_pointer
HostAllocation HostPointer .get_device_pointer
managed_empty managed_zeros managed_empty_like managed_zeros_like
    better: the default of `mem_flags=` is `mem_attach_flags.GLOBAL`; CUDA rejects PyCUDA's, 0
ManagedAllocation .free .get_device_pointer .attach .as_buffer
aligned_empty aligned_zeros aligned_empty_like aligned_zeros_like
    better: work without a context
AlignedHostAllocation .free
register_host_memory
    better: works; PyCUDA 2026.1 fails
RegisteredHostMemory .unregister
RegisteredHostMemory.base
    better: PyCUDA documents it but lacks it

# Copies and fills
memcpy_htod memcpy_dtoh memcpy_dtod memcpy_htod_async memcpy_dtoh_async memcpy_dtod_async
    better: device memory may also be a GPUArray, a NumPy integer, or any object with
    `__cuda_array_interface__`
memcpy_peer memcpy_peer_async
    better: copies between the devices of the contexts, None being the current one; PyCUDA crashes
memset_d8 memset_d16 memset_d32 memset_d8_async memset_d16_async memset_d32_async
memset_d2d8 memset_d2d16 memset_d2d32 memset_d2d8_async memset_d2d16_async memset_d2d32_async
memcpy_dtoa memcpy_atod memcpy_atoa py_memcpy_htoa py_memcpy_atoh
memcpy_htoa memcpy_atoh
    better: PyCUDA documents them but has only the two names before
Memcpy2D .src_x_in_bytes .src_y .src_pitch .src_memory_type .src_device
    .dst_x_in_bytes .dst_y .dst_pitch .dst_memory_type .dst_device .width_in_bytes .height
    .set_src_host .set_src_array .set_src_device .set_src_unified
    .set_dst_host .set_dst_array .set_dst_device .set_dst_unified .__call__
    better: keeps the buffers alive and checks their bounds; accepts NumPy integers; `copy()` waits
Memcpy3D .src_z .src_lod .src_height .dst_z .dst_lod .dst_height .depth .__call__
    better: as Memcpy2D
Memcpy3DPeer .set_src_context .set_dst_context

# Kernels
module_from_file module_from_buffer
Module .get_global
Module.get_function
    better: also finds C++ functions by their plain names; the error lists the kernels
Module.get_texref .get_surfref
    better: also work on CUDA 12 and later, where a reference is a variable of the module
Function .__call__
    better: checks the arguments against the kernel's parameters; accepts Python numbers if the
    source is available; block and grid may be lists or contain NumPy integers
Function.prepare .prepared_call .prepared_async_call .prepared_timed_call
    better: the same checks; accept GPUArrays
Function.get_attribute .set_attribute .set_cache_config
Function.set_shared_config
    better: PyCUDA documents it but lacks it; no effect, as devices have one bank size
Function.__getattr__
    same: `f.num_regs`, `f.shared_size_bytes` and all others
Function.param_set_texref
Function.set_block_shape(x, y, z) .set_shared_size(bytes) .param_set .param_set_size(bytes)
    .param_seti(offset, value) .param_setf(offset, value) .param_setv(offset, buffer) .launch
    .launch_grid(width, height) .launch_grid_async(width, height, stream)
    better: deprecated, but available, unlike in a PyCUDA for CUDA 4 or newer; the bytes are checked
    against the kernel's parameters
ArgumentHandler .array .dev_alloc .get_device_alloc .pre_call .post_call
In Out InOut
    better: copies of a launch on a stream are in that stream's order
Linker .add_data .add_file .link_module
    differs: uses nvJitLink, or the driver without it; on `hip` a NotImplementedError
initialize_profiler
    differs: no effect, as runtimes no longer write profiles
start_profiler stop_profiler

# Arrays and textures
ArrayDescriptor .width .height .format .num_channels
ArrayDescriptor3D .depth .flags
Array .free .get_descriptor .get_descriptor_3d .handle
dtype_to_array_format
    better: also float16
matrix_to_array np_to_array gpuarray_to_array make_multichannel_2d_array
TextureReference .set_array .set_address .set_address_2d .set_format .set_address_mode
    .set_filter_mode .set_flags .get_address .get_array .get_address_mode .get_filter_mode
    .get_format .get_flags
    better: sRGB; the declaration decides how integers are read; a mismatch is an error
SurfaceReference .set_array .get_array bind_array_to_texref matrix_to_texref

# Memory pools, as in tools
DeviceMemoryPool PageLockedMemoryPool PageLockedAllocator PooledDeviceAllocation
    PooledHostAllocation bitlog2

# Enumerations and flags
device_attribute(enumeration)
function_attribute(enumeration)
pointer_attribute(enumeration)
compute_mode(enumeration)
ctx_flags(enumeration)
event_flags(enumeration)
limit(enumeration)
func_cache(enumeration)
shared_config(enumeration)
host_alloc_flags(enumeration)
mem_host_register_flags(enumeration)
mem_attach_flags(enumeration)
ipc_mem_flags(enumeration)
memory_type(enumeration)
array_format(enumeration)
array3d_flags(enumeration)
array_cubemap_face(enumeration)
address_mode(enumeration)
filter_mode(enumeration)
jit_option(enumeration)
jit_target(enumeration)
jit_fallback(enumeration)
jit_input_type(enumeration)
graphics_register_flags(enumeration)
profiler_output_mode(enumeration)
TRSA_OVERRIDE_FORMAT TRSF_READ_AS_INTEGER TRSF_NORMALIZED_COORDINATES TR_DEFAULT
""",
    "compiler": """
# Modules from source text
SourceModule
    better: needs no nvcc: nvcc= and code= have no effect, and options of nvcc alone are ignored
    with a message in the log; NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS apply and are part of the
    cache's key; `name_expressions=` names instances of templates; the cache creates its folder,
    which PYGPU_CACHE_DIR or PYCUDA_CACHE_DIR sets; keep=True also keeps cached results
SourceModule.module .get_function .get_global
SourceModule.get_texref .get_surfref
compile
    better: as SourceModule (`name_expressions=`); target="fatbin" returns the image for one device;
    for an arch older than the device it returns PTX, which the driver can load
DEFAULT_NVCC_FLAGS
    better: set by PYGPU_DEFAULT_NVCC_FLAGS or PYCUDA_DEFAULT_NVCC_FLAGS
compile_plain CompileError CudaModule module_from_buffer module_from_file
preprocess_source
    differs: runs no preprocessor; returns the source followed by the user's headers
get_nvcc_version
    differs: the version of the compiler in use: NVRTC, HIPRTC, or the host's
DynamicModule .add_source .link .add_stdlib .add_data .add_file
    differs: on `hip`, texts are compiled as one, and all else raises NotImplementedError
DynamicSourceModule
    differs: on `hip`, launches by kernels raise NotImplementedError; on `host` they run
""",
    **ARRAYS,
    "tools": """
# Memory pools
DeviceMemoryPool
    better: threads may share it; each device has its own blocks
DeviceMemoryPool.allocate .held_blocks .active_blocks .managed_bytes .active_bytes .free_held
    .stop_holding .bin_number .alloc_size
PooledDeviceAllocation .__int__ .__index__ .__len__ .free
PageLockedMemoryPool .held_blocks .active_blocks .managed_bytes .active_bytes .free_held
    .stop_holding .bin_number .alloc_size
PageLockedMemoryPool.allocate
    better: the shape may be a number
PageLockedAllocator PooledHostAllocation .__len__ .free
DebugMemoryPool bitlog2

# Contexts and devices
make_default_context
    better: PYGPU_DEVICE, and both spellings of the file, ~/.cuda_device and ~/.cuda-device
get_default_device
context_dependent_memoize context_dependent_memoized_functions clear_context_caches
    same: cached by device, as a device has one context
mark_cuda_test init_cuda_context_fixture
DeviceData .max_threads .warp_size .registers .shared_memory .smem_alloc_granularity
    .smem_granularity .register_allocation_unit .align_bytes .align .align_words .align_dtype
    .coalesce .make_valid_tex_channel_count
DeviceData.warps_per_mp .thread_blocks_per_mp
    better: the device's own limits, not 64 and 8
OccupancyRecord .tb_per_mp .limited_by .warps_per_mp .occupancy .tb_per_mp_limits

# Types and arguments in C
dtype_to_ctype base_dtype_to_ctype
    better: also float16 (half)
parse_c_arg get_arg_type
    better: also size_t, int32_t and the like, long long and half
Argument .dtype .name VectorArg .declarator .struct_char ScalarArg .declarator .struct_char
get_or_register_dtype register_dtype
""",
    "characterize": """
# Properties of a device
platform_bits has_stack has_double_support sizeof
""",
    "": """
# The package itself
VERSION VERSION_TEXT VERSION_STATUS
    differs: PyGPU's own version; 2026.1 if PyGPU is imported as pycuda
""",
    "pycuda-complex.hpp": """
# In kernels
complex real imag abs arg norm conj polar sqrt exp log log10 pow sin cos tan sinh cosh tanh
    better: operators and pow mix precisions and accept numbers of any type
""",
    "pycuda-helpers.hpp": """
# In kernels
fp_tex1Dfetch fp_tex2D fp_tex2DLayered fp_tex3D fp_surf2DLayeredread fp_surf2DLayeredwrite
    fp_surf3Dread fp_surf3Dwrite fp_tex_double fp_tex_cfloat fp_tex_cdouble
    same: also for the other dimensions
""",
    "gl": f"""
# OpenGL
graphics_map_flags
init make_context RegisteredBuffer RegisteredImage RegisteredMapping
    absent: can be imported; {gl.REASON}
BufferObject BufferObjectMapping autoinit
    absent: deprecated since CUDA 3, and only in the driver API; {gl.REASON}
""",
    "debug": """
# Programs under a debugger
__main__
    differs: `python -m PyGPU.debug script.py args...`; `import pycuda` imports PyGPU
""",
    "sparse": f"""
# Sparse matrices
cg.ConvergenceError
cg.CGStateContainer .solve_pkt_with_cg coordinate.CoordinateSpMV inner.AsyncInnerProduct .get_stream
    operator.OperatorBase .IdentityOperator .DiagonalPreconditioner packeted.PacketedSpMV
    pkt_build.build_pkt_data_structure
    absent: can be imported; {sparse.REASON}
""",
    "compyte.array": """
# Helpers of PyCUDA and PyOpenCL
ArrayFlags(ary) c_contiguous_strides(itemsize, shape) f_contiguous_strides(itemsize, shape)
    is_c_contiguous_strides(strides, itemsize, shape)
    is_f_contiguous_strides(strides, itemsize, shape) equal_strides(strides1, strides2, shape)
    get_common_dtype(obj1, obj2, allow_double) as_strided(x, shape, strides)
""",
    "compyte.dtypes": """
# Helpers of PyCUDA and PyOpenCL
DTypeRegistry .get_or_register_dtype(names, dtype) .dtype_to_ctype(dtype) .dtype_to_name
    .name_to_dtype
TypeNameNotKnown
parse_c_arg_backend(c_arg, scalar_arg_factory, vec_arg_factory, name_to_dtype)
fill_registry_with_c_types(reg, respect_windows, include_bool)
    fill_registry_with_opencl_c_types(reg) fill_registry_with_c99_stdint_types(reg)
    fill_registry_with_c99_complex_types(reg)
NAME_TO_DTYPE DTYPE_TO_NAME TYPE_REGISTRY
    same: the tables of `tools`
dtype_to_ctype get_or_register_dtype register_dtype
""",
    "_cluda": """
# Macros for kernels of CUDA and OpenCL
CLUDA_PREAMBLE
""",
    "_pvt_struct": """
# Values as bytes
pack calcsize
    same: like `struct`, with complex numbers and addresses
""",
    "_mymako": """
# Guarded import
mako
    same: if the package Mako is installed, which PyGPU itself does not need
""",
}
