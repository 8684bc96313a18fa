// Fused operations (PyGPU.fuse): their dtypes, the layouts of their results, and their launches.
#include <unordered_map>

#include "python/binders.h"
#include "python/binding/fast_functions.h"
#include "python/operations/elements.h"
#include "python/operations/elementwise.h"
#include "python/operations/results.h"

namespace PyGPU::python {
namespace {

// Numbers of the layouts that are combined into the layout of one inner operation. Numbers below
// max_operands are operands; inner operations follow from max_operands on.
using Joined = std::vector<int>;

struct Fused {
  std::vector<int> compute, result;
  std::vector<Joined> layouts;
  std::vector<int> result_layouts;  // numbers of the results' layouts
};

std::unordered_map<Operation, Fused>& all_fused() {
  static auto& all = *new std::unordered_map<Operation, Fused>;  // leaked on purpose
  return all;
}

std::vector<int> ints_of(const py::handle& tuple) {
  std::vector<int> all;
  for (const py::handle one : py::reinterpret_borrow<py::tuple>(tuple))
    all.push_back(one.cast<int>());
  return all;
}

std::vector<int> codes_of(const py::tuple& dtypes) {
  std::vector<int> all;
  for (const py::handle one : dtypes)
    all.push_back(code_of(dtype_of(py::reinterpret_borrow<py::object>(one))));
  return all;
}

Operation fused_operation(const std::string& name, const py::tuple& compute,
                          const py::tuple& results, const py::tuple& layouts,
                          const py::tuple& result_layouts) {
  Fused fused{codes_of(compute), codes_of(results), {}, ints_of(result_layouts)};
  if (fused.compute.size() > max_operands || fused.result.size() > max_results ||
      fused.result.empty() || fused.result_layouts.size() != fused.result.size())
    throw py::value_error("_fused_operation: expected up to " + std::to_string(max_operands) +
                          " operands and 1 to " + std::to_string(max_results) +
                          " results, each with a layout");
  const auto check = [&](int layout_number) {
    const auto count = max_operands + int(fused.layouts.size());
    if (layout_number < 0 || layout_number >= count ||
        (layout_number < max_operands && layout_number >= int(fused.compute.size())))
      throw py::value_error("_fused_operation: layout " + std::to_string(layout_number) +
                            " does not exist");
  };
  for (const py::handle one : layouts) {
    Joined joined = ints_of(one);
    if (joined.empty())
      throw py::value_error(
          "_fused_operation: layouts: an entry is empty; expected at least one layout");
    for (int layout_number : joined) check(layout_number);
    fused.layouts.push_back(std::move(joined));
  }
  for (int layout_number : fused.result_layouts) check(layout_number);
  const Operation operation = operation_named(name);
  all_fused()[operation] = std::move(fused);
  return operation;
}

// Return the number of the first array operand that a layout derives from. A result of the layout
// gets that operand's class, device and allocator.
int first_of(const Fused& fused, int layout_number) {
  while (layout_number >= max_operands)
    layout_number = fused.layouts[std::size_t(layout_number - max_operands)][0];
  return layout_number;
}

bool have_one_shape(const Map& map) {
  const Axes* shape = nullptr;
  for (int i = 0; i < map.operands; ++i) {
    if (!map.operand[i].array) continue;
    const Axes& own = map.operand[i].array->layout().shape();
    if (shape && own != *shape) return false;
    shape = &own;
  }
  return true;
}

// Return the layouts of the inner operations, one after another. The order of axes depends on which
// operands have the full shape, so no shortcut gives the same layouts.
std::vector<Layout> layouts_inside(const Fused& fused, const Map& map) {
  std::vector<Layout> inside;
  for (const Joined& joined : fused.layouts) {
    std::vector<const Layout*> own;
    Axes shape;
    for (int layout_number : joined) {
      const GPUArray* const array =
          layout_number < max_operands ? map.operand[layout_number].array : nullptr;
      if (layout_number < max_operands && !array)
        throw py::type_error("_run_fused: expected an array");
      own.push_back(array ? &array->layout() : &inside[std::size_t(layout_number - max_operands)]);
      shape = own.size() == 1 ? own[0]->shape() : broadcast_or_raise(shape, own.back()->shape());
    }
    inside.push_back(result_layout(shape, own.data(), int(own.size()), 1));
  }
  return inside;
}

// Return a new array for one result. `objects` are the Python objects of the operands.
py::object new_result(const Fused& fused, const Map& map, std::size_t number,
                      const std::vector<Layout>& inside, PyObject* objects) {
  const int layout_number = fused.result_layouts[number], first = first_of(fused, layout_number);
  const GPUArray& model = *map.operand[first].array;
  const bool is_inside = layout_number >= max_operands && !inside.empty();
  const Layout* const layout =
      is_inside ? &inside[std::size_t(layout_number - max_operands)] : &model.layout();
  const int code = fused.result[number];
  return result_array(result_layout(layout->shape(), &layout, 1, dtypes[code].itemsize), model,
                      code, PyTuple_GET_ITEM(objects, first));
}

void set_result(const py::handle& given, Map& map, std::size_t number) {
  map.result[number] = gpuarray_in(given.ptr());
  if (!map.result[number]) throw py::type_error("out: expected a GPUArray, got " + repr_of(given));
}

PyObject* run_fused(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    if (count != 4 || !PyTuple_Check(arguments[1]) ||
        (arguments[2] != Py_None && !PyTuple_Check(arguments[2])))
      throw py::type_error("_run_fused(operation, operands, out, stream)");
    const auto found = all_fused().find(operation_in(arguments[0]));
    PyObject* const given = arguments[1];
    if (found == all_fused().end() ||
        PyTuple_GET_SIZE(given) != Py_ssize_t(found->second.compute.size()))
      throw py::value_error("_run_fused: unknown operation, or wrong number of operands");
    const Fused& fused = found->second;
    Map map(found->first, int(fused.compute.size()), int(fused.result.size()));
    for (int i = 0; i < map.operands; ++i) {
      PyObject* const one = PyTuple_GET_ITEM(given, i);
      if (!read_operand(one, map.operand[i]))
        throw py::type_error("expected arrays and numbers, got " + repr_of(one));
      map.compute[i] = fused.compute[std::size_t(i)];
      convert_to_bool(map.operand[i], map.compute[i]);
    }
    for (const int layout_number : fused.result_layouts)
      if (!map.operand[first_of(fused, layout_number)].array)
        throw py::type_error("_run_fused: expected an array");
    std::vector<Layout> inside;
    if (!have_one_shape(map)) inside = layouts_inside(fused, map);
    const bool has_out = arguments[2] != Py_None;
    py::tuple made(fused.result.size());
    if (has_out && py::len(arguments[2]) != made.size())
      throw py::value_error("out: expected " + std::to_string(made.size()) + " arrays or None");
    for (std::size_t i = 0; i < made.size(); ++i) {
      PyObject* const out = has_out ? PyTuple_GET_ITEM(arguments[2], Py_ssize_t(i)) : Py_None;
      made[i] = out == Py_None ? new_result(fused, map, i, inside, given)
                               : py::reinterpret_borrow<py::object>(out);
      set_result(made[i], map, i);
    }
    if (has_out) check_shapes(map);
    launch(map, stream_of(arguments[3]));
    return (made.size() == 1 ? py::object(made[0]) : py::object(made)).release().ptr();
  });
}

py::object number_as(const py::object& number, const py::object& dtype) {
  const int code = code_of(dtype_of(dtype));
  alignas(16) char bytes[16];
  Operand operand;
  operand.number = number;
  convert_to_bool(operand, code);
  put_element(operand.number, code, bytes);
  return py::bytes(bytes, dtypes[code].itemsize);
}

}  // namespace

void bind_fused(module_& m) {
  m.attr("_max_operands") = max_operands;
  m.attr("_max_results") = max_results;
  def(m, "_fused_operation", &fused_operation,
      "Register a fused operation and return its number.\n\n`compute` and `results` are dtypes. "
      "`layouts` has the numbers of the layouts that each inner operation combines, and "
      "`result_layouts` the number of each result's layout.",
      {{"name"}, {"compute"}, {"results"}, {"layouts"}, {"result_layouts"}});
  def(m, "_number_as", &number_as,
      "Return the bytes of a number converted to a dtype, as passed to kernels.",
      {{"number"}, {"dtype"}});
  static PyMethodDef methods[] = {
      fast_row("_run_fused", &run_fused,
               PYGPU_SIGNATURE("_run_fused(operation, operands, out, stream)")),
      {nullptr, nullptr, 0, nullptr}};
  add_functions(m, methods);
}

}  // namespace PyGPU::python
