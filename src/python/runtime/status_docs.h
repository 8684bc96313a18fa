// Docstrings of cudaError_t and of the calls on errors. HIP defines macros of the calls' names, so
// the strings have a suffix.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaError_t_text[] = R"(Status that a call of the runtime returned.

A status is true if it reports an error. It equals its number and other statuses of that number.

Parameters
----------
code : int, default 0
    Number of the error; 0 is success.
detail : str, default ''
    Explanation that is shown with the runtime's description.

See Also
--------
PyGPU.errors.check : Raise an exception for a status that reports an error.

Examples
--------
>>> import PyGPU
>>> status = PyGPU.cudaSetDevice(99)
>>> status
<cudaError: code=101>
>>> bool(status), status == PyGPU.cudaErrorInvalidDevice
(True, True)
>>> status.name
'cudaErrorInvalidDevice'
)";

inline constexpr char as_int[] = R"(Return the number of the error.

-> The number; 0 is success.
)";

inline constexpr char cudaGetErrorName_text[] =
    R"(Return the name that the runtime's headers give an error.

-> The name.

>>> PyGPU.cudaGetErrorName(0)
'cudaSuccess'
)";

inline constexpr char cudaGetErrorString_text[] = R"(Return the runtime's description of an error.

-> The description.

>>> PyGPU.cudaGetErrorString(PyGPU.cudaErrorMemoryAllocation)
'out of memory'
)";

inline constexpr char cudaGetLastError_text[] =
    R"(Return the calling thread's last error, and reset it to success.

-> The last error.

>>> error = PyGPU.cudaGetLastError()
>>> PyGPU.cudaGetLastError()
<cudaError: code=0>
)";

inline constexpr char cudaPeekAtLastError_text[] =
    R"(Return the calling thread's last error without resetting it.

-> The last error.

>>> error = PyGPU.cudaGetLastError()
>>> PyGPU.cudaPeekAtLastError()
<cudaError: code=0>
)";

}  // namespace PyGPU::python::docs
