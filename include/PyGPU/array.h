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
  // Memory that somebody else answers for, or that `owner` lends as long as it is held.
  static Array borrow(const Layout& layout, void* address,
                      std::shared_ptr<const void> owner = nullptr);

  Array view(const Layout& layout, Index offset = 0) const;

  const Layout& layout() const { return layout_; }
  void* address() const { return data_; }  // of the first element; null if there are no elements
  void* told_address() const {             // for somebody beside us
    if (storage_) storage_->tell();
    return data_;
  }
  int device() const { return device_; }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // Throws if the memory was freed under the array.
  void require_alive() const;

  // Do the two reach into the same bytes?
  bool overlaps(const Array& other) const;

  void zero() const;
  // Elements of the same shape and item size, whatever the layouts.
  void copy_from(const Array& src, const StreamRef& stream = {}) const;
  // A packed copy in the layout's image.
  Array pack(const StreamRef& stream = {}) const;
  // The same on another device, after the work on `stream`. Blocking.
  Array on_device(int device, const StreamRef& stream) const;

  // To and from host memory that holds the layout's image, linear. Blocking.
  void upload(const void* image) const;
  void download(void* image) const;
  // The same in the order of `stream`; the caller keeps the host memory until it is done.
  void upload_async(const void* image, const StreamRef& stream) const;
  void download_async(void* image, const StreamRef& stream) const;

 private:
  void* dense_start() const;  // the lowest address of a dense array

  Layout layout_;
  char* data_ = nullptr;
  int device_ = 0;
  std::shared_ptr<Storage> storage_;
};

}  // namespace PyGPU
