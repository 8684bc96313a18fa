// A user's pybind11 module of <PyGPU/view.h>, for tests/library/test_view.py.
#include <PyGPU/ptr_wrapper.h>
#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <complex>
#include <cstdint>
#include <string>
#include <thread>

namespace py = pybind11;
using PyGPU::Order;
using PyGPU::View;

struct Pair {
  float first;
  std::int32_t second;
};

template <class T>
void define_dtype(py::module_& m, const char* name) {
  m.def(("pointer_of_" + std::string(name)).c_str(),
        [](View<const T> a) { return std::uintptr_t(a.pointer); });
}

static View<double> kept;

PYBIND11_MODULE(views, m) {
  m.def(
      "facts",
      [](const View<const double>& a) {
        return py::make_tuple(std::uintptr_t(a.pointer), a.shape, a.strides, a.device,
                              std::uintptr_t(a.stream), a.size(), a.ndim(), a.is_contiguous());
      },
      py::arg("a"));
  m.def(
      "fill",
      [](View<double, 1> a, double number) {
        for (std::int64_t i = 0; i < a.shape[0]; ++i) a.pointer[i * a.strides[0]] = number;
      },
      py::arg("a"), py::arg("number"), py::call_guard<py::gil_scoped_release>());
  m.def(
      "matrix", [](View<const float, 2, Order::c> a) { return a.size(); }, py::arg("a"));
  m.def(
      "columns", [](View<const float, 2, Order::f> a) { return a.size(); }, py::arg("a"));
  m.def("overloaded", [](double, View<const double>) { return "float64"; });
  m.def("overloaded", [](double, View<const float>) { return "float32"; });
  m.def("overloaded", [](double, double) { return "number"; });
  m.def("returned", [](View<double> a) { return a; });
  m.def("keep", [](View<double> a) { kept = a; });
  m.def("drop_on_a_thread", [] {
    const py::gil_scoped_release released;
    std::thread([] { kept = {}; }).join();
  });
  m.def("checked", [](py::object a) { PyGPU::view_of<View<double, 2>>(a, "grid"); });
  m.def("checked_order",
        [](py::object a) { PyGPU::view_of<View<const double, -1, Order::c>>(a, "grid"); });

  define_dtype<bool>(m, "bool");
  define_dtype<std::int8_t>(m, "int8");
  define_dtype<std::uint8_t>(m, "uint8");
  define_dtype<std::int16_t>(m, "int16");
  define_dtype<std::uint16_t>(m, "uint16");
  define_dtype<std::int32_t>(m, "int32");
  define_dtype<std::uint32_t>(m, "uint32");
  define_dtype<std::int64_t>(m, "int64");
  define_dtype<std::uint64_t>(m, "uint64");
  define_dtype<float>(m, "float32");
  define_dtype<double>(m, "float64");
  define_dtype<std::complex<float>>(m, "complex64");
  define_dtype<std::complex<double>>(m, "complex128");
  define_dtype<Pair>(m, "pair");

  m.def("address", [](ptr_wrapper<double> p) { return std::uintptr_t(static_cast<double*>(p)); });
  m.def("address_f32",
        [](PyGPU::pointer_wrapper<const float> p) { return std::uintptr_t(p.get()); });
}
