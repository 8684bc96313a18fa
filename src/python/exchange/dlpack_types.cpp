// Conversion between DLPack's types and NumPy's dtypes. See exchange.h.
#include "PyGPU/runtime/dtypes.h"
#include "python/binding/hooks.h"
#include "python/exchange/exchange.h"

namespace PyGPU::python {
namespace {

using dlpack::TypeCode;

struct KindCode {
  char kind;  // NumPy's dtype.kind
  TypeCode code;
};
constexpr KindCode kind_codes[] = {{'b', TypeCode::boolean},
                                   {'i', TypeCode::integer},
                                   {'u', TypeCode::unsigned_integer},
                                   {'f', TypeCode::floating_point},
                                   {'c', TypeCode::complex}};

// Floating-point types of the package ml_dtypes, whose dtype.kind does not identify them. The names
// are from ml_dtypes, the codes from DLPack.
struct NamedType {
  const char* name;
  std::uint8_t code, bits;
};
constexpr NamedType ml_dtypes_types[] = {
    {"bfloat16", 4, 16},          {"float8_e3m4", 7, 8},      {"float8_e4m3", 8, 8},
    {"float8_e4m3b11fnuz", 9, 8}, {"float8_e4m3fn", 10, 8},   {"float8_e4m3fnuz", 11, 8},
    {"float8_e5m2", 12, 8},       {"float8_e5m2fnuz", 13, 8}, {"float8_e8m0fnu", 14, 8},
};

py::object dtype_of_ml_dtypes(const char* name) {
  try {
    return np::dtype::from_args(module_::import("ml_dtypes").attr(name));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_AttributeError)) throw;
    refuse_exchange(std::string("from_dlpack: the tensor's type ") + name +
                    " needs the package ml_dtypes, which defines its dtype: " + error.what());
  }
}

bool has_dtype(char kind, std::size_t bytes) {
  for (const DType& dtype : dtypes)
    if (dtype.kind == kind && dtype.itemsize == bytes) return true;
  return false;
}

}  // namespace

void refuse_exchange(const std::string& text) { throw py::buffer_error(text.c_str()); }

dlpack::DataType data_type_of(const py::object& object) {
  const auto dtype = py::reinterpret_borrow<np::dtype>(object);
  const auto bytes = std::size_t(dtype.itemsize());
  if (dtype.byteorder() == '>' || dtype.byteorder() == '<')
    refuse_exchange("__dlpack__: dtype " + text_of(object) +
                    " is not in the machine's byte order, which DLPack requires");
  for (const KindCode& kind_code : kind_codes)
    if (kind_code.kind == dtype.kind() && has_dtype(kind_code.kind, bytes))
      return {kind_code.code, std::uint8_t(8 * bytes), 1};
  const std::string name = dtype.attr("name").cast<std::string>();
  for (const NamedType& named : ml_dtypes_types)
    if (named.name == name) return {TypeCode(named.code), named.bits, 1};
  const std::string text = "__dlpack__: DLPack has no type for dtype " + text_of(object) +
                           "; export a view() of another dtype, such as uint8";
  PyErr_SetString(hook(Hook::exchange_error).ptr(), text.c_str());
  throw py::error_already_set();
}

py::object dtype_of_tensor(const dlpack::DataType& type) {
  for (const KindCode& kind_code : kind_codes)
    if (kind_code.code == type.code && type.lanes == 1 && type.bits % 8 == 0 &&
        has_dtype(kind_code.kind, type.bits / 8u))
      return np::dtype(kind_code.kind + std::to_string(type.bits / 8u));
  for (const NamedType& named : ml_dtypes_types)
    if (TypeCode(named.code) == type.code && type.bits == named.bits && type.lanes == 1)
      return dtype_of_ml_dtypes(named.name);
  refuse_exchange("from_dlpack: NumPy has no dtype for DLPack's type code " +
                  std::to_string(int(type.code)) + " of " + std::to_string(type.bits) +
                  " bits and " + std::to_string(type.lanes) + " lanes");
}

dlpack::Device read_device(const py::object& pair) {
  const auto parts = py::tuple(pair);
  if (parts.size() != 2)
    throw py::value_error("dl_device: expected (device type, device number), got " + text_of(pair));
  return {dlpack::DeviceType(py::int_(parts[0]).cast<int>()), py::int_(parts[1]).cast<int>()};
}

}  // namespace PyGPU::python
