// Docstrings of kernels' methods.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char prepared_call[] =
    R"doc(prepared_call($self, grid, block, /, *args, shared_size=0)
--

Launch a prepared kernel on the null stream.

Parameters
----------
grid : int or tuple of int
    Blocks along one to three axes.
block : int or tuple of int
    Threads of a block along one to three axes.
*args : object
    Kernel arguments of the types declared by ``prepare()``.
shared_size : int, optional
    Dynamic shared memory in bytes.
)doc";

inline constexpr char prepared_async_call[] =
    R"doc(prepared_async_call($self, grid, block, stream, /, *args, shared_size=0)
--

Launch a prepared kernel on a stream.

Parameters
----------
grid : int or tuple of int
    Blocks along one to three axes.
block : int or tuple of int
    Threads of a block along one to three axes.
stream : PyGPU.driver.Stream, int or None
    Stream of the launch; None is the null stream.
*args : object
    Kernel arguments of the types declared by ``prepare()``.
shared_size : int, optional
    Dynamic shared memory in bytes.
)doc";

}  // namespace PyGPU::python::docs
