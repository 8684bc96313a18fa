"""Names in C and CUDA C++ of the types that parameters have: numbers, and vectors of them."""

from __future__ import annotations

#: Names in C of NumPy's types; the first is used in our own kernels.
C_NAMES: dict[str, tuple[str, ...]] = {
    "b1": ("bool",),
    "i1": ("signed char", "char", "int8_t"),
    "u1": ("unsigned char", "uint8_t", "uchar"),
    "i2": ("short", "signed short", "short int", "signed short int", "int16_t"),
    "u2": ("unsigned short", "unsigned short int", "uint16_t", "ushort"),
    "i4": ("int", "signed int", "signed", "int32_t"),
    "u4": ("unsigned", "unsigned int", "uint32_t", "uint"),
    "i8": ("long", "long int", "signed long", "signed long int", "long long", "long long int")
    + ("signed long long", "int64_t", "ssize_t", "ptrdiff_t", "intptr_t", "npy_int64"),
    "u8": ("unsigned long", "unsigned long int", "unsigned long long", "unsigned long long int")
    + ("uint64_t", "size_t", "ulong", "uintptr_t", "cudaTextureObject_t", "cudaSurfaceObject_t"),
    "f2": ("half", "__half"),
    "f4": ("float",),
    "f8": ("double",),
    "c8": ("pycuda::complex<float>", "thrust::complex<float>", "cuda::std::complex<float>")
    + ("complex<float>", "cuFloatComplex", "cuComplex"),
    "c16": ("pycuda::complex<double>", "thrust::complex<double>", "cuda::std::complex<double>")
    + ("complex<double>", "cuDoubleComplex"),
}
_MORE_NAMES = {"B2": ("__nv_bfloat16", "nv_bfloat16", "__hip_bfloat16")}  # NumPy has no dtype
#: Names -> (kind, bytes).
TYPES = {
    prefix + name: (code[0], int(code[1:]))
    for code, names in (C_NAMES | _MORE_NAMES).items()
    for name in names
    for prefix in ("", "std::")
}

#: Names of vectors -> (kind and bytes of an element, number of elements).
VECTORS = {
    f"{base}{count}{aligned}": (code[0], int(code[1:]), count)
    for base, code in {
        **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
        **{"long": "i8", "ulong": "u8", "longlong": "i8", "ulonglong": "u8"},
        **{"float": "f4", "double": "f8"},
    }.items()
    for count in (1, 2, 3, 4)
    for aligned in ("", "_16a", "_32a")
}
VECTORS.update(dict.fromkeys(("half2", "__half2"), ("f", 2, 2)))
VECTORS.update(
    dict.fromkeys(("nv_bfloat162", "__nv_bfloat162", "__hip_bfloat162"), ("B", 2, 2)),
    dim3=("u", 4, 3),
)
