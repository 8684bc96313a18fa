"""Every name of PyCUDA's tools, compiler, characterize and autoinit, with its parameters."""

import pytest
from names import assert_parameters, assert_star_import, found

from PyGPU import compiler, driver

COMPILE = (
    "source nvcc='nvcc' options=None keep=False no_extern_c=False arch=None code=None "
    "cache_dir=None include_dirs"
)
DYNAMIC = "keep=False no_extern_c=False arch=None code=None cache_dir=None include_dirs"
COUNTERS = ("held_blocks", "active_blocks", "managed_bytes", "active_bytes")
NAMES = {
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
    "tools.DeviceMemoryPool": "",
    "tools.DeviceMemoryPool.allocate": "size",
    **{f"tools.DeviceMemoryPool.{name}": None for name in COUNTERS},
    "tools.DeviceMemoryPool.free_held": "",
    "tools.DeviceMemoryPool.stop_holding": "",
    "tools.DeviceMemoryPool.bin_number": "size",
    "tools.DeviceMemoryPool.alloc_size": "bin",
    "tools.PooledDeviceAllocation": None,
    "tools.PooledDeviceAllocation.free": "",
    "tools.PageLockedMemoryPool": "allocator=None",
    "tools.PageLockedMemoryPool.allocate": "shape dtype order='C'",
    **{f"tools.PageLockedMemoryPool.{name}": None for name in COUNTERS},
    "tools.PageLockedMemoryPool.free_held": "",
    "tools.PageLockedMemoryPool.stop_holding": "",
    "tools.PageLockedMemoryPool.bin_number": "size",
    "tools.PageLockedMemoryPool.alloc_size": "bin",
    "tools.PageLockedAllocator": "flags=0",
    "tools.PooledHostAllocation": None,
    "tools.PooledHostAllocation.free": "",
    "tools.DebugMemoryPool": "interactive=True logfile=None",
    "tools.DebugMemoryPool.allocate": "size",
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


@pytest.mark.parametrize("path", NAMES)
def test_a_name_and_its_parameters(path):
    thing = found(path)
    if NAMES[path] is not None:
        assert_parameters(thing, NAMES[path])


def test_the_modules_of_the_compiler_are_of_one_family():
    for name in ("DynamicModule", "SourceModule"):
        assert issubclass(found(f"compiler.{name}"), found("compiler.CudaModule"))
    made = compiler.compile("__global__ void nothing() {}")
    assert isinstance(compiler.module_from_buffer(made), driver.Module)
    assert compiler.CompileError is driver.CompileError


@pytest.mark.parametrize("module", ["tools", "compiler", "characterize"])
def test_a_star_import_gives_the_names(module):
    paths = [path.split(".") for path in NAMES]
    assert_star_import(module, {name for where, name, *_ in paths if where == module})


@pytest.mark.parametrize("module", ["autoinit", "autoprimaryctx"])
def test_modules_that_make_a_context(python, module):
    python(f"from PyGPU.{module} import cuda, context, device, make_default_context, atexit")
