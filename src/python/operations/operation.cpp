// Operations by name and by number. See operation.h.
#include "python/operations/operation.h"

#include <unordered_map>
#include <vector>

namespace PyGPU::python {
namespace {

struct Operations {
  std::vector<std::string> names;
  std::unordered_map<std::string, Operation> numbers;
};
Operations& operations() {
  static auto& all = *new Operations;
  return all;
}

}  // namespace

Operation operation_named(const std::string& name) {
  auto& [names, numbers] = operations();
  const auto [place, is_new] = numbers.try_emplace(name, Operation(names.size()));
  if (is_new && names.size() >= std::size_t(max_operations)) {
    numbers.erase(place);
    throw std::overflow_error("operation '" + name + "': the limit of " +
                              std::to_string(names.size()) + " different operations is reached");
  }
  if (is_new) names.push_back(name);
  return place->second;
}

const std::string& operation_name(Operation operation) {
  return operations().names[std::size_t(operation)];
}

Operation operation_in(PyObject* number) {
  const long found = PyLong_AsLong(number);
  if (found == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (found < 0 || std::size_t(found) >= operations().names.size())
    throw py::value_error("operation=" + repr_of(number) +
                          ": expected a number that _operation() " +
                          "or _fused_operation() returned");
  return Operation(found);
}

}  // namespace PyGPU::python
