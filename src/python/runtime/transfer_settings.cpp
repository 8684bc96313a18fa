// Settings of transfers, and the watcher of long transfers: it handles signals and shows progress.
#include "PyGPU/runtime/host_blocks.h"
#include "PyGPU/runtime/transfer.h"
#include "PyGPU/runtime/transfer_watch.h"
#include "python/binding/hooks.h"

namespace PyGPU::python {
namespace {

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
  const py::object bar = hook(Hook::transfer_progress)(
      py::reinterpret_steal<py::object>(PyLong_FromSize_t(transfer.nbytes)),
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
                              to_python(now.chunks), to_python(now.threshold),
                              to_python(now.shown));
      },
      "Return the settings in the order of _set_transfer_settings.");
  def(m, "_set_transfer_settings",
      [](unsigned threads, std::size_t chunk_bytes, unsigned chunks, std::size_t threshold,
         std::size_t shown) {
        const NoGil without = release_gil();
        set_transfer_settings({threads, chunks, chunk_bytes, threshold, shown});
      },
      "Replace the settings of later transfers.",
      {{"threads"}, {"chunk_bytes"}, {"chunks"}, {"threshold"}, {"shown"}});
  def(
      m, "_result_memory",
      [] {
        const host_blocks::Bytes now = host_blocks::count();
        return py::make_tuple(to_python(now.in_use), to_python(now.kept), to_python(now.limit));
      },
      "Return the bytes of host memory that large results use, that are kept, and the limit.");
  def(m, "_set_result_cache", &host_blocks::set_limit,
      "Set how many bytes of host memory are kept for later results.", {{"nbytes"}});
}

}  // namespace PyGPU::python
