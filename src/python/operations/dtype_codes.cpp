// Codes of the dtypes with arithmetic. See dtype_codes.h.
#include "python/operations/dtype_codes.h"

namespace PyGPU::python {

const std::vector<py::object>& dtype_objects() {
  static const auto& all = *new const auto([] {  // leaked on purpose
    std::vector<py::object> made;
    for (const DType& dtype : dtypes) made.push_back(np::dtype(dtype.name));
    return made;
  }());
  return all;
}

const py::object& dtype_object(int code) { return dtype_objects()[std::size_t(code)]; }

int find_code(const py::object& dtype) {
  const std::vector<py::object>& all = dtype_objects();
  for (int code = 0; code < dtype_count; ++code)
    if (all[std::size_t(code)].is(dtype)) return code;
  for (int code = 0; code < dtype_count; ++code)
    if (all[std::size_t(code)].equal(dtype)) return code;
  return -1;
}

namespace {

// Return advice for arrays whose dtype has no arithmetic.
std::string advice_for(const py::object& dtype) {
  if (const py::object names = dtype.attr("names"); !names.is_none() && py::len(names) > 0)
    return "; select a field: a[" + repr_of(names[py::int_(0)]) + "]";
  if (!dtype.attr("isnative").cast<bool>())
    return "; convert the array before to_gpu(): .astype(dtype.newbyteorder('='))";
  const char kind = py::reinterpret_borrow<np::dtype>(dtype).kind();
  if (kind == 'M' || kind == 'm')
    return "; compute with a.view('int64'), in which NaT is the least number";
  return "";
}

}  // namespace

int code_of(const py::object& dtype) {
  const int code = find_code(dtype);
  if (code < 0)
    throw py::value_error("unable to map dtype '" + text_of(dtype) + "': it has no arithmetic" +
                          advice_for(dtype));
  return code;
}

}  // namespace PyGPU::python
