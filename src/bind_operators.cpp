// GPUArray's operators.
#include "gpuarray_operate.h"

namespace PyGPU::python {
namespace {

template <Op op>
py::object forward(const py::object& self, const py::object& other) {
  return operate(op, self, other);
}
template <Op op>
py::object reversed(const py::object& self, const py::object& other) {
  return operate(op, other, self);
}
template <Op op>
py::object in_place(const py::object& self, const py::object& other) {
  return operate_in_place(op, self, other);
}
template <Op op>
py::object unary(const py::object& self) {
  return operate_on(op, self);
}

}  // namespace

void bind_operators(py::class_<GPUArray>& c) {
#define PYGPU_BIND(name, plain, right, changed) \
  method(c, plain, &forward<Op::name>);         \
  method(c, right, &reversed<Op::name>);        \
  method(c, changed, &in_place<Op::name>);
  PYGPU_BINARY_OPERATIONS(PYGPU_BIND)
#undef PYGPU_BIND
#define PYGPU_BIND(name, plain) method(c, plain, &forward<Op::name>);
  PYGPU_COMPARISONS(PYGPU_BIND)
#undef PYGPU_BIND
  method(c, "__neg__", &unary<Op::negative>);
  method(c, "__abs__", &unary<Op::absolute>);
  method(c, "__invert__", &unary<Op::invert>);
  method(c, "__pos__", [](const py::object& self) { return self; });
  method(c, "astype", &cast_to, "A copy of another dtype, cast as in C; the axes keep their order.",
         {{"dtype"}, {"stream", py::none()}});
  method(c, "fill",
         [](const py::object& self, const py::object& value, const StreamRef& stream) {
           fill(self.cast<const GPUArray&>(), value, stream);
           return self;
         },
         "Set every element to a number. Returns the array.", {{"value"}, {"stream", py::none()}});
  c.attr("__hash__") = py::none();
}

}  // namespace PyGPU::python
