// The C++ core of GPUArray: a layout over device memory. Views share the memory. Everything here
// throws DeviceError.
#pragma once

#include <memory>

#include "layout.h"
#include "memory.h"

namespace PyGPU {

class Array {
 public:
  Array() {}
  // New memory, uninitialised.
  static Array empty(const Layout& layout);
  // Memory at an address: of somebody else, valid as long as `owner` is held; without one, memory
  // of ours that the address lies in, else the caller's affair. Throws std::invalid_argument for
  // what reaches beyond memory of ours.
  static Array borrow(const Layout& layout, void* address,
                      std::shared_ptr<const void> owner = nullptr);

  Array view(const Layout& layout, Index offset = 0) const;

  const Layout& layout() const { return layout_; }
  void* address() const { return data_; }  // of the first element; null if there are no elements
  // The address for code that is not ours; see Storage::expose.
  void* exposed_address() const {
    if (storage_) storage_->expose();
    return data_;
  }
  int device() const { return device_; }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // Throws if the memory was freed under the array.
  void require_alive() const;

  // May the two share bytes? Compares their extents.
  bool overlaps(const Array& other) const;

  // Every byte, of an array without gaps.
  void fill_bytes(char value, const StreamRef& stream) const;
  void zero() const;
  // Elements of the same shape and item size, whatever the layouts.
  void copy_from(const Array& src, const StreamRef& stream) const;
  // A copy without gaps, in the layout's order: see Layout::dense_layout.
  Array dense_copy(const StreamRef& stream) const;
  // A dense copy on another device, after the work on `stream`. Blocking.
  Array on_device(int device, const StreamRef& stream) const;

  // To and from host memory of any layout of the array's shape, whose first element is at `host`.
  // Blocking.
  void upload(const void* host, const Layout& layout) const;
  void download(void* host, const Layout& layout) const;
  // In the order of `stream`, with host memory that holds the elements as `dense_layout` orders
  // them, from its lowest address on; the caller keeps it alive until it is done.
  void upload_async(const void* host, const StreamRef& stream) const;
  void download_async(void* host, const StreamRef& stream) const;

 private:
  void* dense_start() const;  // the lowest address of a dense array

  Layout layout_;
  char* data_ = nullptr;
  int device_ = 0;
  std::shared_ptr<Storage> storage_;
};

}  // namespace PyGPU
