// Base classes of the typed pointers and allocators. PyGPU/_runtime/typed.py derives a class for
// each dtype, such as pointer_wrapper_float32.
#include "python/runtime/pointers.h"

#include <map>

#include "python/binders.h"
#include "python/binding/repr.h"
#include "python/runtime/call.h"
#include "python/runtime/pointers_docs.h"

namespace PyGPU::python {
namespace {

struct Allocation {
  MemoryKind kind;
  const DType* dtype;
  std::shared_ptr<Memory> memory;
  std::size_t count;
  Status last;

  Status allocate(std::size_t elements) {
    deallocate();
    std::size_t nbytes = 0;
    if (__builtin_mul_overflow(elements, dtype->itemsize, &nbytes))
      return last = {cudaErrorMemoryAllocation,
                     std::to_string(elements) + " elements were requested"};
    auto taken = std::make_shared<Memory>();
    const Status status = [&] {  // members change only while the GIL is held
      const NoGil without = release_gil();
      return returned_to_caller(allocate_memory(*taken, kind, nbytes));
    }();
    if (!status.failed()) {
      memory = std::move(taken);
      count = elements;
    }
    return last = status;
  }

  // Release the memory. Pointers and arrays that still use the memory keep it alive.
  Status deallocate() {
    memory = std::make_shared<Memory>();
    count = 0;
    return last = {};
  }

  Pointer pointer() const {
    return {memory->get().address, dtype, count,
            kind == MemoryKind::host || kind == MemoryKind::pinned, memory};
  }
};

template <MemoryKind kind>
Allocation no_allocation(py::handle self) {
  return {kind, &dtype_of_class(self), std::make_shared<Memory>(), 0, {}};
}

// Return a NumPy array of the host memory of a safe pointer. The array keeps `owner` alive.
np::array host_view(const Pointer& pointer, const py::object& owner) {
  if (!pointer.is_safe())
    throw py::value_error(std::string("pointer_wrapper_") + pointer.dtype->name + " at " +
                          hex(pointer.address) +
                          " is not safe to read: expected a pointer to host memory that Python "
                          "keeps alive");
  np::array view(np::dtype(pointer.dtype->name), {py::ssize_t(pointer.count)},
                 {py::ssize_t(pointer.dtype->itemsize)}, pointer.address, owner);
  if (pointer.read_only) view.attr("flags").attr("writeable") = false;
  return view;
}

Pointer pointer_from(py::handle self, py::object source, std::size_t count, bool host) {
  const DType& dtype = dtype_of_class(self);
  if (const Pointer* const pointer = find<Pointer>(source.ptr())) {
    if (pointer->dtype == &dtype) return *pointer;
    throw py::type_error(std::string("address: expected a pointer to ") + dtype.name +
                         ", got a pointer to " + pointer->dtype->name +
                         "; pass int(pointer) to use its address");
  }
  if (!is_buffer(source)) return {address_of(source, "address"), &dtype, count, host, nullptr};
  const auto view = view_buffer(source);
  if (!is_format_of(view->format, std::size_t(view->itemsize), dtype))
    throw py::type_error(std::string("address: expected a buffer of ") + dtype.name +
                         ", got format '" + view->format + "'");
  if (!PyBuffer_IsContiguous(view->view(), 'A'))
    throw py::value_error("address: the buffer is not contiguous; expected a contiguous buffer");
  return {view->ptr, &dtype, std::size_t(view->size), true, view, view->readonly};
}

std::string pointer_repr(const Pointer& pointer) {
  return std::string("<pointer_wrapper_") + pointer.dtype->name + " " + hex(pointer.address) +
         (pointer.is_safe() ? " safe>" : ">");
}

// Return a NumPy array of an allocator's memory. The array keeps the memory alive, but not the
// allocator, which may release the memory or allocate again.
np::array allocation_array(py::object self) {
  const Pointer pointer = held<Allocation>(self).pointer();
  return host_view(pointer, instance(pointer));
}

std::map<std::string, py::object>& pointer_classes() {
  static auto& classes = *new std::map<std::string, py::object>;
  return classes;
}

void bind_pointer(module_& m) {
  const py::object c = new_class<Pointer>(m, "pointer_wrapper", docs::pointer_wrapper);
  constructor(c, &pointer_from, {{"address", 0}, {"size", 0}, {"host", false}});
  const auto number = [](const Pointer& self) { return self.number(); };
  method(
      c, "is_safe", [](const Pointer& self) { return self.is_safe(); }, docs::is_safe);
  method(
      c, "get", [](const py::object& self) { return host_view(held<Pointer>(self), self); },
      docs::pointer_get);
  int_methods(c, number);
  method(c, "__hash__", number);
  method(c, "__eq__", [](const Pointer& self, const py::object& other) {
    const Pointer* const found = find<Pointer>(other.ptr());
    return found && found->address == self.address;
  });
  method(c, "__repr__", pointer_repr);
  property(c, "ptr", number, "Address as an int.");
  property(
      c, "size", [](const Pointer& self) { return std::uintptr_t(self.count); },
      "Number of elements that may be accessed; 0 if unknown.");
  ctypes_parameter(c);
}

void bind_allocators(module_& m) {
  const py::object c = new_class<Allocation>(m, "Allocator", docs::Allocator);
  method(c, "allocate", [](Allocation& self, std::size_t count) { return self.allocate(count); },
         docs::allocator_allocate, {{"count"}});
  method(
      c, "deallocate", [](Allocation& self) { return self.deallocate(); },
      docs::allocator_deallocate);
  method(
      c, "ptr", [](const Allocation& self) { return wrap_pointer(self.pointer()); },
      docs::allocator_ptr);
  method(
      c, "size", [](const Allocation& self) { return self.count; }, docs::size);
  method(c, "__len__", [](const Allocation& self) { return self.count; });
  method(
      c, "nbytes", [](const Allocation& self) { return self.count * self.dtype->itemsize; },
      docs::nbytes);
  method(
      c, "last_status", [](const Allocation& self) { return self.last; },
      docs::allocator_last_status);

  const Slots buffer{{Py_bf_getbuffer, as_slot(&export_buffer<&allocation_array>)}};
  constructor(new_subclass<Allocation>(m, "HostAllocator", docs::HostAllocator, buffer),
              &no_allocation<MemoryKind::host>);
  constructor(new_subclass<Allocation>(m, "PagelockedAllocator", docs::PagelockedAllocator, buffer),
              &no_allocation<MemoryKind::pinned>);
  constructor(new_subclass<Allocation>(m, "DeviceAllocator", docs::DeviceAllocator),
              &no_allocation<MemoryKind::device>);
}

}  // namespace

const DType& dtype_named(const std::string& name) {
  for (const DType& dtype : dtypes)
    if (dtype.name == name) return dtype;
  throw py::value_error("dtype='" + name + "': expected one of SUPPORTED_DTYPES");
}

const DType& dtype_of_class(py::handle self) {
  const py::handle type(reinterpret_cast<PyObject*>(Py_TYPE(self.ptr())));
  const py::object name = attribute_or_null(type, "dtype");
  if (!name || name.is_none())
    throw py::type_error(type.attr("__name__").cast<std::string>() +
                         " is a base class: use a class with a dtype in its name, such as " +
                         type.attr("__name__").cast<std::string>() + "_float64");
  return dtype_named(name.cast<std::string>());
}

py::object wrap_pointer(const Pointer& pointer) {
  return pointer_classes().at(pointer.dtype->name)(instance(pointer));
}

void bind_pointers(module_& m) {
  bind_pointer(m);
  bind_allocators(m);
  py::tuple names(dtype_count);
  for (int i = 0; i < dtype_count; ++i) names[std::size_t(i)] = dtypes[i].name;
  m.attr("SUPPORTED_DTYPES") = names;
  def(m, "_set_pointer_class",
      [](const std::string& dtype, const py::object& made) { pointer_classes()[dtype] = made; },
      "Register the class of a dtype's pointers.", {{"dtype"}, {"made"}});
}

}  // namespace PyGPU::python
