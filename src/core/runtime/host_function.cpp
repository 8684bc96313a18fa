// Functions of the program that streams call. See host_function.h.
#include "PyGPU/runtime/host_function.h"

#include <utility>

#include "PyGPU/runtime/capture.h"

namespace PyGPU {

void HostFunction::expect() {
  if (capabilities.launch_runs_kernel)
    return;  // work is done when its call returns, and the caller has an owner
  const std::lock_guard<std::mutex> hold(lock_);
  if (expected_++ == 0) self_ = shared_from_this();
}

void HostFunction::cancel() {
  if (!capabilities.launch_runs_kernel) (void)begin_call();
}

std::shared_ptr<HostFunction> HostFunction::begin_call() {
  const std::lock_guard<std::mutex> hold(lock_);
  if (expected_ == 0 || --expected_ > 0) return shared_from_this();
  return std::move(self_);
}

void HostFunction::call(void* function) {
  std::shared_ptr<HostFunction> self = static_cast<HostFunction*>(function)->begin_call();
  const Run run = self->run_;
  const bool outer = std::exchange(in_host_function, true);
  run(std::move(self));
  in_host_function = outer;
}

Status launch_host_function(const StreamRef& stream,
                            const std::shared_ptr<HostFunction>& function) {
  uses_host_functions = true;
  const auto launch = [&] {
    return cudaLaunchHostFunc(stream.handle, &HostFunction::call, function.get());
  };
  Capture* const capture = Capture::current();
  if (capture && capture->records(stream)) {
    const cudaError_t error = launch();
    if (!error) capture->owners.called.push_back(function);
    return error;
  }
  if (is_captured(stream.handle))
    return {cudaErrorStreamCaptureUnsupported,
            "stream: another thread or library captures it, and PyGPU could not keep the function "
            "alive for its graph"};
  function->expect();
  const cudaError_t error = launch();
  if (error) function->cancel();
  return error;
}

}  // namespace PyGPU
