"""Every name of PyCUDA's driver, tools, compiler, characterize and autoinit, with its parameters;
and what is left out, with the reason."""

import ast
import importlib
import inspect

import pytest

# name: the parameters that programs may name, in order; None where they are all positional.
DRIVER = {
    # exceptions
    "Error": None,
    "MemoryError": None,
    "LogicError": None,
    "LaunchError": None,
    "RuntimeError": None,
    "CompileError": "msg command_line stdout=None stderr=None",
    # versions, initialisation
    "init": "flags=0",
    "get_version": "",
    "get_driver_version": "",
    "have_gl_ext": "",
    "CUDA_DEBUGGING": None,
    "set_debugging": "flag=True",
    # devices and contexts
    "Device.count": "",
    "Device.name": "",
    "Device.pci_bus_id": "",
    "Device.compute_capability": "",
    "Device.total_memory": "",
    "Device.get_attribute": "attr",
    "Device.get_attributes": "",
    "Device.make_context": "flags=0",
    "Device.retain_primary_context": "",
    "Device.can_access_peer": "dev",
    "Context.push": "",
    "Context.pop": "",
    "Context.detach": "",
    "Context.attach": "flags=0",
    "Context.get_current": "",
    "Context.get_device": "",
    "Context.synchronize": "",
    "Context.set_limit": "limit value",
    "Context.get_limit": "limit",
    "Context.set_cache_config": None,
    "Context.get_cache_config": "",
    "Context.set_shared_config": None,
    "Context.get_shared_config": "",
    "Context.get_api_version": "",
    "Context.enable_peer_access": "peer flags=0",
    "Context.disable_peer_access": "peer",
    "Context.handle": None,
    # streams and events
    "Stream": "flags=0",
    "Stream.synchronize": "",
    "Stream.is_done": "",
    "Stream.wait_for_event": "evt",
    "Stream.handle": None,
    "Event": "flags=0",
    "Event.record": "stream=None",
    "Event.synchronize": "",
    "Event.query": "",
    "Event.time_since": "event",
    "Event.time_till": "event",
    "Event.ipc_handle": "",
    "Event.from_ipc_handle": None,
    # device memory
    "mem_get_info": "",
    "mem_alloc": "bytes",
    "mem_alloc_pitch": "width height access_size",
    "mem_alloc_like": "ary",
    "mem_get_address_range": "ptr",
    "to_device": None,
    "from_device": "devptr shape dtype order='C'",
    "from_device_like": "devptr other_ary",
    "DeviceAllocation.free": None,
    "DeviceAllocation.as_buffer": None,
    "DeviceAllocation.__int__": None,
    "DeviceAllocation.__index__": None,
    "mem_get_ipc_handle": "devptr",
    "IPCMemoryHandle": "ipc_handle flags=1",
    "IPCMemoryHandle.close": "",
    "PointerHolderBase.get_pointer": "",
    "PointerHolderBase.as_buffer": "size offset=0",
    # host memory
    **{
        f"{kind}_{what}": f"{parameters} {last}"
        for kind, last in {
            "pagelocked": "mem_flags=0",
            "managed": "mem_flags=0",
            "aligned": "alignment=4096",
        }.items()
        for what, parameters in {
            "empty": "shape dtype order='C'",
            "zeros": "shape dtype order='C'",
            "empty_like": "array",
            "zeros_like": "array",
        }.items()
    },
    "PagelockedHostAllocation.free": "",
    "PagelockedHostAllocation.get_flags": "",
    "HostAllocation": None,
    "HostPointer.get_device_pointer": "",
    "AlignedHostAllocation.free": "",
    "register_host_memory": "ary flags=0",
    "RegisteredHostMemory.unregister": "",
    "ManagedAllocation.free": "",
    "ManagedAllocation.get_device_pointer": "",
    "ManagedAllocation.attach": "mem_flags stream=None",
    "ManagedAllocation.as_buffer": "size offset=0",
    "ManagedAllocationOrStub": None,
    # copies and fills
    "memcpy_htod": "dest src",
    "memcpy_htod_async": "dest src stream=None",
    "memcpy_dtoh": "dest src",
    "memcpy_dtoh_async": "dest src stream=None",
    "memcpy_dtod": "dest src size",
    "memcpy_dtod_async": "dest src size stream=None",
    "memcpy_peer": "dest src size dest_context=None src_context=None",
    "memcpy_peer_async": "dest src size dest_context=None src_context=None stream=None",
    "memcpy_dtoa": "ary index src len",
    "memcpy_atod": "dest ary index len",
    "memcpy_htoa": "ary index src",
    "memcpy_atoh": "dest ary index",
    "py_memcpy_htoa": "ary index src",
    "py_memcpy_atoh": "dest ary index",
    "memcpy_atoa": "dest dest_index src src_index len",
    **{
        name: parameters
        for bits in (8, 16, 32)
        for name, parameters in {
            f"memset_d{bits}": "dest data size",
            f"memset_d{bits}_async": "dest data size stream=None",
            f"memset_d2d{bits}": "dest pitch data width height",
            f"memset_d2d{bits}_async": "dest pitch data width height stream=None",
        }.items()
    },
    **dict.fromkeys(
        f"{box}.{method}"
        for box in ("Memcpy2D", "Memcpy3D", "Memcpy3DPeer")
        for method in (
            *("set_src_host", "set_dst_host", "set_src_array", "set_dst_array"),
            *("set_src_device", "set_dst_device", "set_src_unified", "set_dst_unified"),
            "__call__",
        )
    ),
    "Memcpy3DPeer.set_src_context": None,
    "Memcpy3DPeer.set_dst_context": None,
    # modules, functions
    "module_from_file": "filename",
    "module_from_buffer": "buffer options=() message_handler=None",
    "Module.get_function": "name",
    "Module.get_global": "name",
    "Module.get_texref": "name",
    "Module.get_surfref": "name",
    "Function.__call__": None,
    "Function.prepare": "arg_types texrefs=()",
    "Function.prepared_call": None,
    "Function.prepared_async_call": None,
    "Function.prepared_timed_call": "grid block *args shared_size=0",
    "Function.param_set_texref": None,
    "Function.get_attribute": "attr",
    "Function.set_attribute": "attr value",
    "Function.set_cache_config": None,
    "Function.set_shared_config": None,
    "ArgumentHandler": "array",
    "ArgumentHandler.get_device_alloc": "",
    "ArgumentHandler.pre_call": "stream",
    "In": "array",
    "Out": "array",
    "InOut": "array",
    "In.pre_call": "stream",
    "Out.post_call": "stream",
    "Linker": "message_handler=None options=None log_verbose=False",
    # arrays
    "ArrayDescriptor": None,
    "ArrayDescriptor3D": None,
    "Array": None,
    "Array.free": None,
    "Array.get_descriptor": None,
    "Array.get_descriptor_3d": None,
    "Array.handle": None,
    "dtype_to_array_format": "dtype",
    "matrix_to_array": "matrix order allow_double_hack=False",
    "np_to_array": "nparray order allowSurfaceBind=False",
    "gpuarray_to_array": "gpuarray order allowSurfaceBind=False",
    "make_multichannel_2d_array": "ndarray order",
    # profiler
    "initialize_profiler": "config_file output_file output_mode=1",
    "start_profiler": "",
    "stop_profiler": "",
}
COMPILE = (
    "source nvcc='nvcc' options=None keep=False no_extern_c=False arch=None code=None "
    "cache_dir=None include_dirs"
)
DYNAMIC = "keep=False no_extern_c=False arch=None code=None cache_dir=None include_dirs"
OTHERS = {
    "tools.make_default_context": "ctx_maker=None",
    "tools.get_default_device": "default=0",
    "tools.context_dependent_memoize": None,
    "tools.context_dependent_memoized_functions": None,
    "tools.clear_context_caches": "",
    "tools.mark_cuda_test": None,
    "tools.init_cuda_context_fixture": "",
    "tools.bitlog2": "n",
    "tools.DeviceData": "dev=None",
    "tools.DeviceData.align_bytes": "word_size=4",
    "tools.DeviceData.align": "bytes word_size=4",
    "tools.DeviceData.align_words": "word_size",
    "tools.DeviceData.align_dtype": "elements dtype_size",
    "tools.DeviceData.coalesce": "thread_count",
    "tools.DeviceData.make_valid_tex_channel_count": "size",
    "tools.OccupancyRecord": "devdata threads shared_mem=0 registers=0",
    "tools.Argument": "dtype name",
    "tools.VectorArg": "dtype name",
    "tools.VectorArg.declarator": "",
    "tools.VectorArg.struct_char": None,
    "tools.ScalarArg": "dtype name",
    "tools.ScalarArg.declarator": "",
    "tools.ScalarArg.struct_char": None,
    "tools.parse_c_arg": "c_arg",
    "tools.get_arg_type": "c_arg",
    "tools.dtype_to_ctype": "dtype with_fp_tex_hack=False",
    "tools.base_dtype_to_ctype": "dtype",
    "tools.get_or_register_dtype": "names dtype=None",
    "tools.register_dtype": "dtype name alias_ok=False",
    "compiler.SourceModule": COMPILE,
    "compiler.SourceModule.get_function": "name",
    "compiler.SourceModule.get_global": "name",
    "compiler.SourceModule.get_texref": "name",
    "compiler.SourceModule.get_surfref": "name",
    "compiler.compile": COMPILE + " target='cubin'",
    "compiler.compile_plain": "source options keep nvcc cache_dir target='cubin'",
    "compiler.preprocess_source": "source options nvcc",
    "compiler.get_nvcc_version": "nvcc",
    "compiler.DEFAULT_NVCC_FLAGS": None,
    "compiler.CudaModule": None,
    "compiler.DynamicModule": "nvcc='nvcc' link_options=None " + DYNAMIC,
    "compiler.DynamicModule.add_source": "source nvcc_options=None name='kernel.ptx'",
    "compiler.DynamicModule.add_data": "data input_type name",
    "compiler.DynamicModule.add_file": "filename input_type",
    "compiler.DynamicModule.add_stdlib": "libname",
    "compiler.DynamicModule.link": "",
    "compiler.DynamicSourceModule": "source nvcc='nvcc' options=None " + DYNAMIC,
    "characterize.platform_bits": "",
    "characterize.has_stack": "",
    "characterize.has_double_support": "",
    "characterize.sizeof": "type_name preamble=''",
}

# What runtimes can no longer do, or what is not written: absent, or NotImplementedError at once.
REFERENCES = (
    "texture and surface references are gone from CUDA 12: texture objects took their place"
)
LAUNCHES = "launches that keep their state in the function are gone from the runtime"
POOLS = "memory pools are not written yet; the stream-ordered pool serves GPUArray"
LEFT_OUT = {
    "driver.TextureReference": REFERENCES,
    "driver.SurfaceReference": REFERENCES,
    "driver.bind_array_to_texref": REFERENCES,
    "driver.matrix_to_texref": REFERENCES,
    "driver.Linker": "images are linked by the driver API alone",
    **dict.fromkeys(
        (
            *("driver.Function.set_block_shape", "driver.Function.set_shared_size"),
            *("driver.Function.param_set", "driver.Function.param_set_size"),
            *("driver.Function.param_seti", "driver.Function.param_setf"),
            *("driver.Function.param_setv", "driver.Function.launch"),
            *("driver.Function.launch_grid", "driver.Function.launch_grid_async"),
        ),
        LAUNCHES,
    ),
    **{
        f"{module}.{name}": POOLS
        for module in ("driver", "tools")
        for name in ("DeviceMemoryPool", "PageLockedMemoryPool", "PageLockedAllocator")
    },
    "driver.PooledDeviceAllocation": POOLS,
    "driver.PooledHostAllocation": POOLS,
    "tools.DebugMemoryPool": POOLS,
}


def found(path):
    module, *names = path.split(".")
    thing = importlib.import_module(f"PyGPU.{module}")
    for name in names:
        thing = getattr(thing, name)
    return thing


NAMES = {**{f"driver.{name}": expected for name, expected in DRIVER.items()}, **OTHERS}


@pytest.mark.parametrize("path", NAMES)
def test_a_name_and_its_parameters(path):
    thing = found(path)
    if NAMES[path] is None:
        return
    assert callable(thing)
    parameters = list(inspect.signature(thing).parameters.values())
    if parameters and parameters[0].name == "self":
        del parameters[0]
    expected = [part.partition("=") for part in NAMES[path].split()]
    assert len(parameters) >= len(expected)
    for parameter, (name, _, default) in zip(parameters, expected):
        assert parameter.name == name.lstrip("*")
        if default:
            assert parameter.default == ast.literal_eval(default)
    for extra in parameters[len(expected) :]:  # what PyGPU adds is optional
        variadic = extra.kind in (extra.VAR_POSITIONAL, extra.VAR_KEYWORD)
        assert variadic or extra.default is not extra.empty


@pytest.mark.parametrize("path", LEFT_OUT)
def test_what_is_left_out_says_so(path):
    try:
        thing = found(path)
    except AttributeError:
        return
    with pytest.raises(NotImplementedError):
        required = [p for p in inspect.signature(thing).parameters.values() if p.default is p.empty]
        thing(*[None] * len(required))


def test_aliases():
    driver = found("driver")
    assert driver.HostAllocation is driver.PagelockedHostAllocation
    assert driver.ManagedAllocationOrStub is driver.ManagedAllocation
    assert issubclass(driver.ManagedAllocation, driver.DeviceAllocation)
    for name in ("PagelockedHostAllocation", "AlignedHostAllocation", "RegisteredHostMemory"):
        assert issubclass(getattr(driver, name), driver.HostPointer)
    assert issubclass(driver.InOut, driver.In) and issubclass(driver.InOut, driver.Out)
    assert issubclass(driver.In, driver.ArgumentHandler)
    for name in ("DynamicModule", "SourceModule"):
        assert issubclass(found(f"compiler.{name}"), found("compiler.CudaModule"))
    for name in ("MemoryError", "LogicError", "LaunchError", "RuntimeError", "CompileError"):
        assert issubclass(getattr(driver, name), driver.Error)


@pytest.mark.parametrize("module", ["driver", "tools", "compiler", "characterize"])
def test_a_star_import_gives_the_names(module):
    names = {}
    exec(f"from PyGPU.{module} import *", names)
    for path in NAMES:
        where, name = path.split(".")[:2]
        if where == module and name != "CUDA_DEBUGGING":
            assert names[name] is getattr(found(module), name)


@pytest.mark.parametrize("module", ["autoinit", "autoprimaryctx"])
def test_modules_that_make_a_context(python, module):
    python(f"from PyGPU.{module} import cuda, context, device, make_default_context, atexit")
