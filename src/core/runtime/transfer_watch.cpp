// Periodic calls of the function that watches long transfers. See transfer_watch.h.
#include "PyGPU/runtime/transfer_watch.h"

#include <atomic>

namespace PyGPU {
namespace {

constexpr std::chrono::milliseconds between_calls{40};

std::atomic<void (*)(LongTransfer&)> watcher{nullptr};
thread_local bool in_watcher = false;

}  // namespace

void watch_transfers(void (*watch)(LongTransfer& transfer)) { watcher = watch; }

TransferWatch::TransferWatch(std::size_t nbytes, bool up, bool shown)
    : transfer_{nbytes, up, shown && !in_watcher}, called_at_(std::chrono::steady_clock::now()) {}

bool TransferWatch::is_watching() { return in_watcher; }

void TransferWatch::moved(std::size_t nbytes) {
  const auto now = std::chrono::steady_clock::now();
  if (in_watcher || now - called_at_ < between_calls) return;
  transfer_.moved = nbytes;
  call();
  called_at_ = std::chrono::steady_clock::now();
}

void TransferWatch::begin() {
  if (transfer_.shown) call();
}

void TransferWatch::end() {
  transfer_.moved = transfer_.nbytes;
  transfer_.state = LongTransfer::done;
  if (transfer_.shown) call();
}

void TransferWatch::fail() {
  transfer_.state = LongTransfer::failed;
  if (transfer_.shown) call();
}

void TransferWatch::call() {
  const auto watch = watcher.load();
  if (!watch) return;
  in_watcher = true;
  try {
    watch(transfer_);
  } catch (...) {
    in_watcher = false;
    throw;
  }
  in_watcher = false;
}

}  // namespace PyGPU
