"""Types of the compiled module's arrays; methods that are Python are in PyGPU/_arrays."""

import ctypes
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from typing_extensions import Self, TypeAlias, disjoint_base

from PyGPU._host import ArrayFlags
from PyGPU._types import (
    Address,
    AllocatorLike,
    Array,
    Axis,
    HostArray,
    Index,
    Indices,
    Int,
    Mode,
    Number,
    Operand,
    Order,
    OrderLike,
    Scalar,
    Shape,
    StreamLike,
)

_Allocator: TypeAlias = AllocatorLike | None
_DType: TypeAlias = DTypeLike | None

@disjoint_base
class GPUArray:
    # Not declared: __array__, which only raises TypeError in np.asarray(array); NumPy's dispatch.
    __array_priority__: ClassVar[int]
    __hash__: ClassVar[None]  # type: ignore[assignment]
    allocator: _Allocator
    gpudata: Any
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    def __init__(
        self,
        shape: Shape | HostArray,
        dtype: _DType = None,
        allocator: _Allocator = None,
        base: object = None,
        gpudata: Address | None = None,
        strides: Shape | None = None,
        order: Order = "C",
        *,
        device: Int | None = None,
    ) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def _size(self) -> int: ...
    _address: int
    @property
    def _has_hidden_fields(self) -> bool: ...
    @property
    def device(self) -> int | None: ...
    @property
    def mem_size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def flags(self) -> ArrayFlags: ...
    @property
    def ptr(self) -> int: ...
    @property
    def _as_parameter_(self) -> ctypes.c_void_p: ...
    @property
    def base(self) -> Any: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: StreamLike = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    @property
    def T(self) -> GPUArray: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> int: ...
    def __round__(self, ndigits: int | None = None) -> Any: ...
    def __format__(self, format_spec: str) -> str: ...
    def item(self, *index: Shape) -> Any: ...
    def tolist(self) -> Any: ...
    def __getitem__(self, key: Index | tuple[Index, ...] | str, /) -> GPUArray: ...
    def __setitem__(
        self, key: Index | tuple[Index, ...] | str, value: Array | Scalar, /
    ) -> None: ...
    def reshape(self, *shape: Shape, order: str = "C", copy: bool | None = None) -> GPUArray: ...
    def ravel(self, order: str = "C") -> GPUArray: ...
    def view(self, dtype: _DType = None) -> GPUArray: ...
    def transpose(self, *permutation: Shape | None, axes: Shape | None = None) -> GPUArray: ...
    def squeeze(self, axis: Axis = None) -> GPUArray: ...
    def get(
        self,
        ary: HostArray | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: StreamLike = None,
    ) -> HostArray: ...
    def get_async(self, stream: StreamLike = None, ary: HostArray | None = None) -> HostArray: ...
    def set(self, ary: Array, async_: bool = False, stream: StreamLike = None) -> None: ...
    def set_async(self, ary: Array, stream: StreamLike = None) -> None: ...
    def copy(self, order: str = "K") -> GPUArray: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Self: ...
    def __add__(self, other: Operand, /) -> GPUArray: ...
    __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = __add__
    __mul__ = __rmul__ = __imul__ = __truediv__ = __rtruediv__ = __add__
    __itruediv__ = __floordiv__ = __rfloordiv__ = __ifloordiv__ = __mod__ = __add__
    __rmod__ = __imod__ = __pow__ = __rpow__ = __ipow__ = __add__
    __and__ = __rand__ = __iand__ = __or__ = __ror__ = __add__
    __ior__ = __xor__ = __rxor__ = __ixor__ = __lshift__ = __add__
    __rlshift__ = __ilshift__ = __rshift__ = __rrshift__ = __irshift__ = __add__
    __lt__ = __le__ = __gt__ = __ge__ = __add__
    def __eq__(self, other: object, /) -> GPUArray: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> GPUArray: ...  # type: ignore[override]
    def __divmod__(self, other: Operand, /) -> tuple[GPUArray, GPUArray]: ...
    def __rdivmod__(self, other: Operand, /) -> tuple[GPUArray, GPUArray]: ...
    def __matmul__(self, other: object, /) -> NoReturn: ...
    __rmatmul__ = __matmul__
    def __neg__(self) -> GPUArray: ...
    __pos__ = __abs__ = __invert__ = __neg__
    def sum(
        self,
        axis: Axis = None,
        dtype: _DType = None,
        out: GPUArray | None = None,
        keepdims: bool = False,
        initial: Number | None = None,
        where: GPUArray | bool = True,
        *,
        stream: StreamLike = None,
        allocator: _Allocator = None,
    ) -> GPUArray: ...
    prod = mean = sum
    def min(
        self,
        axis: Axis = None,
        out: GPUArray | None = None,
        keepdims: bool = False,
        initial: Number | None = None,
        where: GPUArray | bool = True,
        *,
        stream: StreamLike = None,
        allocator: _Allocator = None,
    ) -> GPUArray: ...
    max = min
    def any(
        a,
        stream: StreamLike = None,
        allocator: _Allocator = None,
        axis: Axis = None,
        out: GPUArray | None = None,
        keepdims: bool = False,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    all = any
    def dot(
        a,
        b: GPUArray,
        dtype: _DType = None,
        stream: StreamLike = None,
        allocator: _Allocator = None,
        out: GPUArray | None = None,
    ) -> GPUArray: ...
    @property
    def real(self) -> GPUArray: ...
    @property
    def imag(self) -> GPUArray: ...
    def conj(self, out: GPUArray | None = None) -> GPUArray: ...
    conjugate = conj
    def mul_add(
        self,
        selffac: Number,
        other: GPUArray,
        otherfac: Number,
        add_timer: Callable[[int, Callable[[], float]], object] | None = None,
        stream: StreamLike = None,
        out: GPUArray | None = None,
    ) -> GPUArray: ...
    def clip(
        self,
        min: Operand | None = None,
        max: Operand | None = None,
        out: GPUArray | None = None,
        stream: StreamLike = None,
    ) -> GPUArray: ...
    def bind_to_texref(self, texref: object, allow_offset: bool = False) -> float: ...
    def bind_to_texref_ext(
        self,
        texref: object,
        channels: int = 1,
        allow_double_hack: bool = False,
        allow_complex_hack: bool = False,
        allow_offset: bool = False,
    ) -> float: ...
    def take(
        a,
        indices: Indices,
        out: GPUArray | None = None,
        stream: StreamLike = None,
        axis: SupportsIndex | None = None,
        mode: Mode = "raise",
    ) -> GPUArray: ...
    def put(
        a,
        indices: Indices,
        values: GPUArray | ArrayLike,
        stream: StreamLike = None,
        mode: Mode = "raise",
    ) -> None: ...
    def reverse(self, stream: StreamLike = None) -> GPUArray: ...
    def round(a, decimals: int = 0, out: GPUArray | None = None) -> GPUArray: ...
    def astype(
        self,
        dtype: DTypeLike,
        stream: StreamLike = None,
        *,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> GPUArray: ...
    def fill(self, value: Number, stream: StreamLike = None) -> GPUArray: ...

def empty(
    shape: Shape | HostArray,
    dtype: _DType = None,
    allocator: _Allocator = None,
    base: object = None,
    gpudata: Address | None = None,
    strides: Shape | None = None,
    order: Order = "C",
    *,
    device: Int | None = None,
) -> GPUArray: ...
def to_gpu(ary: Any, allocator: _Allocator = None, *, device: Int | None = None) -> GPUArray: ...
def to_gpu_async(
    ary: Array,
    allocator: _Allocator = None,
    stream: StreamLike = None,
    *,
    device: Int | None = None,
) -> GPUArray: ...
def zeros(
    shape: Shape,
    dtype: _DType = ...,
    allocator: _Allocator = None,
    order: Order = "C",
    *,
    device: Int | None = None,
) -> GPUArray: ...
def empty_like(
    other_ary: Any, dtype: _DType = None, order: OrderLike = "K", shape: Shape | None = None
) -> GPUArray: ...
def zeros_like(
    other_ary: Any, dtype: _DType = None, order: OrderLike = "K", shape: Shape | None = None
) -> GPUArray: ...
