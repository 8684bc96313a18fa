// Plans of copies, carried out row by row on bytes, against copying the elements one by one.
#include "PyGPU/runtime/copy_plan.h"

#include <cstring>
#include <stdexcept>

#include "naive.h"

using namespace PyGPU;

namespace {

constexpr Index room = 400, middle = 200;
using Bytes = std::vector<unsigned char>;

// What a runtime's pitched copies do; at() checks that none leaves the memory.
void carry_out(const CopyPlan& plan, Bytes& to, const Bytes& from) {
  const bool pitched = plan.dst_pitch >= Index(plan.width) && plan.src_pitch >= Index(plan.width);
  if (plan.rows > 1 && !pitched) FAIL("a pitch that the runtime refuses");
  for (const Axes& index : naive::indices(plan.loop_shape)) {
    Index d = middle + plan.dst_offset, s = middle + plan.src_offset;
    for (int axis = 0; axis < index.size(); ++axis) {
      d += index[axis] * plan.loop_dst[axis];
      s += index[axis] * plan.loop_src[axis];
    }
    for (Index row = 0; row < Index(plan.rows); ++row)
      for (Index byte = 0; byte < Index(plan.width); ++byte)
        to.at(std::size_t(d + row * plan.dst_pitch + byte)) =
            from.at(std::size_t(s + row * plan.src_pitch + byte));
  }
}

Bytes copied_by_elements(const Layout& dst, const Layout& src, const Bytes& from) {
  Bytes to(room, 255);
  const auto targets = naive::offsets(dst, middle), sources = naive::offsets(src, middle);
  for (std::size_t i = 0; i < targets.size(); ++i)
    std::memcpy(&to.at(std::size_t(targets[i])), &from.at(std::size_t(sources[i])), dst.itemsize());
  return to;
}

// Two elements at one place have no single outcome.
bool overlaps_itself(const Layout& layout) {
  auto offsets = naive::offsets(layout);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (offsets[i] == offsets[j]) return true;
  return false;
}

}  // namespace

TEST_CASE("every plan moves each element to its place, and nothing else") {
  Bytes from(room);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i % 251);
  int tried = 0;
  for (int ndim : {0, 1, 2, 3}) {
    const bool few = ndim == 3;
    const std::vector<Index> lengths = few ? std::vector<Index>{1, 3} : std::vector<Index>{0, 1, 3};
    const auto targets = naive::layouts(ndim, lengths, {-9, -3, 1, 3, few ? 9 : 4}, 2);
    const std::vector<Index> strides =
        few ? std::vector<Index>{-3, 1, 9} : std::vector<Index>{-4, 0, 1, 3, 5};
    for (const Layout& src : naive::layouts(ndim, lengths, strides, 2))
      for (const Layout& dst : targets) {
        if (dst.shape() != src.shape() || overlaps_itself(dst)) continue;
        const CopyPlan plan = plan_copy(dst, src);
        Bytes to(room, 255);
        carry_out(plan, to, from);
        ++tried;
        if (to == copied_by_elements(dst, src, from)) continue;
        CAPTURE(dst.shape().text());
        CAPTURE(dst.strides().text());
        CAPTURE(src.strides().text());
        FAIL("another outcome");
      }
  }
  CHECK(tried > 3000);
}

TEST_CASE("few calls where few will do") {
  const Layout plain({4, 5, 6}, 8);
  CHECK(plan_copy(plain, plain).calls() == 1);
  CHECK(plan_copy(plain, plain).width == plain.nbytes());
  // Rows of a pitched array, then the same backwards on both sides.
  const Layout pitched({4, 5}, {100, 8}, 8), back({4, 5}, {-100, 8}, 8);
  CHECK(plan_copy(Layout({4, 5}, 8), pitched).rows == 4);
  CHECK(plan_copy(Layout({4, 5}, 8), pitched).calls() == 1);
  CHECK(plan_copy(back, back).calls() == 1);
  // A transpose: elements one by one, but whole columns a call.
  const CopyPlan transposed = plan_copy(Layout({4, 5}, 8), Layout({4, 5}, 8, Order::f));
  CHECK(transposed.width == 8);
  CHECK(transposed.calls() == 4);
}

TEST_CASE("shapes that differ are refused") {
  CHECK_THROWS_AS(plan_copy(Layout({2, 3}, 4), Layout({3, 2}, 4)), std::invalid_argument);
}
