// Array arguments of ElementwiseKernel and ReductionKernel.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "python/value/gpuarray.h"

namespace PyGPU::python {

// Declarations of a kernel's array parameters.
class Vectors {
 public:
  // Each row is (position among the arguments, dtype, whether the kernel uses element i for every
  // index i).
  explicit Vectors(const py::sequence& declared) {
    for (const py::handle& one : declared) {
      const auto row = py::reinterpret_borrow<py::tuple>(one);
      const py::object dtype = row[1];
      vectors_.push_back({row[0].cast<std::size_t>(), dtype.attr("itemsize").cast<std::size_t>(),
                          dtype.attr("alignment").cast<std::uintptr_t>(), row[2].cast<bool>()});
    }
  }

  const GPUArray& first(PyObject* const* arguments) const {
    return *find<GPUArray>(arguments[vectors_.front().position]);
  }
  // Return true if elements of the same index have the same position in all arrays, and each array
  // has as many elements as the kernel uses: `needed`, or the size of the first array. Return false
  // for arguments that Python must check.
  bool can_launch(PyObject* const* arguments, std::optional<Index> needed = {}) const {
    bool all_c = true, all_f = true;
    Index size = needed.value_or(0);
    for (const Vector& vector : vectors_) {
      const GPUArray* const array = find<GPUArray>(arguments[vector.position]);
      if (!array) return false;
      const Layout& layout = array->layout();
      if (!needed && &vector == &vectors_.front()) size = layout.size();
      const auto address = number_of(array->core.address());
      const bool is_narrower = layout.itemsize() < vector.itemsize;
      const Index held = is_narrower ? Index(layout.nbytes() / vector.itemsize) : layout.size();
      if ((layout.size() && address % vector.alignment) || (vector.is_always_used && held < size))
        return false;
      all_c = all_c && layout.c_contiguous();
      all_f = all_f && layout.f_contiguous();
    }
    return all_c || all_f;
  }
  bool any_is_always_used() const {
    return std::any_of(vectors_.begin(), vectors_.end(),
                       [](const Vector& vector) { return vector.is_always_used; });
  }
  // Return true if arrays that can_launch accepts have elements of the declared size and share no
  // bytes.
  bool are_disjoint(PyObject* const* arguments) const {
    for (const Vector& vector : vectors_) {
      const GPUArray& array = *find<GPUArray>(arguments[vector.position]);
      if (array.layout().itemsize() != vector.itemsize) return false;
      for (const Vector* other = &vector + 1; other != vectors_.data() + vectors_.size(); ++other)
        if (array.core.overlaps(find<GPUArray>(arguments[other->position])->core)) return false;
    }
    return true;
  }

 private:
  struct Vector {
    std::size_t position, itemsize;
    std::uintptr_t alignment;
    bool is_always_used;
  };
  std::vector<Vector> vectors_;
};

// Add the items of a tuple to the arguments of a launch.
template <class Arguments>
void add_items(Arguments& arguments, const py::tuple& given) {
  for (std::size_t i = 0; i < given.size(); ++i) arguments.add(PyTuple_GET_ITEM(given.ptr(), i));
}

inline PyObject* const* items_of(const py::tuple& given) {
  return reinterpret_cast<PyTupleObject*>(given.ptr())->ob_item;
}

}  // namespace PyGPU::python
