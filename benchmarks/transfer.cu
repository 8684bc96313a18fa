// Time of the runtime's own blocking copies, without Python.
#include <PyGPU/gpu.h>

#include <chrono>

// Return the seconds of one copy, averaged over `count` copies; negative after an error. `up` is 1
// for copies to the device.
extern "C" double raw_copies(int count, void* dst, const void* src, std::size_t nbytes, int up) {
  const auto kind = up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i)
    if (cudaMemcpy(dst, src, nbytes, kind)) return -1;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / count;
}
