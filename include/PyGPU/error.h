// Outcomes of device calls: a value at the low level (Status), an exception above it (DeviceError).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "gpu.h"

namespace PyGPU {

// What a device call returned. `detail` says what this library knows beyond the runtime's code: the
// argument at fault, its value, what was expected.
struct Status {
  cudaError_t code = cudaSuccess;
  std::string detail;

  Status() = default;
  Status(cudaError_t code_, std::string detail_ = {}) : code(code_), detail(std::move(detail_)) {}

  bool failed() const { return code != cudaSuccess; }
};

class DeviceError : public std::runtime_error {
 public:
  DeviceError(std::string call_, Status status_)
      : std::runtime_error(call_ + " failed: " + cudaGetErrorString(status_.code) +
                           (status_.detail.empty() ? "" : " - " + status_.detail)),
        call(std::move(call_)),
        status(std::move(status_)) {}

  std::string call;
  Status status;
};

// Turns a failed Status into a DeviceError. The thread's last error is cleared, so that a later
// call that did not fail does not report it.
inline void check(const char* call, Status status) {
  if (!status.failed()) return;
  (void)cudaGetLastError();
  throw DeviceError(call, std::move(status));
}

// The runtime keeps a thread's last error until somebody asks for it. One that a failed launch left
// in a user's library, whose status nobody read, is thrown here, once.
void report_left_error();
// This one is known: the low level gave it to its caller, now or as what an object keeps.
void remember_returned(cudaError_t error);
inline Status returned_to_caller(Status status) {
  if (status.failed() && cudaPeekAtLastError() == status.code) remember_returned(status.code);
  return status;
}

// Call before the runtime is used. False in a forked child of a process that had used it, where the
// parent's device state does not work.
bool enter_runtime();
// What every call returns in such a child.
Status forked_status();
// Is this such a child? Does not count as a use. What the parent allocated is not the child's to
// release.
bool forked();

// Destructors cannot throw: they print one line to stderr, and nothing while the process exits.
void report_failed_release(const char* what, cudaError_t error) noexcept;

}  // namespace PyGPU
