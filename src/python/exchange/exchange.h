// What both directions of DLPack share: types, and ends that come from any thread.
#pragma once

#include "PyGPU/dlpack.h"
#include "python/array/gpuarray.h"

namespace PyGPU::python {

// BufferError: the data cannot be exchanged.
[[noreturn]] void refuse_exchange(const std::string& text);

dlpack::DataType data_type_of(const py::object& dtype);
py::object dtype_of_tensor(const dlpack::DataType& type);
dlpack::Device read_device(const py::object& pair);

// Deleters are called with or without the GIL, even after the interpreter.

// Let a reference go. It is leaked where the interpreter no longer lets this thread in.
void drop(PyObject* object);

// Wait for work of a device. Its failures are reported elsewhere.
template <class Wait>
void wait_without_gil(int device, Wait wait) {
  if (forked()) return;
  const auto work = [&] {
    if (on_device(device, wait)) (void)cudaGetLastError();
  };
  if (!PyGILState_Check()) return work();
  const NoGil without = let_gil_go();
  work();
}

void bind_loans(py::module_& m);

}  // namespace PyGPU::python
