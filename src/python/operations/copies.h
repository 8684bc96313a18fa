// Copies between NumPy and GPUArray, and between GPUArrays, of any layouts.
#pragma once

#include "python/value/gpuarray.h"

namespace PyGPU::python {

// Copies between any two layouts. If `stream` is null, copies from or to the host wait until they
// are done, and copies between arrays are enqueued on the null stream.
void set_from_host(const GPUArray& array, const np::array& source, const StreamRef* stream);
// Return `source` in the shape of `array`. Another shape of the same size is reshaped with a
// warning. Another size or dtype is a ValueError.
GPUArray reshaped_like(const GPUArray& array, const GPUArray& source, const StreamRef* stream);
void set_from_device(const GPUArray& array, const GPUArray& source, const StreamRef* stream);
py::object get_to_host(const GPUArray& array, const py::object& out, bool pagelocked,
                       const StreamRef* stream);
// Return a layout by the name of an order. "K" is the order of another layout's axes in memory, "A"
// is "F" for one that is contiguous in that order alone.
Layout layout_like(const Layout& other, const Axes& shape, std::size_t itemsize,
                   const std::string& order);
GPUArray copy_of(const GPUArray& array, const StreamRef* stream = nullptr,
                 const std::string& order = "K");
// Return a NumPy scalar, number, list or tuple as numpy.asarray does; an ndarray as it is. Null for
// other objects.
py::object as_ndarray(const py::object& source);
Layout layout_of(const np::array& host, std::size_t itemsize);
GPUArray to_gpu(const py::object& source, const py::object& allocator, const StreamRef* stream,
                bool is_device_given = false);

}  // namespace PyGPU::python
