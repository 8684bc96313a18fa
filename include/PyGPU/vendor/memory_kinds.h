// Kinds of memory, in DLPack's numbers, that belong to the target of a user's source.
#pragma once

namespace PyGPU {
namespace library {

// The name of the target's memory; null if the source is compiled for no target.
#if defined(PYGPU_TARGET_CUDA)
constexpr const char* target_memory = "a CUDA device";
constexpr bool is_target_memory(int kind) { return kind == 2 || kind == 3 || kind == 13; }
#elif defined(PYGPU_TARGET_HIP)
constexpr const char* target_memory = "a ROCm device";
constexpr bool is_target_memory(int kind) { return kind == 10 || kind == 11; }
#elif defined(PYGPU_TARGET_HOST)
constexpr const char* target_memory = "the host machine";
constexpr bool is_target_memory(int kind) { return kind == 1; }
#else
constexpr const char* target_memory = nullptr;
constexpr bool is_target_memory(int) { return true; }
#endif

}  // namespace library
}  // namespace PyGPU
