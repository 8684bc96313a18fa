"""Every name of PyCUDA's driver, with its parameters; and what is left out, with the reason."""

import pytest
from names import assert_parameters, assert_star_import, found

# name: the parameters that programs may name, in order; None where they are all positional.
NAMES = {
    **dict.fromkeys(
        (
            *("DeviceMemoryPool", "PageLockedMemoryPool", "PageLockedAllocator"),
            *("PooledDeviceAllocation", "PooledHostAllocation", "bitlog2"),
        )
    ),
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
    "Function.set_block_shape": "x y z",
    "Function.set_shared_size": "bytes",
    "Function.param_set": "*args",
    "Function.param_set_size": "bytes",
    "Function.param_seti": "offset value",
    "Function.param_setf": "offset value",
    "Function.param_setv": "offset buffer",
    "Function.launch": "",
    "Function.launch_grid": "width height",
    "Function.launch_grid_async": "width height stream",
    "ArgumentHandler": "array",
    "ArgumentHandler.get_device_alloc": "",
    "ArgumentHandler.pre_call": "stream",
    "In": "array",
    "Out": "array",
    "InOut": "array",
    "In.pre_call": "stream",
    "Out.post_call": "stream",
    "Linker": "message_handler=None options=None log_verbose=False",
    "Linker.add_data": "data input_type name='unknown'",
    "Linker.add_file": "filename input_type",
    "Linker.link_module": "",
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
    # references
    "TextureReference": "",
    "TextureReference.set_array": "array",
    "TextureReference.set_address": "devptr bytes allow_offset=False",
    "TextureReference.set_address_2d": "devptr descr pitch",
    "TextureReference.set_format": "fmt num_components",
    "TextureReference.set_address_mode": "dim am",
    "TextureReference.set_filter_mode": "fm",
    "TextureReference.set_flags": "flags",
    "TextureReference.get_address": "",
    "TextureReference.get_array": "",
    "TextureReference.get_address_mode": "dim",
    "TextureReference.get_filter_mode": "",
    "TextureReference.get_format": "",
    "TextureReference.get_flags": "",
    "SurfaceReference.set_array": "array flags=0",
    "SurfaceReference.get_array": "",
    "bind_array_to_texref": "ary texref",
    "matrix_to_texref": "matrix texref order",
    # profiler
    "initialize_profiler": "config_file output_file output_mode=1",
    "start_profiler": "",
    "stop_profiler": "",
}


@pytest.mark.parametrize("path", NAMES)
def test_a_name_and_its_parameters(path):
    thing = found(f"driver.{path}")
    if NAMES[path] is not None:
        assert_parameters(thing, NAMES[path])


def test_aliases():
    driver = found("driver")
    assert driver.HostAllocation is driver.PagelockedHostAllocation
    assert driver.ManagedAllocationOrStub is driver.ManagedAllocation
    assert issubclass(driver.InOut, driver.In) and issubclass(driver.InOut, driver.Out)
    assert issubclass(driver.In, driver.ArgumentHandler)
    for name in ("MemoryError", "LogicError", "LaunchError", "RuntimeError", "CompileError"):
        assert issubclass(getattr(driver, name), driver.Error)


@pytest.mark.parametrize(
    "name", ["PagelockedHostAllocation", "AlignedHostAllocation", "RegisteredHostMemory"]
)
def test_host_memory_is_a_host_pointer(name):
    assert issubclass(found(f"driver.{name}"), found("driver.HostPointer"))


def test_managed_memory_is_device_memory():
    assert issubclass(found("driver.ManagedAllocation"), found("driver.DeviceAllocation"))


def test_a_star_import_gives_the_names():
    assert_star_import("driver", {path.split(".")[0] for path in NAMES} - {"CUDA_DEBUGGING"})
