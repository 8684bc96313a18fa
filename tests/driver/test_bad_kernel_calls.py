"""Wrong kernels and wrong calls: each gets an exception that names the fault, and harms nothing."""

import struct

import kernel_sources
import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import CompileError, SourceModule, compile

ONE = {"block": (1, 1, 1)}
SHAPES = ((1, 1), (1, 1, 1))
Attribute = drv.function_attribute
ArgumentError, LogicError = drv.ArgumentError, drv.LogicError
Range = (LogicError, OverflowError)
DYNAMIC = Attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
GOOD = "__global__ void f(int *a) { *a = 1; }"


class Machine:
    """Kernels and memory to misuse."""

    def __init__(self):
        self.pointers = SourceModule(kernel_sources.POINTERS.source)
        self.writers = SourceModule(kernel_sources.WRITERS.source)
        self.odd = SourceModule(kernel_sources.STRUCTURES.source).get_function("read_odd")
        self.get = self.pointers.get_function
        self.twice, self.ready = self.get("twice"), self.get("twice").prepare("Pi")
        self.a = gpuarray.to_gpu(np.ones(8, np.float32))
        self.image = compile(GOOD)

    def write(self, c_type, value):
        """Pass a value for a parameter of a C type."""
        out = self.a.view(np.uint8)  # bytes of any type
        self.writers.get_function(kernel_sources.writer_name(c_type))(out, value, **ONE)

    def prepared(self, arg_types, *arguments, **keywords):
        self.get("twice").prepare(arg_types).prepared_call(*SHAPES, *arguments, **keywords)

    def shape(self, **shape):
        self.twice(self.a, 8, **{**ONE, **shape})

    def texts(self, **keywords):
        SourceModule(GOOD, **keywords)

    def works(self):
        self.a.set(np.arange(8, dtype=np.float32))
        self.twice(self.a, np.int32(8), block=(8, 1, 1))
        assert self.a.get().tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


@pytest.fixture(scope="module")
def machine():
    return Machine()


def freed_memory():
    memory = drv.mem_alloc(32)
    memory.free()
    return memory


def freed_array():
    array = gpuarray.zeros(8, np.float32)
    array.gpudata.free()
    return array


def destroyed_stream():
    stream = drv.Stream()
    assert PyGPU.cudaStreamDestroy(stream) == 0
    return stream


def read_only():
    array = np.ones(8, np.float32)
    array.flags.writeable = False
    return array


CALLS = {
    # the number of arguments
    "none": (lambda m: m.twice(**ONE), ArgumentError, r"twice\(\) takes 2 arguments, not 0"),
    "too few": (lambda m: m.twice(m.a, **ONE), ArgumentError, "takes 2 arguments, not 1"),
    "too many": (lambda m: m.twice(m.a, 1, 1, **ONE), struct.error, "takes 2 arguments, not 3"),
    # width and kind
    "int64 for int": (lambda m: m.write("int", np.int64(1)), TypeError, r"#1 .*'x'.*wider"),
    "uint64 for int": (lambda m: m.write("int", np.uint64(1)), struct.error, r"#1.*wider"),
    "int16 for char": (lambda m: m.write("signed char", np.int16(1)), ArgumentError, "wider"),
    "float64 for float": (lambda m: m.write("float", np.float64(1)), ArgumentError, "width"),
    "float32 for double": (lambda m: m.write("double", np.float32(1)), ArgumentError, "width"),
    "float16 for float": (lambda m: m.write("float", np.float16(1)), ArgumentError, "width"),
    "float32 for int": (lambda m: m.write("int", np.float32(1)), ArgumentError, "an integer"),
    "float64 for long": (lambda m: m.write("long", np.float64(1)), ArgumentError, "an integer"),
    "complex64 for double": (lambda m: m.write("double", np.complex64(1)), ArgumentError, "kind"),
    "longdouble": (
        lambda m: m.write("double", np.longdouble(1)),
        ArgumentError,
        "longdouble|float128",
    ),
    "datetime": (lambda m: m.write("long", np.datetime64("now")), ArgumentError, "datetime64"),
    "float for int": (
        lambda m: m.write("int", 1.0),
        ArgumentError,
        "expected an integer of 4 bytes, got float",
    ),
    "complex for double": (lambda m: m.write("double", 1j), ArgumentError, "got complex"),
    "None for int": (lambda m: m.write("int", None), ArgumentError, "got NoneType"),
    "str for int": (lambda m: m.write("int", "1"), ArgumentError, "got str"),
    "list for int": (lambda m: m.write("int", [1]), ArgumentError, "got list"),
    "tuple for int": (lambda m: m.write("int", (1,)), ArgumentError, "got tuple"),
    "dict for int": (lambda m: m.write("int", {}), ArgumentError, "got dict"),
    "object for int": (lambda m: m.write("int", object()), ArgumentError, "got object"),
    "array for int": (lambda m: m.write("int", m.a), ArgumentError, "an address does not fit"),
    "In for int": (lambda m: m.write("int", drv.In(np.ones(1))), ArgumentError, "an address"),
    "3 bytes for int": (lambda m: m.write("int", b"123"), ArgumentError, "3 bytes"),
    # out of range
    "2**31": (lambda m: m.write("int", 2**31), ArgumentError, "2147483648.*out of the range"),
    "-1 unsigned": (lambda m: m.write("unsigned int", -1), ArgumentError, "-1.*unsigned"),
    "256": (lambda m: m.write("unsigned char", 256), ArgumentError, "256.*1 unsigned"),
    "2**63": (lambda m: m.write("long long", 2**63), ArgumentError, "out of the range of 8"),
    "2**64": (lambda m: m.write("size_t", 2**64), ArgumentError, "out of the range of 8"),
    "2**2000 as double": (
        lambda m: m.write("double", 2**2000),
        ArgumentError,
        "an integer of 2001 bits is out of the range of 8 floating-point bytes",
    ),
    # pointers
    "None": (
        lambda m: m.twice(None, 8, **ONE),
        ArgumentError,
        "#0.*'a'.*pointer of 8 bytes, got NoneType.*0",
    ),
    "list": (lambda m: m.twice([1, 2], 8, **ONE), ArgumentError, "got list; .*to_gpu"),
    "tuple": (lambda m: m.twice((1, 2), 8, **ONE), ArgumentError, r"got tuple; .*In\("),
    "text": (lambda m: m.twice("a", 8, **ONE), ArgumentError, "a pointer of 8 bytes, got str"),
    "float": (lambda m: m.twice(1.5, 8, **ONE), ArgumentError, "a pointer of 8 bytes, got float"),
    "int32": (lambda m: m.twice(np.float32(1), 8, **ONE), ArgumentError, "#0"),
    "negative": (lambda m: m.twice(-8, 8, **ONE), ArgumentError, "-8 is out of the range"),
    "65 bits": (lambda m: m.twice(2**64, 8, **ONE), ArgumentError, "out of the range"),
    "host memory": (lambda m: m.twice(np.ones(8), 8, **ONE), ArgumentError, r"In\(\), Out\(\)"),
    "bytes": (lambda m: m.twice(b"12345678", 8, **ONE), ArgumentError, "host memory"),
    "freed memory": (lambda m: m.twice(freed_memory(), 8, **ONE), LogicError, "freed"),
    "freed array": (lambda m: m.twice(freed_array(), 8, **ONE), LogicError, "freed"),
    "read-only Out": (lambda m: m.twice(drv.Out(read_only()), 8, **ONE), ValueError, "read-only"),
    "gaps": (lambda m: m.twice(drv.In(np.ones(8)[::2]), 4, **ONE), ValueError, "contiguous"),
    # structures
    "structure too small": (
        lambda m: m.odd(m.a.view(np.uint8), b"12", b"123", **ONE),
        ArgumentError,
        "#1.*3 bytes.*it has 2 bytes",
    ),
    "structure too large": (
        lambda m: m.odd(m.a.view(np.uint8), b"123", np.ones(2), **ONE),
        ArgumentError,
        "#2.*it has 16 bytes",
    ),
    # shapes
    "no block": (lambda m: m.twice(m.a, 8), ValueError, r"block=\(x, y, z\)"),
    "block None": (lambda m: m.shape(block=None), LogicError, "block=None: expected one to"),
    "block ()": (lambda m: m.shape(block=()), LogicError, r"block=\(\)"),
    "block of 4": (lambda m: m.shape(block=(1, 1, 1, 1)), LogicError, "block=.*one to three"),
    "block text": (lambda m: m.shape(block="abc"), LogicError, "block='abc'"),
    "block zero": (lambda m: m.shape(block=(0, 1, 1)), LogicError, "block=.*from 1 to 4294967295"),
    "block negative": (lambda m: m.shape(block=(1, -1, 1)), LogicError, r"block=\(1, -1"),
    "block float": (lambda m: m.shape(block=(1.0, 1, 1)), LogicError, r"block=\(1.0"),
    "block too large": (lambda m: m.shape(block=(5000, 1, 1)), LogicError, "5000.*at most"),
    "block too deep": (
        lambda m: m.shape(block=(1, 1, 65)),
        LogicError,
        r"block\[2\] is 65.*allows 64",
    ),
    "block 2**32": (lambda m: m.shape(block=2**32), LogicError, "block=4294967296"),
    "block 2**70": (lambda m: m.shape(block=(2**70, 1)), LogicError, "block=.*one to three"),
    "grid of 4": (lambda m: m.shape(grid=(1, 1, 1, 1)), LogicError, "grid=.*one to three"),
    "grid zero": (lambda m: m.shape(grid=(1, 0)), LogicError, r"grid=\(1, 0\)"),
    "grid negative": (lambda m: m.shape(grid=-1), LogicError, "grid=-1"),
    "grid float": (lambda m: m.shape(grid=(1.5, 1)), LogicError, "grid=.*integers"),
    "grid too wide": (lambda m: m.shape(grid=(1, 65536)), LogicError, "grid=.*65536"),
    "grid too high": (
        lambda m: m.shape(grid=(1, 70000)),
        LogicError,
        r"grid\[1\] is 70000, the device allows 6553\d",
    ),
    "grid 2**31": (lambda m: m.shape(grid=(2**31, 1)), LogicError, "grid=.*2147483648"),
    # other keywords
    "shared negative": (lambda m: m.shape(shared=-1), LogicError, "shared=-1"),
    "shared float": (lambda m: m.shape(shared=1.5), TypeError, "float"),
    "shared too large": (lambda m: m.shape(shared=1 << 20), LogicError, "shared=1048576"),
    "shared 2**32": (lambda m: m.shape(shared=1 << 32), LogicError, "shared=4294967296"),
    "shared 2**70": (lambda m: m.shape(shared=1 << 70), OverflowError, "int"),
    "stream text": (lambda m: m.shape(stream="0"), TypeError, "stream"),
    "stream object": (lambda m: m.shape(stream=object()), TypeError, "stream"),
    "stream negative": (lambda m: m.shape(stream=-5), ValueError, "stream"),
    "stream gone": (lambda m: m.shape(stream=destroyed_stream()), ValueError, "stream.*destroyed"),
    "timed": (
        lambda m: m.shape(stream=drv.Stream(), time_kernel=True),
        AssertionError,
        "time_kernel",
    ),
    "texrefs": (lambda m: m.shape(texrefs=[1]), ArgumentError, "texrefs.*no texture reference"),
    "keyword": (lambda m: m.shape(blocks=(1, 1, 1)), ValueError, "'blocks'"),
    # prepare
    "bad char": (lambda m: m.twice.prepare("Pz"), ArgumentError, "'Pz': bad char 'z'"),
    "bad format": (lambda m: m.twice.prepare("P;i"), struct.error, "'P;i'"),
    "count alone": (lambda m: m.twice.prepare("Pi3"), struct.error, "'Pi3'"),
    "no sequence": (lambda m: m.twice.prepare(5), TypeError, "arg_types.*5"),
    "prepared None": (lambda m: m.twice.prepare(None), TypeError, "arg_types.*None"),
    "promise too few": (lambda m: m.twice.prepare("P"), ArgumentError, "2 arguments, not 1"),
    "promise wider": (
        lambda m: m.twice.prepare("Pq"),
        ArgumentError,
        "#1.*'n'.*declares an integer of 8 bytes",
    ),
    "promise kind": (lambda m: m.twice.prepare("Pf"), ArgumentError, "#1.*floating-point"),
    "promise no pointer": (lambda m: m.twice.prepare("ii"), ArgumentError, "#0.*'a'.*pointer"),
    "promise bytes": (lambda m: m.twice.prepare("P3s"), ArgumentError, "#1.*3 bytes"),
    "prepare texrefs": (lambda m: m.twice.prepare("Pi", [1]), ArgumentError, "no texture"),
    # prepared calls
    "not prepared": (
        lambda m: m.get("twice").prepared_call(*SHAPES, m.a, 8),
        AttributeError,
        r"prepared_call: call prepare\(\)",
    ),
    "prepared too few": (lambda m: m.prepared("Pi", m.a), struct.error, "2 arguments, not 1"),
    "prepared range": (lambda m: m.prepared("Pi", m.a, 2**31), ArgumentError, "out of the range"),
    "prepared float": (
        lambda m: m.prepared("Pi", m.a, 1.0),
        ArgumentError,
        r"#1.*prepare\(\) declared",
    ),
    "prepared str": (lambda m: m.prepared("Pi", "a", 1), ArgumentError, "#0.*got str"),
    "prepared null": (lambda m: m.prepared("Pi", None, 1), ArgumentError, "#0.*NoneType"),
    "prepared In": (lambda m: m.prepared("Pi", drv.In(np.ones(8)), 1), ArgumentError, "In, Out"),
    "prepared freed": (lambda m: m.prepared("Pi", freed_memory(), 1), LogicError, "freed"),
    "prepared keyword": (lambda m: m.prepared("Pi", m.a, 1, shared=8), TypeError, "'shared'"),
    "prepared shared": (
        lambda m: m.prepared("Pi", m.a, 1, shared_size=-8),
        LogicError,
        "shared.*=-8",
    ),
    "prepared shape": (
        lambda m: m.ready.prepared_call((1, 1), (0, 1, 1), m.a, 1),
        LogicError,
        r"block=\(0, 1, 1\)",
    ),
    "prepared nothing": (
        lambda m: m.ready.prepared_async_call((1, 1), (1, 1, 1)),
        TypeError,
        "prepared_async_call.*stream",
    ),
    "prepared stream": (
        lambda m: m.ready.prepared_async_call(*SHAPES, "0", m.a, 1),
        TypeError,
        "stream",
    ),
    # functions and modules
    "unknown kernel": (lambda m: m.get("nothing"), LogicError, "'nothing' not found.*twice"),
    "no kernel at all": (
        lambda m: SourceModule("void f() {} // __global__").get_function("f"),
        LogicError,
        "'f' not found.*no function in the source is __global__",
    ),
    "kernel None": (lambda m: m.get(None), TypeError, "NoneType"),
    "unknown global": (
        lambda m: m.pointers.get_global("nothing"),
        LogicError,
        "'nothing' not found",
    ),
    "texref": (lambda m: m.pointers.get_texref("t"), LogicError, "'t'.*no texture"),
    "surfref": (lambda m: m.pointers.get_surfref("t"), LogicError, "'t'.*no texture"),
    "unknown attribute": (lambda m: m.twice.nothing, AttributeError, "'nothing'"),
    "get_attribute": (lambda m: m.twice.get_attribute(999), LogicError, "999"),
    "set_attribute": (lambda m: m.twice.set_attribute(999, 1), LogicError, "999"),
    "set num_regs": (lambda m: m.twice.set_attribute(Attribute.NUM_REGS, 1), LogicError, "4"),
    "set too much": (lambda m: m.twice.set_attribute(DYNAMIC, 1 << 30), LogicError, "1073741824"),
    "set 2**40": (lambda m: m.twice.set_attribute(DYNAMIC, 1 << 40), Range, "1099511627776"),
    "cache config": (lambda m: m.twice.set_cache_config(17), ValueError, "17"),
    "Function()": (lambda m: drv.Function(), TypeError, "Function"),
    "no file": (lambda m: drv.module_from_file("/no/such/file"), drv.RuntimeError, "/no/such/file"),
    "garbage": (lambda m: drv.module_from_buffer(b"garbage" * 99), drv.Error, "module load"),
    "no image": (lambda m: drv.module_from_buffer(b""), drv.Error, "module load"),
    "no buffer": (lambda m: drv.module_from_buffer(5), TypeError, "bytes-like"),
    "jit option": (lambda m: drv.module_from_buffer(m.image, options=[5]), TypeError, "int"),
    # texts
    "syntax": (lambda m: SourceModule("__global__ void f( {"), CompileError, "kernel.cu"),
    "header": (lambda m: SourceModule('#include "none.h"\n' + GOOD), CompileError, "none.h"),
    "bytes for text": (lambda m: SourceModule(GOOD.encode()), TypeError, "source.*decode"),
    "arch": (lambda m: m.texts(arch="banana"), CompileError, "arch='banana'"),
    "arch number": (lambda m: m.texts(arch=90), (TypeError, CompileError), "arch"),
    "arch option": (lambda m: m.texts(options=["-arch=x"]), CompileError, "'x'"),
    "options text": (lambda m: m.texts(options="-O3"), TypeError, "options.*'-O3'"),
    "options number": (lambda m: m.texts(options=[3]), TypeError, "options.*3"),
    "options None": (lambda m: m.texts(options=[None]), TypeError, "options.*None"),
    "unknown option": (lambda m: m.texts(options=["--nonsense"]), CompileError, "nonsense"),
    "no value": (lambda m: m.texts(options=["-I"]), ValueError, "-I needs a value"),
    "include_dirs": (lambda m: m.texts(include_dirs="/tmp"), TypeError, "include_dirs.*'/tmp'"),
    "cache_dir": (lambda m: m.texts(cache_dir=5), TypeError, "cache_dir"),
    "expressions": (lambda m: m.texts(name_expressions="f<int>"), TypeError, "name_expressions"),
    "expression": (
        lambda m: m.texts(no_extern_c=True, name_expressions=["nothing<int>"]),
        CompileError,
        "nothing",
    ),
    "keyword of SourceModule": (lambda m: m.texts(nonsense=1), TypeError, "nonsense"),
    "target": (lambda m: compile(GOOD, target="exe"), AssertionError, "target"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call(machine, name):
    call, expected, text = CALLS[name]
    with pytest.raises(expected, match=text):
        call(machine)
    machine.works()


def test_the_table_is_long():
    assert len(CALLS) >= 45
