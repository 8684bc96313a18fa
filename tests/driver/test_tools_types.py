"""PyGPU.tools: C names of dtypes, their registry, kernel arguments read from declarations."""

import numpy as np
import pytest

from PyGPU import tools

CANONICAL = {
    "bool": "?",
    "signed char": "i1",
    "unsigned char": "u1",
    "short": "i2",
    "unsigned short": "u2",
    "int": "i4",
    "unsigned": "u4",
    "long": "i8",
    "unsigned long": "u8",
    "float": "f4",
    "double": "f8",
    "pycuda::complex<float>": "c8",
    "pycuda::complex<double>": "c16",
}
SPELLINGS = {
    "?": ("bool",),
    "i1": ("char", "signed char", "int8_t"),
    "u1": ("unsigned char", "uint8_t"),
    "i2": ("short", "signed short", "short int", "signed short int", "int16_t"),
    "u2": ("unsigned short", "unsigned short int", "uint16_t"),
    "i4": ("int", "signed int", "int32_t"),
    "u4": ("unsigned", "unsigned int", "uint32_t"),
    "i8": ("long", "long int", "signed long", "signed long int", "long long", "int64_t"),
    "u8": ("unsigned long", "unsigned long int", "unsigned long long", "uint64_t", "size_t"),
    "f4": ("float",),
    "f8": ("double",),
    "c8": ("pycuda::complex<float>",),
    "c16": ("pycuda::complex<double>",),
}


@pytest.mark.parametrize("name", CANONICAL)
def test_names_of_dtypes(name):
    dtype = np.dtype(CANONICAL[name])
    for spelled in (dtype, dtype.type, dtype.str, dtype.name):
        assert tools.dtype_to_ctype(spelled) == tools.base_dtype_to_ctype(spelled) == name
    assert tools.get_or_register_dtype(name) == dtype


def test_python_types_have_names():
    assert tools.dtype_to_ctype(float) == "double" and tools.dtype_to_ctype(bool) == "bool"
    assert tools.dtype_to_ctype(np.longlong) == "long"
    assert tools.dtype_to_ctype(dtype=np.ulonglong) == "unsigned long"


def test_names_of_texture_types():
    expected = {"f4": "fp_tex_float", "f8": "fp_tex_double"}
    expected |= {"c8": "fp_tex_cfloat", "c16": "fp_tex_cdouble", "i4": "int"}
    for code, name in expected.items():
        assert tools.dtype_to_ctype(np.dtype(code), with_fp_tex_hack=True) == name


@pytest.mark.parametrize(
    "dtype", [None, "g", "G", "M8[s]", "m8[ns]", "S5", "U2", "V4", "i4, f8", "O", ">f4", ">i8"]
)
def test_dtypes_without_a_name(dtype):
    for hack in (False, True):
        with pytest.raises(ValueError, match="None" if dtype is None else "unable to map dtype"):
            tools.dtype_to_ctype(dtype if dtype is None else np.dtype(dtype), hack)


@pytest.mark.parametrize(
    ("dtype", "advice"),
    [
        ("i4, f8", r"; PyGPU\.tools\.get_or_register_dtype"),
        (">i4, f8", r"; PyGPU\.tools\.get_or_register_dtype"),
        (">i4", r"'>i4'; .* before to_gpu\(\): \.astype\(dtype\.newbyteorder\('='\)\)"),
        ("M8[s]", r"'datetime64\[s\]'; compute with a\.view\('int64'\)"),
        ("S3", "'$"),
    ],
)
def test_what_to_do_about_a_dtype_without_a_name(dtype, advice):
    with pytest.raises(ValueError, match=advice):
        tools.dtype_to_ctype(np.dtype(dtype))


# Registering.


def test_structures_get_names():
    record = np.dtype([("first", "i4"), ("second", "f8")], align=True)
    assert tools.get_or_register_dtype(["record_a", "record_b"], record) == record
    assert tools.dtype_to_ctype(record) == "record_a"
    assert tools.get_or_register_dtype("record_b") == record
    assert tools.get_or_register_dtype("record_c", record) == record
    assert tools.dtype_to_ctype(record) == "record_a"  # the first name stays
    assert tools.get_or_register_dtype("record_a", dtype=record) == record
    for name in ("record_a", "record_c"):
        argument = tools.parse_c_arg(f"const {name} *x")
        assert isinstance(argument, tools.VectorArg) and argument.dtype == record
    assert tools.parse_c_arg("record_a x").struct_char == "16s"
    assert tools.VectorArg(record, "x").declarator() == "record_a *x"


def test_names_are_taken_once():
    one, other = np.dtype([("x", "i4"), ("y", "i4")]), np.dtype([("weight", "f4")])
    tools.get_or_register_dtype("taken_name", one)
    with pytest.raises(RuntimeError, match="taken_name"):
        tools.get_or_register_dtype("taken_name", other)
    with pytest.raises(RuntimeError, match="float"):
        tools.get_or_register_dtype(["free_name", "float"], other)
    for unknown in ("free_name", "no_such_name"):
        with pytest.raises(KeyError, match=unknown):
            tools.get_or_register_dtype(unknown)
    with pytest.raises(ValueError, match="unable to map"):
        tools.dtype_to_ctype(other)


def test_the_old_way_to_register():
    record = np.dtype([("old", "i2")])
    with pytest.warns(DeprecationWarning, match="get_or_register_dtype"):
        tools.register_dtype(record, "old_name")
    assert tools.dtype_to_ctype(record) == "old_name"
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError, match="already"):
        tools.register_dtype(record, "new_name")
    with pytest.warns(DeprecationWarning):
        tools.register_dtype(record, "new_name", alias_ok=True)
    assert tools.get_or_register_dtype("new_name") == record
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError):
        tools.register_dtype(np.dtype([("other", "i2")]), "new_name")


# Arguments.


@pytest.mark.parametrize("code", SPELLINGS)
def test_every_spelling_is_read(code):
    for name in SPELLINGS[code]:
        for text, kind in (
            (f"{name} x", tools.ScalarArg),
            (f"const {name} x", tools.ScalarArg),
            (f"  volatile   {name}   x ", tools.ScalarArg),
            (f"{name} *x", tools.VectorArg),
            (f"{name}* x", tools.VectorArg),
            (f"{name}*x", tools.VectorArg),
            (f"const {name} * __restrict__ x", tools.VectorArg),
            (f"{name} const *restrict x", tools.VectorArg),
            (f"{name} x[]", tools.VectorArg),
            (f"{name} x[16]", tools.VectorArg),
        ):
            found = tools.parse_c_arg(text)
            assert type(found) is kind and found.name == "x" and found.dtype == np.dtype(code)
            assert tools.get_arg_type(text) == found.struct_char
            assert found.struct_char == ("P" if kind is tools.VectorArg else np.dtype(code).char)


@pytest.mark.parametrize("text", ["no_such_type x", "vector<int> *x", "Float x", "complex<f> x"])
def test_unknown_types(text):
    with pytest.raises(ValueError, match="unknown type"):
        tools.parse_c_arg(text)


@pytest.mark.parametrize(
    "text", ["", "float", "float *", "*x", "float x y*", "int x = 3", "(int) x"]
)
def test_what_is_no_declaration(text):
    with pytest.raises(ValueError, match=r"parse|unknown type"):
        tools.parse_c_arg(text)


def test_arguments_print():
    scalar, vector = tools.ScalarArg(np.int32, "n"), tools.VectorArg("f4", "x_out")
    assert repr(scalar) == "ScalarArg('n', int32)" and scalar.declarator() == "int n"
    assert repr(vector) == "VectorArg('x_out', float32)" and vector.declarator() == "float *x_out"
    assert isinstance(scalar, tools.Argument) and isinstance(vector, tools.Argument)
    assert scalar.dtype == np.int32 and vector.dtype == np.float32
    for declared in (scalar, vector):
        again = tools.parse_c_arg(declared.declarator())
        assert repr(again) == repr(declared)
    with pytest.raises(ValueError, match="unable to map"):
        tools.ScalarArg("S5", "text").declarator()
