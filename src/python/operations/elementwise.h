// Elementwise operations on arrays of any layouts, with copies where a kernel needs them.
#pragma once

#include "python/operations/map.h"

namespace PyGPU::python {

// Run an operation whose result arrays are allocated, with copies of the arrays that need them.
void launch(const Map& map, const StreamRef& stream);

// Return the array, or a contiguous copy, made on the stream, if its elements are not aligned.
Array aligned(const GPUArray& array, int code, const StreamRef& stream);
// Throw ValueError if the elements of a result are not aligned.
void require_aligned(const Array& result, int code);
// Return a contiguous copy, made on the stream.
Array contiguous_copy(const GPUArray& array, const StreamRef& stream,
                      const Layout* layout = nullptr);

}  // namespace PyGPU::python
