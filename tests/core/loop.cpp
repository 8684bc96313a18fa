// Plans of elementwise loops: each element meets its partners once, and every vector is a single
// aligned access. Vectors and tiles are a GPU's: the host machine's plans have neither.
#include "PyGPU/arrays/loop.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "naive.h"

using namespace PyGPU;

namespace {

constexpr std::uintptr_t base = 1 << 20;   // planned with, never reached
using ElementPair = std::array<Index, 2>;  // where an element of the result and its partner lie

std::vector<ElementPair> expected(const Layout& result, const Layout& operand) {
  const auto to = naive::offsets(result), from = naive::offsets(operand);
  std::vector<ElementPair> all;
  for (std::size_t i = 0; i < to.size(); ++i) all.push_back({to[i], from[i]});
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<ElementPair> planned(const LoopPlan& plan, Index to_size, Index from_size) {
  std::vector<ElementPair> all;
  if (plan.contiguous) {
    for (Index i = 0; i < plan.axes.size(); ++i) all.push_back({i * to_size, i * from_size});
    return all;
  }
  Axes shape;
  for (int axis = 0; axis < plan.axes.ndim; ++axis) shape.push_back(plan.axes.shape[axis]);
  for (const Axes& index : naive::indices(shape)) {
    ElementPair at{};
    for (int axis = 0; axis < index.size(); ++axis)
      for (std::size_t i = 0; i < 2; ++i) at[i] += index[axis] * plan.axes.strides[i][axis];
    all.push_back(at);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Every vector of an array begins aligned; its elements are neighbours, or one for all.
bool vectors_are_whole(const LoopPlan& plan, const Layout& layout, int array,
                       std::uintptr_t start) {
  const Index width = plan.vector_width, itemsize = Index(layout.itemsize());
  if (width < 2) return true;
  if (plan.contiguous) return start % std::uintptr_t(width * itemsize) == 0;
  const int last = plan.axes.last();
  const bool one_for_all = array > 0 && (plan.broadcast >> (array - 1) & 1);
  if (plan.axes.strides[array][last] != (one_for_all ? 0 : itemsize)) return false;
  if (plan.axes.shape[last] % width) return false;
  const std::uintptr_t size = std::uintptr_t(one_for_all ? itemsize : width * itemsize);
  std::uintptr_t bits = start;
  for (int axis = 0; axis < last; ++axis)
    if (plan.axes.shape[axis] > 1) bits |= std::uintptr_t(plan.axes.strides[array][axis]);
  return bits % size == 0;
}

void check(const Layout& result, const Layout& operand, std::uintptr_t shift) {
  const Layout* const layouts[] = {&result, &operand};
  void* const addresses[] = {reinterpret_cast<void*>(base), reinterpret_cast<void*>(base + shift)};
  const LoopPlan plan = plan_loop(layouts, addresses, 2, 1);
  CAPTURE(result.shape().text());
  CAPTURE(result.strides().text());
  CAPTURE(operand.strides().text());
  CAPTURE(shift);
  const bool all_meet = planned(plan, Index(result.itemsize()), Index(operand.itemsize())) ==
                        expected(result, operand);
  const bool whole =
      vectors_are_whole(plan, result, 0, base) && vectors_are_whole(plan, operand, 1, base + shift);
  if (!all_meet) FAIL("elements do not meet their partners");
  if (!whole) FAIL("a vector is no aligned access");
}

}  // namespace

TEST_CASE("every element of the result meets its partner once, in whole vectors") {
  int tried = 0;
  for (int ndim : {0, 1, 2, 3}) {
    const bool few = ndim == 3;
    const std::vector<Index> lengths = few ? std::vector<Index>{2, 4} : std::vector<Index>{1, 3, 8};
    const std::vector<Index> strides =
        few ? std::vector<Index>{1, 4, 16} : std::vector<Index>{-8, 1, 8, 12};
    const std::vector<Index> from =
        few ? std::vector<Index>{0, 1, 4} : std::vector<Index>{-4, 0, 1, 8};
    const auto operands = naive::layouts(ndim, lengths, from, 4);
    for (const Layout& result : naive::layouts(ndim, lengths, strides, 4)) {
      auto places = naive::offsets(result);
      std::sort(places.begin(), places.end());
      if (std::adjacent_find(places.begin(), places.end()) != places.end()) continue;
      for (const Layout& operand : operands)
        if (operand.shape() == result.shape())
          for (std::uintptr_t shift : {0, 4, 8}) check(result, operand, shift), ++tried;
    }
  }
  CHECK(tried > 2000);
}

TEST_CASE("contiguous arrays are counted, in the widest vectors of the largest dtype") {
  const Layout small({6, 8}, 2), large({6, 8}, 8);
  const Layout* const layouts[] = {&large, &small};
  void* const aligned[] = {reinterpret_cast<void*>(base), reinterpret_cast<void*>(base)};
  void* const odd[] = {reinterpret_cast<void*>(base), reinterpret_cast<void*>(base + 2)};
  const LoopPlan plan = plan_loop(layouts, aligned, 2, 1);
  CHECK(plan.contiguous);
  CHECK(plan.axes.size() == 48);
  CHECK(plan.vector_width == std::max(1, int(capabilities.loop_bytes / 8)));
  CHECK(plan_loop(layouts, odd, 2, 1).vector_width == 1);
}

TEST_CASE("a transposed operand comes in tiles where it is large enough for them") {
  for (Index n : {8, 64}) {
    const Layout result({n, n}, 4), operand({n, n}, 4, Order::f);
    const Layout* const layouts[] = {&result, &operand};
    void* const addresses[] = {reinterpret_cast<void*>(base), reinterpret_cast<void*>(base)};
    const LoopPlan plan = plan_loop(layouts, addresses, 2, 1);
    CHECK(plan.transposed == (capabilities.loop_bytes && n == 64 ? 1u : 0u));
    CHECK_FALSE(plan.contiguous);
  }
}

TEST_CASE("tiles are made of squares that every array has whole and aligned") {
  struct Row {
    Index height, width;
    std::size_t itemsize;
    std::uintptr_t shift;
    int vector_width;
  };
  for (const Row& row :
       {Row{4096, 4096, 1, 0, 4}, Row{4096, 4096, 2, 0, 2}, Row{4096, 1024, 4, 0, 2},
        Row{4096, 4096, 8, 0, 0}, Row{4096, 4098, 1, 0, 2}, Row{4098, 4096, 1, 0, 2},
        Row{4096, 4095, 1, 0, 0}, Row{4095, 4096, 2, 0, 0}, Row{4096, 4096, 4, 4, 0},
        Row{4096, 4096, 1, 2, 2}, Row{512, 512, 4, 0, 0}}) {
    CAPTURE(row.height);
    CAPTURE(row.width);
    CAPTURE(row.itemsize);
    CAPTURE(row.shift);
    const Layout result({row.height, row.width}, row.itemsize);
    const Layout operand({row.height, row.width}, row.itemsize, Order::f);
    const Layout line = broadcast_to(Layout({row.width}, row.itemsize), result.shape());
    const Layout column = broadcast_to(Layout({row.height, 1}, row.itemsize), result.shape());
    const Layout* const layouts[] = {&result, &operand, &line, &column};
    void* const start = reinterpret_cast<void*>(base);
    void* const addresses[] = {start, reinterpret_cast<void*>(base + row.shift), start, start};
    const LoopPlan plan = plan_loop(layouts, addresses, 4, 1);
    CHECK(plan.transposed == (capabilities.loop_bytes ? 1u : 0u));
    if (!capabilities.loop_bytes) continue;
    CHECK(plan.vector_width == row.vector_width);
    CHECK(plan.broadcast == (row.vector_width ? 4u : 0u));
  }
}

TEST_CASE("indices of 64 bits where 32 do not reach") {
  CHECK_FALSE(needs_index64(Index(1) << 30));
  CHECK(needs_index64((Index(1) << 31) - 1));
  const Layout few({2, 2}, {Index(1) << 32, 4}, 4), other({2, 2}, 4);
  const Layout* const layouts[] = {&few, &other};
  void* const addresses[] = {reinterpret_cast<void*>(base), reinterpret_cast<void*>(base)};
  CHECK(plan_loop(layouts, addresses, 2, 1).index64);
}

TEST_CASE("broadcasting is NumPy's") {
  CHECK(broadcast({3, 1}, {2}) == Axes{3, 2});
  CHECK(broadcast({}, {0}) == Axes{0});
  CHECK(broadcast({1}, {0}) == Axes{0});
  CHECK_THROWS_AS(broadcast({3}, {2}), ShapeMismatch);
  CHECK_THROWS_AS(broadcast({3}, {0}), ShapeMismatch);
  const Layout stretched = broadcast_to(Layout({3, 1}, {40, 8}, 8), {2, 3, 5});
  CHECK(stretched.strides() == Axes{0, 40, 0});
}

TEST_CASE("results keep the order of the operands of full shape") {
  const Layout c({2, 3}, 4), f({2, 3}, 8, Order::f), row({3}, 4);
  const auto order = [](std::vector<const Layout*> operands) {
    return result_layout({2, 3}, operands.data(), int(operands.size()), 2).strides();
  };
  CHECK(order({&c, &c}) == Axes{6, 2});
  CHECK(order({&f, &f}) == Axes{2, 4});
  CHECK(order({&row, &f}) == Axes{2, 4});
  CHECK(order({&row}) == Axes{6, 2});
}

TEST_CASE("a grid has no more threads than its device allows") {
  const Index most = 1ll << 32;
  for (const Index all : {Index(1), most - 1, 2 * most - 1, 2 * most, 5 * most, 100 * most}) {
    const int vectors = enough_vectors(2, all, most);
    CHECK(all / vectors < most);
    CHECK((vectors == 2 || all / (vectors / 2) >= most));
  }
  static_assert(enough_vectors(4, 1 << 20, 1 << 18) == 8, "as many threads would be one too many");
}
