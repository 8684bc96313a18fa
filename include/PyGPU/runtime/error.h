// Outcomes of device calls: values at the low level (Status), exceptions above it (DeviceError).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "PyGPU/gpu.h"

namespace PyGPU {

// Status that a device call returned. `detail` explains more than the runtime's code: the argument
// at fault, its value, and what was expected.
struct Status {
  cudaError_t code = cudaSuccess;
  std::string detail;

  Status() = default;
  Status(cudaError_t code_, std::string detail_ = {}) : code(code_), detail(std::move(detail_)) {}

  bool failed() const { return code != cudaSuccess; }
};

// Return the status of a code that a library's call returned or left in the runtime. The detail of
// a kernel's fault is the host machine's report of kernel, block and thread; GPUs have none.
Status reported(cudaError_t code);

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

// Throw a DeviceError for a failed Status. Clears the thread's last error, so that a later call
// that succeeds does not report it.
inline void check(const char* call, Status status) {
  if (!status.failed()) return;
  (void)cudaGetLastError();
  throw DeviceError(call, std::move(status));
}

// Throw the error that another library left unread, once. The runtime keeps a thread's last error
// until it is read; a failed launch in a user's library, whose status nobody read, leaves one.
void throw_unread_error();
// Record that the low level returned this error to its caller, so that throw_unread_error ignores
// it.
void mark_as_returned(cudaError_t error);
inline Status returned_to_caller(Status status) {
  if (status.failed() && cudaPeekAtLastError() == status.code) mark_as_returned(status.code);
  return status;
}

// True while a stream calls a function of the program in this thread (host_function.h). The runtime
// allows no calls there; HIP does not refuse them, but may wait forever.
inline thread_local bool in_host_function = false;

// Call this before the runtime is used. Returns false in a function that a stream calls, and in a
// forked child of a process that has used the runtime: the parent's device state does not work
// there.
bool enter_runtime();
// Status that every call returns there.
Status refused_status();
// Return whether this process is such a forked child. Does not count as a use of the runtime. The
// child must not release what the parent allocated.
bool forked();

// Report a failed release. Destructors cannot throw, so it prints one line to stderr, and nothing
// while the process exits.
void report_failed_release(const char* what, cudaError_t error) noexcept;

}  // namespace PyGPU
