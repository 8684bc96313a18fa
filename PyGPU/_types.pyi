"""Types of arguments, for annotations alone: a stub without a module."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import DTypeLike as DTypeLike
from numpy.typing import NDArray as NDArray
from typing_extensions import Buffer as _Buffer
from typing_extensions import ParamSpec, TypeAlias

from PyGPU._driver.device import Device as Device
from PyGPU._driver.module_references import References as References
from PyGPU._driver.references import Reference as Reference
from PyGPU._driver.references import SurfaceReference as SurfaceReference
from PyGPU._driver.references import TextureReference as TextureReference
from PyGPU._host import GPUArray as GPUArray

P = ParamSpec("P")
R = TypeVar("R")

class HasCudaArrayInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> Mapping[str, Any]: ...

class HasPtr(Protocol):
    @property
    def ptr(self) -> int: ...

class HasHandle(Protocol):
    @property
    def handle(self) -> SupportsIndex: ...

class HasCudaStream(Protocol):
    @property
    def cuda_stream(self) -> SupportsIndex: ...

class MakesCudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

class HasGpudata(Protocol):
    @property
    def gpudata(self) -> SupportsIndex: ...

class HasPointer(Protocol):
    def get_pointer(self) -> SupportsIndex: ...

class HasDLPack(Protocol):
    def __dlpack__(self, *, stream: int | None = ...) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class HasNbytes(Protocol):
    @property
    def nbytes(self) -> int: ...

class Progress(Protocol):
    def update(self, n: int, /) -> object: ...
    def close(self) -> object: ...

class MakesProgress(Protocol):
    def __call__(self, *, total: int, unit: str, unit_scale: bool, desc: str) -> Progress: ...

class Fill(Protocol):
    def __call__(self, dest: Address, data: Int, size: Int) -> None: ...

class FillAsync(Protocol):
    def __call__(self, dest: Address, data: Int, size: Int, stream: StreamLike = None) -> None: ...

class Fill2D(Protocol):
    def __call__(self, dest: Address, pitch: Int, data: Int, width: Int, height: Int) -> None: ...

class Fill2DAsync(Protocol):
    def __call__(
        self,
        dest: Address,
        pitch: Int,
        data: Int,
        width: Int,
        height: Int,
        stream: StreamLike = None,
    ) -> None: ...

Int: TypeAlias = SupportsIndex
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | NDArray[np.integer[Any]]
Order: TypeAlias = Literal["C", "F"]
OrderLike: TypeAlias = Literal["K", "A", "C", "F"]
HostArray: TypeAlias = NDArray[Any]
DType: TypeAlias = np.dtype[Any]
DTypes: TypeAlias = tuple[DType, ...]
# Kind of an operand: an array's dtype, or the type and value of a number.
Kind: TypeAlias = DType | tuple[Callable[[Any], Any], Any]
BytesLike: TypeAlias = _Buffer
BufferLike: TypeAlias = BytesLike | HostArray | np.generic
Address: TypeAlias = SupportsIndex | HasPtr | HasCudaArrayInterface | HasGpudata | HasPointer
Memory: TypeAlias = Address | BufferLike
StreamLike: TypeAlias = int | MakesCudaStream | HasHandle | HasPtr | HasCudaStream | None
AllocatorLike: TypeAlias = Callable[[int], Address]
Block: TypeAlias = tuple[int, int, int]
Grid: TypeAlias = tuple[int, int] | tuple[int, int, int]
ArgTypes: TypeAlias = str | Sequence[str | DType | type[Any] | object]
SeedGetter: TypeAlias = Callable[[int], GPUArray]
CacheDir: TypeAlias = str | PathLike[str] | Literal[False] | None
Number: TypeAlias = np.number[Any] | np.bool_ | complex
Operand: TypeAlias = GPUArray | Number
Launch: TypeAlias = Callable[..., None]
Array: TypeAlias = GPUArray | HostArray
Out: TypeAlias = GPUArray | tuple[GPUArray | None, ...] | None
# Address of the first item, and strides in bytes.
Positions: TypeAlias = tuple[int, tuple[int, ...]]
Axis: TypeAlias = SupportsIndex | tuple[int, ...] | None
Index: TypeAlias = SupportsIndex | slice | EllipsisType | GPUArray | HostArray | list[Any] | None
Indices: TypeAlias = GPUArray | ArrayLike
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
Mode: TypeAlias = Literal["raise", "clip", "wrap"]
Scalar: TypeAlias = np.generic | complex | str | bytes | tuple[Any, ...]
