// Launches of prepared functions. See function.cpp.
#pragma once

#include "PyGPU/runtime/kernel.h"
#include "python/launch/packing.h"
#include "python/runtime/call.h"

namespace PyGPU::python {

struct Function;

// Argument types declared by prepare(). A launch keeps the types of its start, because converting
// an argument may run Python code that calls prepare() again.
struct Prepared {
  std::vector<ValueType> declared;
  std::vector<KernelParameter> parameters;  // only if the kernel's own are unknown
};

// Arguments of one launch of a prepared function, packed as they are added: Python objects, which
// must stay alive until the launch, numbers, and addresses of memory that the launch may use.
class PreparedArguments {
 public:
  explicit PreparedArguments(py::handle function);
  PreparedArguments(const PreparedArguments&) = delete;  // objects_ may point into inline_objects_
  PreparedArguments& operator=(const PreparedArguments&) = delete;
  // ArgumentError if the function was prepared for another number of arguments.
  void require_count(std::size_t count) const;
  void add(PyObject* argument) {
    const std::size_t i = next();
    objects_[i] = argument;
    has_run_python_ |= pack_declared(argument, prepared_->declared[i], parameters_[i], i,
                                     packed_.value(i)) != Packing::done;
  }
  void add(Index number) {
    const std::size_t i = next();
    objects_[i] = nullptr;
    pack_declared(number, prepared_->declared[i], parameters_[i], i, packed_.value(i));
  }
  void add_address(const void* address) { add(Index(number_of(address))); }
  void launch(const LaunchShape& shape, const StreamRef& stream);

 private:
  std::size_t next() {
    if (count_ == prepared_->declared.size()) require_count(count_ + 1);
    return count_++;
  }

  static constexpr std::size_t inline_count = 32;
  Function& function_;
  std::shared_ptr<const Prepared> prepared_;
  const std::vector<KernelParameter>& parameters_;
  PackedArguments packed_;
  PyObject* inline_objects_[inline_count];
  std::vector<PyObject*> heap_objects_;
  PyObject** objects_ = inline_objects_;  // null for a number
  std::size_t count_ = 0;
  bool has_run_python_ = false;
};

py::handle function_class();

}  // namespace PyGPU::python
