// What a launch warns of. See checks.h.
#include "python/launch/checks.h"

#include <cstdlib>
#include <cstring>

#include "python/hooks.h"
#include "python/launch/numbers.h"

namespace PyGPU::python {
namespace {

enum class Check { warn, raise, off };

Check wanted() {
  static const Check found = [] {
    const char* const text = std::getenv("PYGPU_CHECK");
    if (text && std::strcmp(text, "error") == 0) return Check::raise;
    return text && std::strcmp(text, "off") == 0 ? Check::off : Check::warn;
  }();
  return found;
}

bool is_whole(char kind) { return kind == 'b' || kind == 'i' || kind == 'u'; }

// What a program may mean: bytes on either side, structures, other signs, addresses as integers,
// complex numbers by their parts.
bool go_together(const py::dtype& dtype, const Slot& slot) {
  const char kind = dtype.kind(), pointee = char(slot.pointee);
  const auto nbytes = std::size_t(dtype.itemsize());
  if (!std::strchr("biufcmM", kind)) return true;
  if (dtype.byteorder() == '>') return false;
  if (std::strchr("mM", kind)) return is_whole(pointee) && nbytes == slot.pointee_nbytes;
  if (is_whole(pointee) && slot.pointee_nbytes == 1 && pointee != 'b') return true;
  if (is_whole(kind) && nbytes == 1) return true;
  if (slot.pointee == Kind::pointer) return is_whole(kind) && nbytes == sizeof(void*);
  if (slot.pointee == Kind::bfloat) return kind == 'u' && nbytes == 2;  // their bits
  if (kind == 'c' && pointee == 'f') return nbytes == 2 * slot.pointee_nbytes;
  if (nbytes != slot.pointee_nbytes) return false;
  return kind == pointee || (is_whole(kind) && is_whole(pointee));
}

// How many frames of Python from here to the program's own, from 1.
Py_ssize_t level_of_program() {
  Py_ssize_t level = 1;
  py::object frame =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (; frame && !frame.is_none(); frame = frame.attr("f_back"), ++level) {
    const py::object name = frame.attr("f_globals").attr("get")("__name__", "");
    const std::string module = text_of(name);
    if (module != "PyGPU" && module.rfind("PyGPU.", 0) != 0) break;
  }
  return level;
}

void complain(const Slot& slot, std::size_t index, const std::string& what) {
  if (wanted() == Check::off || (wanted() == Check::warn && slot.has_warned)) return;
  std::string text = "parameter #" + std::to_string(index) + " (0-based)";
  if (!slot.name.empty()) text += " '" + slot.name + "'";
  text += what;
  if (wanted() == Check::raise) raise_argument_error(text);
  slot.has_warned = true;
  text += " (PYGPU_CHECK=error refuses this, PYGPU_CHECK=off is silent)";
  if (PyErr_WarnEx(hook(Hook::argument_warning).ptr(), text.c_str(), level_of_program()) < 0)
    throw py::error_already_set();
}

}  // namespace

void check_integer(PyObject* argument, const Slot& slot, std::size_t index) {
  complain(slot, index,
           " is " + std::string(kind_text(slot.kind)) + ": got " + repr_of(py::type::of(argument)) +
               ", whose value is converted");
}

void check_elements(PyObject* object, const Slot& slot, std::size_t index) {
  const auto dtype = py::reinterpret_borrow<py::dtype>(object);
  if (go_together(dtype, slot)) {
    slot.compared = dtype;
    return;
  }
  complain(slot, index,
           " points to elements of " + std::to_string(slot.pointee_nbytes) + " bytes, each " +
               kind_text(slot.pointee) + ": got an array of dtype " + text_of(py::handle(object)) +
               ", whose bytes the kernel would read as those");
}

}  // namespace PyGPU::python
