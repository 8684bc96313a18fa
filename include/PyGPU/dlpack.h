// Binary interface of DLPack 1.x and of the version before, through which libraries exchange arrays
// without a copy. It follows the specification at https://dmlc.github.io/dlpack/latest/c_api.html.
#pragma once

#include <cstdint>

namespace PyGPU::dlpack {

enum class DeviceType : std::int32_t {
  cpu = 1,
  cuda = 2,
  cuda_host = 3,  // page-locked
  rocm = 10,
  rocm_host = 11,
  cuda_managed = 13
};

struct Device {
  DeviceType type;
  std::int32_t number;
  bool operator==(const Device& other) const {
    return type == other.type && number == other.number;
  }
};

enum class TypeCode : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating_point = 2,
  complex = 5,
  boolean = 6
};

struct DataType {
  TypeCode code;
  std::uint8_t bits;    // per lane
  std::uint16_t lanes;  // above 1 for vector types
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType type;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null for C order
  std::uint64_t byte_offset;
};

// Export before version 1.0. The deleter ends the export; it may be null, and may be called from
// any thread.
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed* self);
};

struct Version {
  std::uint32_t major, minor;
};

constexpr std::uint64_t read_only = 1, is_copied = 2;  // flags

// Export since version 1.0. The members before the tensor stay the same in all later versions.
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned* self);
  std::uint64_t flags;
  Tensor tensor;
};

static_assert(sizeof(Tensor) == 48 && sizeof(Managed) == 64 && sizeof(ManagedVersioned) == 80);

// Names of a capsule that holds an export: before and after a consumer has taken it.
template <class AnyManaged>
struct Names;
template <>
struct Names<Managed> {
  static constexpr const char *fresh = "dltensor", *used = "used_dltensor";
};
template <>
struct Names<ManagedVersioned> {
  static constexpr const char *fresh = "dltensor_versioned", *used = "used_dltensor_versioned";
};

}  // namespace PyGPU::dlpack
