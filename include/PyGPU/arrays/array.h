// Core of GPUArray: a layout over device memory, which views share. Functions throw DeviceError.
#pragma once

#include <memory>

#include "PyGPU/runtime/layout.h"
#include "PyGPU/runtime/memory.h"

namespace PyGPU {

class Array {
 public:
  Array() {}
  // Allocate an array, uninitialized.
  static Array empty(const Layout& layout);
  // Array over memory at an address. With an `owner`, the memory is another library's and valid as
  // long as the owner lives. Without an owner, the array shares PyGPU's memory at the address; an
  // address outside PyGPU's memory is the caller's responsibility. Throws std::invalid_argument for
  // an array that reaches past the end of PyGPU's memory.
  static Array borrow(const Layout& layout, void* address,
                      std::shared_ptr<const void> owner = nullptr);
  // Array without memory, for a process that cannot use the device: every use throws the error of
  // that process.
  static Array unusable(const Layout& layout);

  Array view(const Layout& layout, Index offset = 0) const;

  const Layout& layout() const { return layout_; }
  void* address() const { return data_; }  // of the first element; null if there are no elements
  // Address for code outside PyGPU; see Storage::expose.
  void* exposed_address() const {
    if (storage_) storage_->expose();
    return data_;
  }
  int device() const { return device_; }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // Throw if the array's memory was freed, or if its address is 0.
  void require_alive() const;

  // Return whether the extents of the arrays share bytes; the arrays may then overlap.
  bool overlaps(const Array& other) const;

  // Set every byte of a dense array.
  void fill_bytes(char value, const StreamRef& stream) const;
  void zero() const;
  // Copy the elements of an array of the same shape and item size, in any layout.
  void copy_from(const Array& src, const StreamRef& stream) const;
  // Dense copy with the axes in the layout's order; see Layout::dense_layout.
  Array dense_copy(const StreamRef& stream) const;
  // Dense copy on another device, made after the work on `stream`. Blocks.
  Array on_device(int device, const StreamRef& stream) const;

  // Copy from and to host memory in any layout of the array's shape; `host` is the address of the
  // first element. Blocks.
  void upload(const void* host, const Layout& layout) const;
  void download(void* host, const Layout& layout) const;
  // Copy in the order of `stream`. The host memory holds the elements in the order of
  // `dense_layout`, beginning at its lowest address; the caller keeps it alive until the copy is
  // done.
  void upload_async(const void* host, const StreamRef& stream) const;
  void download_async(void* host, const StreamRef& stream) const;

 private:
  void* dense_start() const;  // lowest address of a dense array
  // Copy from an array of the same dense layout on another device. Blocks.
  void copy_across(const Array& src, const StreamRef& stream) const;

  Layout layout_;
  char* data_ = nullptr;
  int device_ = 0;
  std::shared_ptr<Storage> storage_;
};

}  // namespace PyGPU
