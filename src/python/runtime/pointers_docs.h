// Docstrings of the typed classes: pointers, allocators and DeviceArray.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char pointer_wrapper[] = R"(Typed address; the base of pointer_wrapper_<dtype>.

Parameters
----------
address : int, buffer or pointer_wrapper, default 0
    An address, or a contiguous buffer of the class's dtype, which the pointer keeps alive.
size : int, default 0
    Number of elements that may be accessed; 0 means unknown.
host : bool, default False
    Whether the address is of host memory.

Examples
--------
>>> import PyGPU
>>> PyGPU.pointer_wrapper_float32(4096, size=8)
<pointer_wrapper_float32 0x1000>
)";

inline constexpr char is_safe[] =
    R"(Return whether `get()` may read the memory: host memory that Python keeps alive.

-> True if it may.
)";

inline constexpr char pointer_get[] = R"(Return the host memory as an array, without a copy.

-> [numpy.ndarray] One-dimensional view of the memory, of the pointer's dtype.
Raises ValueError: Unless `is_safe()`.
)";

inline constexpr char Allocator[] =
    R"(Owner of memory for elements of one dtype; base of the allocators.

Examples
--------
>>> import PyGPU
>>> allocator = PyGPU.HostAllocator_float32()
>>> isinstance(allocator, PyGPU.Allocator)
True
)";

inline constexpr char HostAllocator[] =
    R"(Owner of zeroed pageable host memory; the base of HostAllocator_<dtype>.

Examples
--------
>>> import numpy as np
>>> import PyGPU
>>> allocator = PyGPU.HostAllocator_float32()
>>> allocator.allocate(3)
<cudaError: code=0>
>>> np.asarray(allocator)
array([0., 0., 0.], dtype=float32)
)";

inline constexpr char PagelockedAllocator[] =
    R"(Owner of page-locked host memory; the base of PagelockedAllocator_<dtype>.

Examples
--------
>>> import numpy as np
>>> import PyGPU
>>> allocator = PyGPU.PagelockedAllocator_float32()
>>> allocator.allocate(3)
<cudaError: code=0>
>>> np.asarray(allocator).shape
(3,)
)";

inline constexpr char DeviceAllocator[] =
    R"(Owner of device memory; the base of DeviceAllocator_<dtype>.

Examples
--------
>>> import PyGPU
>>> allocator = PyGPU.DeviceAllocator_float32()
>>> allocator.allocate(3)
<cudaError: code=0>
>>> allocator.size(), allocator.nbytes()
(3, 12)
>>> allocator.deallocate()
<cudaError: code=0>
)";

inline constexpr char allocator_allocate[] =
    R"(Allocate memory, and release the memory that was held before.

count: Number of elements.
-> Outcome of the call; after an error nothing is held.
)";

inline constexpr char allocator_deallocate[] =
    R"(Release the memory; it is freed once no pointer or array refers to it.
)";

inline constexpr char allocator_ptr[] = R"(Return a pointer to the memory.

-> [pointer_wrapper_<dtype>] Pointer that keeps the memory alive; null if nothing is held.
)";

inline constexpr char size[] = R"(Return the number of elements.

-> The number of elements.
)";

inline constexpr char nbytes[] = R"(Return the number of bytes.

-> The number of bytes of all elements.
)";

inline constexpr char allocator_last_status[] =
    R"(Return the status of the last allocate() or deallocate().

-> The status.
)";

inline constexpr char DeviceArray[] =
    R"(Host buffer and its counterpart on the device; the base of DeviceArray_<dtype>.

Memory is allocated and copied only when a method is called. Each step returns a status.

Parameters
----------
source : buffer, shape or pointer_wrapper
    A contiguous buffer of the class's dtype becomes the host buffer and is kept alive. A shape, an
    int or ints, allocates a zeroed host buffer. A pointer's memory becomes the host buffer or the
    device memory.
shape : int or sequence of int, optional
    Shape of a pointer's memory. If `source` is a shape, the order may be given here.
order : {'C', 'F'} or bool, optional
    Order of the elements; C by default. True means C, False means Fortran.

Raises
------
TypeError
    If a buffer or pointer has another dtype.
ValueError
    If a buffer is not contiguous, or a pointer has too few elements for the shape.

Examples
--------
>>> import numpy as np
>>> import PyGPU
>>> array = PyGPU.DeviceArray_float32(np.ones(3, np.float32))
>>> array.allocate(), array.to_device()
(<cudaError: code=0>, <cudaError: code=0>)
>>> np.asarray(array)[:] = 0
>>> array.to_host()
<cudaError: code=0>
>>> np.asarray(array)
array([1., 1., 1.], dtype=float32)
)";

inline constexpr char array_allocate[] =
    R"(Allocate the device memory; nothing happens if it exists already.
)";

inline constexpr char to_device[] = R"(Copy the host buffer to the device memory.

-> Outcome of the call; an error before `allocate()`, or without a host buffer.
)";

inline constexpr char to_host[] = R"(Copy the device memory to the host buffer.

-> Outcome of the call; an error before `allocate()`, or if the host buffer is read-only or missing.
)";

inline constexpr char array_last_status[] =
    R"(Return the status of the last allocate(), to_device() or to_host().

-> The status.
)";

inline constexpr char host_data[] = R"(Return a pointer to the host buffer.

-> [pointer_wrapper_<dtype>] Safe pointer that keeps the buffer alive.
)";

inline constexpr char device_data[] = R"(Return a pointer to the device memory.

-> [pointer_wrapper_<dtype>] Pointer that keeps the memory alive; null before `allocate()`.
)";

inline constexpr char allocated[] = R"(Return whether there is device memory.

-> True if there is, or if the array has no bytes.
)";

inline constexpr char shape[] = R"(Return the shape.

-> [tuple of int] Length of each axis.
)";

inline constexpr char strides[] = R"(Return the strides.

-> [tuple of int] Bytes from one element to the next along each axis.
)";

}  // namespace PyGPU::python::docs
