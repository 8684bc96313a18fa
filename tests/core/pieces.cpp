// Pieces gathered and scattered one by one, against copying the elements one by one.
#include "PyGPU/runtime/pieces.h"

#include <algorithm>
#include <cstring>

#include "naive.h"

using namespace PyGPU;

namespace {

constexpr Index room = 400, middle = 200;
using Bytes = std::vector<char>;

Bytes numbered(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = char(i % 251);
  return bytes;
}

// The bytes of the dense array from its lowest address, by elements, from the host's memory.
Bytes gathered_by_elements(const Layout& dense, const Layout& host, const Bytes& from) {
  const auto to = naive::offsets(dense), sources = naive::offsets(host, middle);
  const Index low = *std::min_element(to.begin(), to.end());
  Bytes image(dense.nbytes());
  for (std::size_t i = 0; i < to.size(); ++i)
    std::memcpy(&image.at(std::size_t(to[i] - low)), &from.at(std::size_t(sources[i])),
                dense.itemsize());
  return image;
}

bool overlaps_itself(const Layout& layout) {
  auto offsets = naive::offsets(layout);
  std::sort(offsets.begin(), offsets.end());
  return std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end();
}

// Do the pieces tile the dense array, none too large, and move what they should, both ways?
void try_pieces(const Layout& dense, const Layout& host, std::size_t most_bytes) {
  CAPTURE(dense.shape().text());
  CAPTURE(dense.strides().text());
  CAPTURE(host.strides().text());
  CAPTURE(most_bytes);
  const Pieces pieces(dense, host, most_bytes);
  const Bytes memory = numbered(room), expected = gathered_by_elements(dense, host, memory);
  const Index first = middle + pieces.host_offset();
  Bytes image(dense.nbytes()), back(room, 99);
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces.count(); ++i) {
    const Pieces::Piece piece = pieces.piece(i);
    if (piece.at != at || piece.nbytes == 0 || piece.nbytes > most_bytes) FAIL("a bad piece");
    Bytes chunk(piece.nbytes);  // of its own, so that the sanitizers see its ends
    pieces.gather(piece, chunk.data(), memory.data() + first);
    std::memcpy(&image.at(at), chunk.data(), piece.nbytes);
    pieces.scatter(piece, chunk.data(), back.data() + first);
    at += piece.nbytes;
  }
  if (at != dense.nbytes() || image != expected) FAIL("gathered something else");
  Bytes wanted(room, 99);
  for (Index offset : naive::offsets(host, middle))
    std::memcpy(&wanted.at(std::size_t(offset)), &memory.at(std::size_t(offset)), host.itemsize());
  if (!overlaps_itself(host) && back != wanted) FAIL("scattered something else");
}

}  // namespace

TEST_CASE("pieces of every layout move each element to its place, and nothing else") {
  int tried = 0;
  for (int ndim : {0, 1, 2, 3}) {
    const bool few = ndim == 3;
    const std::vector<Index> lengths = few ? std::vector<Index>{1, 3} : std::vector<Index>{1, 2, 5};
    const std::vector<Index> steps =
        few ? std::vector<Index>{-3, 1, 9} : std::vector<Index>{-5, 0, 1, 2, 7};
    for (const Layout& host : naive::layouts(ndim, lengths, steps, 2))
      for (const Layout& order : naive::layouts(
               ndim, {1}, few ? std::vector<Index>{-1, 2, 3} : std::vector<Index>{-2, 1, 3}, 2)) {
        const Layout dense = Layout(host.shape(), order.strides(), 2).dense_layout().layout;
        for (std::size_t most_bytes : {1, 2, 7, 12, 1000}) try_pieces(dense, host, most_bytes);
        ++tried;
      }
  }
  CHECK(tried > 1000);
}

TEST_CASE("items of every width") {
  for (std::size_t itemsize : {1, 2, 3, 4, 8, 12, 16, 20}) {
    const Index step = Index(itemsize);
    for (std::size_t most_bytes : {5, 64}) {
      try_pieces(Layout({3, 2}, itemsize), Layout({3, 2}, {step, 3 * step}, itemsize), most_bytes);
      try_pieces(Layout({4}, itemsize), Layout({4}, {-2 * step}, itemsize), most_bytes);
    }
  }
}

TEST_CASE("planes larger than a tile") {
  const Layout dense({70, 75}, 4), host({70, 75}, {4, 280}, 4);
  const Bytes memory = numbered(dense.nbytes());
  for (std::size_t most_bytes : {4 << 10, 1 << 20}) {
    const Pieces pieces(dense, host, most_bytes);
    Bytes image(dense.nbytes());
    for (std::size_t i = 0; i < pieces.count(); ++i)
      pieces.gather(pieces.piece(i), image.data() + pieces.piece(i).at, memory.data());
    const auto to = naive::offsets(dense), from = naive::offsets(host);
    bool same = true;
    for (std::size_t i = 0; i < to.size(); ++i)
      same = same && !std::memcmp(&image[std::size_t(to[i])], &memory[std::size_t(from[i])], 4);
    CHECK(same);
  }
}

TEST_CASE("pieces are about equal, and bytes are cut at pages") {
  const Layout bytes({1000000}, 1);
  const Pieces pieces(bytes, bytes, 400000);
  CHECK(pieces.contiguous());
  CHECK(pieces.count() == 3);
  CHECK(pieces.piece(0).nbytes == 335872);
  CHECK(pieces.piece(2).nbytes == 1000000 - 2 * 335872);
  // Whole rows; here they have gaps, so they are no longer one axis.
  const Pieces rows(Layout({10, 100}, 4), Layout({10, 100}, {800, 4}, 4), 1700);
  CHECK_FALSE(rows.contiguous());
  CHECK(rows.count() == 3);
  CHECK(rows.piece(0).nbytes == 1600);
  CHECK(rows.piece(2).nbytes == 800);
  CHECK(rows.piece(1).host_at == 3200);
}
