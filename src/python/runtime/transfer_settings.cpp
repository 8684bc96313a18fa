// Settings of transfers, and the watcher of long transfers: it handles signals and shows progress.
#include <cstdint>
#include <memory>
#include <utility>

#include "PyGPU/runtime/host_blocks.h"
#include "PyGPU/runtime/transfer.h"
#include "PyGPU/runtime/transfer_watch.h"
#include "python/binding/hooks.h"

namespace PyGPU::python {
namespace {

constexpr std::size_t never = SIZE_MAX;

// Settings of PyGPU.transfer in force: a tuple of class Settings. Null until that module is there.
PyObject* in_force = nullptr;

// Replace the settings in one call, so that no KeyboardInterrupt can divide it.
void put_in_force(const py::object& settings) {
  const auto fields = py::reinterpret_borrow<py::tuple>(settings);
  const auto number = [&](int i) { return py::object(fields[std::size_t(i)]).cast<std::size_t>(); };
  const bool is_shown = !py::object(fields[4]).is_none();
  const std::size_t threshold = number(3) ? number(3) : never;
  const TransferSettings values{unsigned(number(0)), unsigned(number(2)), number(1), threshold,
                                is_shown ? number(5) : never};
  host_blocks::set_limit(number(6));
  const auto before = py::reinterpret_steal<py::object>(
      std::exchange(in_force, py::object(settings).release().ptr()));
  set_transfer_settings(values);
}

// Settings before and after a call of configure().
struct Change {
  py::object before, after;
};

// Destroy a change. If an interrupt comes between configure() and the `with` block, its result is
// dropped while the interrupt is raised, without __exit__: restore the settings here.
void end_change(PyObject* capsule) {
  const std::unique_ptr<Change> change(
      static_cast<Change*>(PyCapsule_GetPointer(capsule, nullptr)));
  const bool is_interrupt = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception);
  const py::error_scope kept;
  if (is_interrupt && change->after.ptr() == in_force) put_in_force(change->before);
}

// Change fields of the settings in force. Return the new settings, which can restore the earlier.
py::object change_settings(const py::dict& changes) {
  while (true) {
    const auto before = py::reinterpret_borrow<py::object>(in_force);
    const py::object after = before.attr("_changed")(**changes);  // may run other threads
    if (before.ptr() != in_force) continue;
    auto made = py::reinterpret_steal<py::object>(
        PyTuple_Type.tp_new(Py_TYPE(after.ptr()), py::make_tuple(after).ptr(), nullptr));
    if (!made) throw py::error_already_set();
    auto change = std::make_unique<Change>(Change{before, after});
    const py::capsule owner(change.get(), nullptr, &end_change);
    (void)change.release();
    made.attr("_change") = owner;
    put_in_force(after);
    return made;
  }
}

void restore_settings(const py::object& self, const py::object&, const py::object&,
                      const py::object&) {
  if (const py::object change = attribute_or_null(self, "_change"))
    put_in_force(py::reinterpret_borrow<py::capsule>(change).get_pointer<Change>()->before);
}

// Methods of the progress bar that the hook returned for a transfer.
struct Display {
  PyObject *update, *close;
  std::size_t shown = 0;
};

void drop_display(Display* display) {
  drop(display->update);
  drop(display->close);
  delete display;
}

std::shared_ptr<Display> new_display(const LongTransfer& transfer) {
  const py::object progress = py::reinterpret_borrow<py::tuple>(in_force)[4];
  const py::object bar = hook(Hook::transfer_progress)(
      progress, py::reinterpret_steal<py::object>(PyLong_FromSize_t(transfer.nbytes)),
      py::bool_(transfer.up));
  if (bar.is_none()) return nullptr;
  py::object update = bar.attr("update"), close = bar.attr("close");
  return {new Display{update.release().ptr(), close.release().ptr()}, &drop_display};
}

void show(LongTransfer& transfer) {
  if (!transfer.display) {
    transfer.display = new_display(transfer);
    transfer.shown = transfer.display != nullptr;
    if (!transfer.shown) return;
  }
  Display& display = *static_cast<Display*>(transfer.display.get());
  if (const std::size_t more = transfer.moved - display.shown) {
    display.shown = transfer.moved;
    py::handle(display.update)(py::reinterpret_steal<py::object>(PyLong_FromSize_t(more)));
  }
  if (transfer.state != LongTransfer::done) return;
  const auto last = std::move(transfer.display);
  py::handle(display.close)();
}

void close_after_failure(LongTransfer& transfer) {
  const auto last = std::move(transfer.display);
  if (!last) return;
  try {
    py::handle(static_cast<Display*>(last.get())->close)();
  } catch (py::error_already_set& error) {  // the transfer's own exception is being raised
    error.discard_as_unraisable("the close() of a progress bar");
  }
}

void watch(LongTransfer& transfer) {
  if (!Py_IsInitialized() || is_finalizing()) return;
  const Gil held = take_gil();
  if (transfer.state == LongTransfer::failed) return close_after_failure(transfer);
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (transfer.shown) show(transfer);
}

}  // namespace

void bind_transfer_settings(module_& m) {
  watch_transfers(&watch);
  def(
      m, "_transfer_settings",
      [] {
        const TransferSettings now = transfer_settings();
        return py::make_tuple(to_python(now.threads), to_python(now.chunk_bytes),
                              to_python(now.chunks),
                              to_python(now.threshold == never ? 0 : now.threshold));
      },
      "Return the threads, chunk size, chunks and threshold of transfers.");
  def(m, "_begin_settings",
      [](const py::object& first) {
        // Methods in C++, which no KeyboardInterrupt can enter.
        const py::object c = py::type::of(first);
        method(c, "__enter__", [](const py::object& self) { return self; });
        method(c, "__exit__", &restore_settings, "", {{"type"}, {"value"}, {"traceback"}});
        put_in_force(first);
      },
      "Put the first settings in force, and add methods to their class.", {{"first"}});
  def(m, "_change_settings", &change_settings,
      "Change fields of the settings in force. Return the new settings.", {{"changes"}});
  def(
      m, "_result_memory",
      [] {
        const host_blocks::Bytes now = host_blocks::count();
        return py::make_tuple(to_python(now.in_use), to_python(now.kept), to_python(now.limit));
      },
      "Return the bytes of host memory that large results use, that are kept, and the limit.");
}

}  // namespace PyGPU::python
