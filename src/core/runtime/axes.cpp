// Lists of numbers per axis. See axes.h.
#include "PyGPU/runtime/axes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace PyGPU {

bool Axes::operator==(const Axes& other) const {
  return size_ == other.size_ && std::equal(begin(), end(), other.begin());
}

std::vector<int> Axes::by_falling_size() const {
  std::vector<int> positions(static_cast<std::size_t>(size_));
  std::iota(positions.begin(), positions.end(), 0);
  std::stable_sort(positions.begin(), positions.end(),
                   [&](int a, int b) { return std::abs(values_[a]) > std::abs(values_[b]); });
  return positions;
}

void Axes::push_back(Index value) {
  if (size_ == capacity)
    throw std::invalid_argument("too many axes: an array has at most " + std::to_string(capacity));
  values_[size_++] = value;
}

std::string Axes::text() const {
  std::string text = "(";
  for (int i = 0; i < size_; ++i) text += (i ? ", " : "") + std::to_string(values_[i]);
  return text + (size_ == 1 ? ",)" : ")");
}

}  // namespace PyGPU
