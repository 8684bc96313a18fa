// Failure injection. See failures.h.
#include "failures.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>

#include "PyGPU/vendor/host_modules.h"

namespace PyGPU::host {

std::atomic<long> calls_until_failure{0};

namespace {

std::mutex lock;
const char* failed_name = nullptr;

std::string& failing_name() {
  static auto& name = *new std::string;
  return name;
}

bool contains_one(const char* name, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (std::strstr(name, word)) return true;
  return false;
}

[[maybe_unused]] const bool was_read = [] {
  const char* const text = std::getenv("PYGPU_HOST_FAIL");
  if (!text || !*text) return false;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (end == text || number < 1 || (*end && *end != ':')) {
    std::fprintf(
        stderr,
        "PyGPU: PYGPU_HOST_FAIL=%s is ignored: expected a number of calls, or number:name\n", text);
    return false;
  }
  if (*end) failing_name() = end + 1;
  calls_until_failure = number;
  return true;
}();

}  // namespace

bool should_fail(const char* name) {
  const std::lock_guard<std::mutex> hold(lock);
  if (!calls_until_failure || (!failing_name().empty() && failing_name() != name)) return false;
  if (--calls_until_failure != 0) return false;
  failed_name = name;
  return true;
}

cudaError_t injected_error(const char* name) {
  return contains_one(name, {"Alloc", "Malloc"}) ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}

bool is_release(const char* name) {
  return contains_one(name, {"Free", "Destroy", "Unload", "Unregister", "EndImport"});
}

}  // namespace PyGPU::host

using namespace PyGPU::host;

const char* cudaHostFail(long number, const char* name) {
  const std::lock_guard<std::mutex> hold(lock);
  failing_name() = name ? name : "";
  calls_until_failure = number;
  return std::exchange(failed_name, nullptr);
}
