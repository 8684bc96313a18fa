// Code objects of the stand-in, and launches. A code object is an ELF file for AMD's GPUs with the
// notes that AMD's compiler writes; what runs is a shared library for the host machine, in a
// segment of its own (code_object.py).
#include <elf.h>

#include <map>
#include <memory>
#include <string>

#include "machine.h"

// Kernels have the names of C++ in a code object, and those of the text in the library.
struct ihipModule_t {
  gpu_module library;
  std::map<std::string, std::string> names;
};

using namespace standin;

namespace {

constexpr Elf64_Half machine_amdgpu = 224;
constexpr Elf64_Word segment_of_ours = 0x65504779;

// What is of ours in an image, or "" with the error: pairs of names, an empty one, and then the
// library with each byte inverted, so that what looks for names in the image does not find those.
std::string ours_in(const void* image, hipError_t* error) {
  const auto* const bytes = static_cast<const char*>(image);
  *error = hipErrorInvalidImage;
  if (!bytes || std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return "";
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.e_machine != machine_amdgpu) return "";
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes + header.e_phoff + std::size_t(i) * sizeof segment, sizeof segment);
    if (segment.p_type == segment_of_ours) return {bytes + segment.p_offset, segment.p_filesz};
  }
  *error = hipErrorNoBinaryForGpu;  // AMD's own code
  return "";
}

gpu_kernel kernel_of(hipFunction_t function) { return reinterpret_cast<gpu_kernel>(function); }

std::unique_ptr<ihipModule_t> loaded(const std::string& ours, hipError_t* error) {
  auto module = std::make_unique<ihipModule_t>();
  const char* at = ours.c_str();
  while (*at) {
    const std::string name = at;
    at += name.size() + 1;
    module->names[name] = at;
    at += module->names[name].size() + 1;
  }
  std::string library(at + 1, ours.c_str() + ours.size());
  for (char& byte : library) byte = char(~byte);
  *error = translated(cudaHostLoadModule(&module->library, library.data(), nullptr, 0));
  return module;
}

}  // namespace

extern "C" {
STANDIN_EXPORT hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  hipError_t error = hipSuccess;
  const std::string ours = ours_in(image, &error);
  if (!module || ours.empty()) return finish(error);
  std::unique_ptr<ihipModule_t> made = loaded(ours, &error);
  if (!error) *module = made.release();
  return finish(error);
}
STANDIN_EXPORT hipError_t hipModuleUnload(hipModule_t module) {
  if (!module) return finish(hipErrorInvalidHandle);
  const cudaError_t error = cudaHostUnloadModule(module->library);
  delete module;
  return finish(error);
}
STANDIN_EXPORT hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module,
                                               const char* name) {
  if (!function || !module || !name) return finish(hipErrorInvalidValue);
  const auto named = module->names.find(name);
  if (named == module->names.end()) return finish(hipErrorNotFound);
  gpu_kernel found = nullptr;
  const hipError_t error =
      finish(cudaHostGetKernel(&found, module->library, named->second.c_str()));
  if (error) return error;
  std::memcpy(function, &found, sizeof found);
  return finish(cudaHostSetKernelAttribute(found, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           shared_bytes));
}
STANDIN_EXPORT hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* nbytes,
                                             hipModule_t module, const char* name) {
  return finish(cudaHostGetGlobal(address, nbytes, module->library, name));
}
STANDIN_EXPORT hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute name,
                                              hipFunction_t function) {
  return finish(cudaHostGetKernelAttribute(value, kernel_of(function), int(name)));
}
STANDIN_EXPORT hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x,
                                                unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                unsigned block_y, unsigned block_z, unsigned shared,
                                                hipStream_t stream, void** arguments,
                                                void** packed) {
  // HIP counts threads, in 32 bits along each axis.
  const auto is_long = [](unsigned blocks, unsigned threads) {
    return std::uint64_t(blocks) * threads > 0xffffffffu;
  };
  if (is_long(grid_x, block_x) || is_long(grid_y, block_y) || is_long(grid_z, block_z))
    return finish(hipErrorInvalidConfiguration);
  if (packed) return finish(hipErrorNotSupported);
  return finish(cudaHostLaunchKernel(kernel_of(function), {grid_x, grid_y, grid_z},
                                     {block_x, block_y, block_z}, arguments, shared,
                                     stream_of(stream)));
}
}
