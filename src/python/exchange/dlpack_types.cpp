// DLPack's types against NumPy's. See exchange.h.
#include "python/exchange/exchange.h"

namespace PyGPU::python {
namespace {

using dlpack::TypeCode;

struct Letter {
  char kind;  // NumPy's
  TypeCode code;
};
constexpr Letter letters[] = {{'b', TypeCode::boolean},
                              {'i', TypeCode::integer},
                              {'u', TypeCode::natural},
                              {'f', TypeCode::real},
                              {'c', TypeCode::complex}};

bool has_dtype(char kind, std::size_t bytes) {
  for (const DType& dtype : dtypes)
    if (dtype.kind == kind && dtype.itemsize == bytes) return true;
  return false;
}

}  // namespace

void refuse_exchange(const std::string& text) { throw py::buffer_error(text.c_str()); }

dlpack::DataType data_type_of(const py::object& object) {
  const auto dtype = py::reinterpret_borrow<py::dtype>(object);
  const auto bytes = std::size_t(dtype.itemsize());
  if (dtype.byteorder() == '>' || dtype.byteorder() == '<')
    refuse_exchange("__dlpack__: dtype " + text_of(object) +
                    " is not in the machine's byte order, which DLPack asks for");
  for (const Letter& letter : letters)
    if (letter.kind == dtype.kind() && has_dtype(letter.kind, bytes))
      return {letter.code, std::uint8_t(8 * bytes), 1};
  refuse_exchange("__dlpack__: DLPack has no type for dtype " + text_of(object) +
                  "; view() the array as one that it has, such as uint8");
}

py::object dtype_of_tensor(const dlpack::DataType& type) {
  for (const Letter& letter : letters)
    if (letter.code == type.code && type.lanes == 1 && type.bits % 8 == 0 &&
        has_dtype(letter.kind, type.bits / 8u))
      return py::dtype(letter.kind + std::to_string(type.bits / 8u));
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
