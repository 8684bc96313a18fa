// Layouts: views, contiguity and the forms that copies and kernels ask for, against their elements.
#include "PyGPU/runtime/layout.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "naive.h"

using namespace PyGPU;
using Kind = IndexItem::Kind;
using Offsets = std::vector<Index>;

namespace {

const std::vector<Layout>& small_layouts() {
  static const std::vector<Layout> all = [] {
    std::vector<Layout> made;
    for (int ndim : {0, 1, 2, 3})
      for (const Layout& one : naive::layouts(ndim, {0, 1, 2, 3}, {-2, -1, 0, 1, 2, 3, 6}, 4))
        made.push_back(one);
    return made;
  }();
  return all;
}

// The bytes of all elements, if each is there once and there is no gap.
bool fills_its_memory(Offsets offsets, Index itemsize) {
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] != offsets[i - 1] + itemsize) return false;
  return true;
}

bool counts_up(const Offsets& offsets, Index itemsize) {
  return std::is_sorted(offsets.begin(), offsets.end()) && fills_its_memory(offsets, itemsize);
}

IndexItem slice(Index start, bool has_start, Index stop, bool has_stop, Index step) {
  return {Kind::slice, start, stop, step, has_start, has_stop};
}

// Which elements of n a slice takes, by walking.
Offsets taken(Index n, const IndexItem& item) {
  const bool up = item.step > 0;
  Index at = up ? 0 : n - 1, end = up ? n : -1;
  if (item.has_start) at = item.start < 0 ? item.start + n : item.start;
  if (item.has_stop) end = item.stop < 0 ? item.stop + n : item.stop;
  if (item.has_stop && end < 0) end = up ? 0 : -1;
  if (at < 0) at = up ? 0 : -1;
  if (at >= n && !up) at = n - 1;
  Offsets found;
  for (; up ? at < end && at < n : at > end && at >= 0; at += item.step) found.push_back(at);
  return found;
}

}  // namespace

TEST_CASE("strides of a fresh array") {
  CHECK(Layout({2, 3, 4}, 8).strides() == Axes{96, 32, 8});
  CHECK(Layout({2, 3, 4}, 8, Order::f).strides() == Axes{8, 16, 48});
  const Layout scalar({}, 8);
  CHECK(scalar.size() == 1);
  CHECK(scalar.nbytes() == 8);
  CHECK(Layout({2, 0}, 8).nbytes() == 0);
}

TEST_CASE("shapes that no memory holds, and lists that are no shapes") {
  const Index huge = Index(1) << 40;
  CHECK_THROWS_AS(Layout({huge, huge}, 8), std::invalid_argument);
  CHECK_THROWS_AS(Layout({0, huge, huge}, 8), std::invalid_argument);
  CHECK_THROWS_AS(Layout({2, -1}, 8), std::invalid_argument);
  CHECK_THROWS_AS(Layout({2, 3}, {8}, 8), std::invalid_argument);
  CHECK_THROWS_AS(Layout({3}, {Index(1) << 62}, 8).extent(), std::invalid_argument);
  Axes axes;
  for (int i = 0; i < Axes::capacity; ++i) axes.push_back(1);
  CHECK_THROWS_AS(axes.push_back(1), std::invalid_argument);
}

TEST_CASE("axes by their strides, equal ones in their order") {
  Axes strides{-40, 8, 80};
  for (int i = 0; i < 20; ++i) strides.push_back(4);
  const std::vector<int> found = strides.by_falling_size();
  CHECK(std::vector<int>(found.begin(), found.begin() + 4) == std::vector<int>{2, 0, 1, 3});
  CHECK(std::is_sorted(found.begin() + 3, found.end()));
}

TEST_CASE("contiguity, density and reach are those of the elements") {
  for (const Layout& layout : small_layouts()) {
    if (layout.size() == 0) {
      CHECK(layout.c_contiguous());
      CHECK(layout.extent() == std::pair<Index, Index>(0, 0));
      continue;
    }
    CAPTURE(layout.shape().text());
    CAPTURE(layout.strides().text());
    const Offsets offsets = naive::offsets(layout);
    const Offsets reversed = naive::offsets(layout.transpose());
    CHECK(layout.c_contiguous() == counts_up(offsets, 4));
    CHECK(layout.f_contiguous() == counts_up(reversed, 4));
    CHECK(layout.dense() == fills_its_memory(offsets, 4));
    const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
    CHECK(layout.extent() == std::pair<Index, Index>(*low, *high + 4));
  }
}

TEST_CASE("the canonical form is the same memory with the fewest axes") {
  for (const Layout& layout : small_layouts()) {
    CAPTURE(layout.shape().text());
    CAPTURE(layout.strides().text());
    const auto [simple, offset] = layout.canonical();
    Offsets expected = naive::offsets(layout), found = naive::offsets(simple, offset);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    CHECK(found == expected);
    const Axes &shape = simple.shape(), &strides = simple.strides();
    for (int axis = 0; axis < simple.ndim() && layout.size(); ++axis) {
      CHECK(strides[axis] >= 0);
      CHECK(shape[axis] != 1);
      if (axis > 0) {
        CHECK(strides[axis - 1] >= strides[axis]);
        CHECK(strides[axis - 1] != strides[axis] * shape[axis]);
      }
    }
    if (layout.dense() && layout.size() > 1) CHECK(simple.ndim() == 1);
  }
}

TEST_CASE("the dense layout closes the gaps and keeps the order of elements") {
  for (const Layout& layout : small_layouts()) {
    const auto [dense, offset] = layout.dense_layout();
    if (layout.size() == 0) continue;
    CAPTURE(layout.shape().text());
    CAPTURE(layout.strides().text());
    const Offsets closed = naive::offsets(dense, offset), open = naive::offsets(layout);
    CHECK(fills_its_memory(closed, 4));
    CHECK(*std::min_element(closed.begin(), closed.end()) == 0);
    for (int axis = 0; axis < layout.ndim(); ++axis)
      if (layout.strides()[axis] && layout.shape()[axis] > 1)
        CHECK((layout.strides()[axis] < 0) == (dense.strides()[axis] < 0));
    if (layout.dense()) {  // then it is the array itself, but for where it begins
      CHECK(closed[0] - open[0] == offset);
      for (std::size_t i = 0; i < open.size(); ++i) CHECK(closed[i] - open[i] == offset);
    }
  }
}

TEST_CASE("a slice takes what walking takes") {
  for (Index n = 0; n <= 4; ++n)
    for (Index step : {-5, -3, -2, -1, 1, 2, 3, 5})
      for (Index start = -n - 2; start <= n + 2; ++start)
        for (Index stop = -n - 2; stop <= n + 2; ++stop)
          for (int given = 0; given < 4; ++given) {
            const IndexItem item = slice(start, given & 1, stop, given & 2, step);
            const auto [view, offset] = Layout({n}, 4).index({item});
            Offsets expected = taken(n, item);
            for (Index& at : expected) at *= 4;
            CAPTURE(n);
            CAPTURE(start);
            CAPTURE(stop);
            CAPTURE(step);
            CAPTURE(given);
            CHECK(naive::offsets(view, offset) == expected);
          }
}

TEST_CASE("integers, ellipses and new axes") {
  const Layout layout({2, 3, 4}, 1);
  const IndexItem second{Kind::integer, 1}, last{Kind::integer, -1};
  const IndexItem rest{Kind::ellipsis}, fresh{Kind::new_axis};
  const auto [column, offset] = layout.index({rest, last});
  CHECK(column.shape() == Axes{2, 3});
  CHECK(column.strides() == Axes{12, 4});
  CHECK(offset == 3);
  const auto [more, start] = layout.index({second, fresh, rest, fresh});
  CHECK(more.shape() == Axes{1, 3, 4, 1});
  CHECK(start == 12);
  CHECK_THROWS_AS(layout.index({{Kind::integer, 2}}), std::out_of_range);
  CHECK_THROWS_AS(layout.index({{Kind::integer, -3}}), std::out_of_range);
  CHECK_THROWS_AS(layout.index({rest, rest}), std::out_of_range);
  CHECK_THROWS_AS(layout.index({last, last, last, last}), std::out_of_range);
  CHECK_THROWS_AS(layout.index({slice(0, false, 0, false, 0)}), std::invalid_argument);
}

TEST_CASE("a transpose permutes the indices") {
  const Layout layout({2, 3, 4}, {100, -10, 1}, 1);
  const Layout transposed = layout.transpose({2, 0, -2});
  CHECK(transposed.shape() == Axes{4, 2, 3});
  CHECK(transposed.strides() == Axes{1, 100, -10});
  CHECK_THROWS_AS(layout.transpose({0, 0, 1}), std::invalid_argument);
  CHECK_THROWS_AS(layout.transpose({0, 1, 3}), std::invalid_argument);
  CHECK_THROWS_AS(layout.transpose({0, 1}), std::invalid_argument);
}

TEST_CASE("reshapes read the elements in the order that was asked for") {
  const Layout rows({2, 6}, 4), columns({2, 6}, 4, Order::f);
  CHECK(rows.reshape({3, -1}, Order::c).strides() == Axes{16, 4});
  CHECK(columns.reshape({3, 4}, Order::f).strides() == Axes{4, 12});
  CHECK(!rows.reshape_view({3, 4}, Order::f));
  CHECK(!columns.reshape_view({3, 4}, Order::c));
  CHECK(rows.reshape({-1}, Order::c).shape() == Axes{12});
  CHECK(Layout({2, 0}, 4).reshape({0, 5}, Order::c).size() == 0);
  CHECK_THROWS_AS(rows.reshape({5, -1}, Order::c), std::invalid_argument);
  CHECK_THROWS_AS(rows.reshape({-1, -1}, Order::c), std::invalid_argument);
  CHECK_THROWS_AS(rows.reshape({11}, Order::c), std::invalid_argument);
  CHECK_THROWS_AS(Layout({2, 6}, {48, 4}, 4).reshape({-1}, Order::c), std::runtime_error);
  CHECK(Layout({2, 6}, {48, 4}, 4).reshape({2, 3, 2}, Order::c).strides() == Axes{48, 8, 4});
  CHECK(!Layout({3, 4}, {4, 12}, 4).reshape_view({12}, Order::c));
  CHECK(Layout({3, 4}, {4, 12}, 4).reshape_view({12}, Order::f)->strides() == Axes{4});
}

TEST_CASE("views with another item size") {
  CHECK(Layout({3, 4}, 4).view(8).shape() == Axes{3, 2});
  CHECK(Layout({3, 4}, 4, Order::f).view(1).shape() == Axes{12, 4});
  CHECK(Layout({3, 4}, 4).view(2).strides() == Axes{16, 2});
  CHECK(Layout({5, 1}, {8, 4}, 4).view(2).shape() == Axes{5, 2});
  CHECK(Layout({5, 1}, {-8, 99}, 4).view(2).strides() == Axes{-8, 2});
  CHECK(Layout({4, 2, 1}, 4, Order::f).view(2).shape() == Axes{4, 2, 2});
  CHECK(Layout({4, 2, 1}, 4, Order::f).view(8).shape() == Axes{2, 2, 1});
  CHECK_THROWS_AS(Layout({3, 3}, 4).view(8), std::invalid_argument);
  CHECK_THROWS_AS(Layout({3}, {8}, 4).view(2), std::invalid_argument);
  CHECK_THROWS_AS(Layout({}, 4).view(2), std::invalid_argument);
}

TEST_CASE("strides that no element uses have no bounds") {
  const Index huge = std::numeric_limits<Index>::max();
  const Layout one({2, 1}, {4, -huge - 1}, 4);
  CHECK(one.strides() == Axes{4, -huge});
  CHECK(one.extent() == std::pair<Index, Index>(0, 8));
  CHECK(one.k_order().strides() == Axes{4, 4});
  CHECK(one.canonical().layout.strides() == Axes{4});
  CHECK(one.dense());
  const View none = Layout({3, 0}, {huge, 4}, 4).index({slice(2, true, 0, false, -2)});
  CHECK(none.layout.shape() == Axes{2, 0});
  CHECK(none.offset == 0);
}
