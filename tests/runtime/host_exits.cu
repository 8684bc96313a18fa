// Launches at the end of threads and of the process, for tests/runtime/test_host_exits.py. Each
// prints where it was made, its error, and the error of a launch that fails.
#include <PyGPU/gpu.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

__global__ void reverse(int* a) {
  __shared__ int tile[64];
  tile[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  a[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void wild(int* a) { *a = *reinterpret_cast<volatile int*>(8); }

static void launch(const char* where) {
  int* a = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&a), 40 * 64 * sizeof *a) != cudaSuccess) a = nullptr;
  const cudaError_t error = PYGPU_LAUNCH(reverse, 40, 64, 0, nullptr)(a);
  const bool is_right = error || (a[100] == 27 && a[39 * 64] == 63);
  const cudaError_t failure = PYGPU_LAUNCH(wild, 1, 1, 0, nullptr)(a);
  char line[100];
  const int length =
      std::snprintf(line, sizeof line, "%s %d %d %d\n", where, is_right, int(error), int(failure));
  if (write(1, line, std::size_t(length)) != length) std::abort();
  (void)cudaGetLastError();
  (void)cudaFree(a);
}

struct AtEnd {
  const char* where;
  bool is_used = false;
  ~AtEnd() {
    if (is_used) launch(where);
  }
};
static AtEnd global{"global"};
thread_local AtEnd of_thread{"thread_local"};
static pthread_key_t key;

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  launch("main");
  global.is_used = of_thread.is_used = true;
  if (is("thread")) std::thread([] { of_thread.is_used = true; }).join();
  if (is("key")) {
    pthread_key_create(&key, [](void*) { launch("key"); });
    std::thread([] { pthread_setspecific(key, &key); }).join();
  }
  if (is("atexit")) std::atexit([] { launch("atexit"); });
  if (is("at_quick_exit")) {
    std::at_quick_exit([] { launch("at_quick_exit"); });
    std::quick_exit(0);
  }
  if (is("detached")) {
    const auto forever = [] {
      for (int a[64 * 40];;) (void)PYGPU_LAUNCH(reverse, 40, 64, 0, nullptr)(a);
    };
    for (int i = 0; i < 3; ++i) std::thread(forever).detach();
    usleep(20000);
  }
  if (is("exit in a thread")) std::thread([] { std::exit(0); }).join();
  if (is("fork") && fork() == 0) std::exit(0);
}
