// DLPack: declarations that exports and imports share.
#pragma once

#include "PyGPU/dlpack.h"
#include "python/value/gpuarray.h"

namespace PyGPU::python {

// Throw BufferError: the data cannot be exchanged.
[[noreturn]] void refuse_exchange(const std::string& text);

dlpack::DataType data_type_of(const py::object& dtype);
py::object dtype_of_tensor(const dlpack::DataType& type);
dlpack::Device read_device(const py::object& pair);

// Wait for work of a device and ignore its errors, which are reported elsewhere. Deleters call
// this, with or without the GIL.
template <class Call>
void wait_quietly(int device, Call call) {
  if (forked()) return;
  if (waiting_in_relaxed_mode([&] { return on_device(device, call); })) (void)cudaGetLastError();
}

}  // namespace PyGPU::python
