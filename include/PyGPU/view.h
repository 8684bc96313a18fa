// Device arrays of any library as arguments of a user's pybind11 module.
//
//     #include <PyGPU/view.h>
//
//     m.def("scale", [](PyGPU::View<double, 1> a, double factor) {
//       scale(a.pointer, a.size(), factor, static_cast<cudaStream_t>(a.stream));
//     });
//
// View<T> accepts every object with __cuda_array_interface__ or, in device memory, __dlpack__: a
// GPUArray, a tensor of PyTorch, an array of CuPy, Numba or JAX. View<const T> also accepts
// read-only memory. pointer_wrapper<T> accepts PyGPU's pointer_wrapper_<dtype>. Arguments of
// another dtype, rank, order or device do not match: pybind11 tries the next overload, and its
// TypeError lists the types. PyGPU::view_of<PyGPU::View<T>>(object, "name") raises a TypeError with
// the reason.
//
// Only pybind11 and Python's headers are needed.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "view_reading.h"

namespace PyGPU {

constexpr int any_rank = -1;

// An array in device memory. It keeps the memory alive, also in copies on other threads.
template <class T, int rank = any_rank, Order order = Order::any>
struct View {
  T* pointer = nullptr;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements
  int device = -1;                    // the device's number; -1 if the array does not report it
  void* stream = nullptr;             // in its order the elements are ready; null: the null stream
  std::shared_ptr<const void> owner;  // of the memory

  std::int64_t ndim() const { return std::int64_t(shape.size()); }
  std::int64_t size() const {
    std::int64_t result = 1;
    for (const std::int64_t length : shape) result *= length;
    return result;
  }
  bool is_contiguous() const { return views::is_ordered(shape, strides, Order::c); }
};

// An address in device memory: PyGPU's pointer_wrapper_<dtype>. Its memory is the caller's.
template <class T>
struct pointer_wrapper {
  T* pointer = nullptr;
  T* get() const { return pointer; }
  operator T*() const { return pointer; }
};

namespace views {

template <class V>
struct Expected;
template <class T, int rank, Order order>
struct Expected<View<T, rank, order>> {
  using Element = std::remove_cv_t<T>;
  static constexpr Expectation value{library::kind_of<Element>(), sizeof(T), rank, order,
                                     !std::is_const<T>::value};
  static_assert(library::kind_of<Element>() != '?' && library::kind_of<Element>() != 'P',
                "PyGPU::View: the elements must be numbers or classes");
};

// Fill a view from an object; return the reason where that is impossible, otherwise "".
template <class T, int rank, Order order>
std::string fill(pybind11::handle object, View<T, rank, order>& view) {
  Found found;
  std::string reason = read(object, Expected<View<T, rank, order>>::value, found);
  if (reason.empty())
    view = {static_cast<T*>(found.pointer),
            std::move(found.shape),
            std::move(found.strides),
            found.device,
            found.stream,
            std::move(found.owner)};
  return reason;
}

}  // namespace views

// Return the view of an object. A TypeError names the argument, the expected array and the reason.
template <class V>
V view_of(pybind11::handle object, const char* argument = "array") {
  V result;
  const std::string reason = views::fill(object, result);
  if (!reason.empty())
    throw pybind11::type_error(std::string(argument) + ": expected " +
                               views::text_of(views::Expected<V>::value) + ", got " +
                               views::type_name(object) + "; " + reason);
  return result;
}

}  // namespace PyGPU

namespace pybind11 {
namespace detail {

// The dtype's name in pybind11's messages.
template <class T>
constexpr auto PyGPU_dtype_text() {
  constexpr char kind = PyGPU::library::kind_of<T>();
  constexpr auto bits = const_name<8 * sizeof(T)>();
  if constexpr (kind == 'b')
    return const_name("bool");
  else if constexpr (kind == 'i')
    return const_name("int") + bits;
  else if constexpr (kind == 'u')
    return const_name("uint") + bits;
  else if constexpr (kind == 'f')
    return const_name("float") + bits;
  else if constexpr (kind == 'c')
    return const_name("complex") + bits;
  else if constexpr (kind == 'B')
    return const_name("bfloat16");
  else
    return const_name("struct of ") + const_name<sizeof(T)>() + const_name(" bytes");
}

template <int rank>
constexpr auto PyGPU_rank_text() {
  if constexpr (rank < 0)
    return const_name("");
  else
    return const_name(", ndim=") + const_name<std::size_t(rank)>();
}

template <class T, int rank, PyGPU::Order order>
struct type_caster<PyGPU::View<T, rank, order>> {
  using View = PyGPU::View<T, rank, order>;
  PYBIND11_TYPE_CASTER(View, const_name("PyGPU.View[") + PyGPU_dtype_text<std::remove_cv_t<T>>() +
                                 PyGPU_rank_text<rank>() +
                                 const_name<order == PyGPU::Order::c>(", order='C'", "") +
                                 const_name<order == PyGPU::Order::f>(", order='F'", "") +
                                 const_name<std::is_const<T>::value>("", ", writable") +
                                 const_name("]"));

  bool load(handle object, bool) { return PyGPU::views::fill(object, value).empty(); }
  static handle cast(const View& view, return_value_policy, handle) {
    return PyGPU::views::array_of(view.owner.get()).inc_ref();
  }
};

template <class T>
struct type_caster<PyGPU::pointer_wrapper<T>> {
  PYBIND11_TYPE_CASTER(PyGPU::pointer_wrapper<T>, const_name("PyGPU.pointer_wrapper_") +
                                                      PyGPU_dtype_text<std::remove_cv_t<T>>());

  bool load(handle object, bool) {
    using Element = std::remove_cv_t<T>;
    void* address = nullptr;
    const bool is_ours = PyGPU::views::read_pointer(
        object, {PyGPU::library::kind_of<Element>(), sizeof(T), 0, PyGPU::Order::any, false},
        address);
    value.pointer = static_cast<T*>(address);
    return is_ours;
  }
};

}  // namespace detail
}  // namespace pybind11
