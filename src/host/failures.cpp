// Failure injection. See failures.h.
#include "failures.h"

#include <climits>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>

#include "PyGPU/runtime/settings.h"
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
  const std::string text = setting_text("PYGPU_HOST_FAIL");
  std::size_t at = 0;
  std::uint64_t number = 0;
  if (!read_digits(text, at, LONG_MAX, number) || number < 1) return false;
  if (at < text.size() && text[at] != ':') return false;
  if (at < text.size()) failing_name() = text.substr(at + 1);
  calls_until_failure = long(number);
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
