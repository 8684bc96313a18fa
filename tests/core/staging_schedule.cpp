// How staged transfers are cut: every byte once, in order, and no chunk overwritten too early.
#include "PyGPU/runtime/staging_schedule.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace PyGPU;
using namespace PyGPU::staging;

namespace {

constexpr std::size_t KB = 1024;

// The plan of a download or an upload by that many threads.
StagingPlan plan_of(unsigned threads, bool tapers) {
  StagingPlan plan{};
  plan.threads = threads;
  plan.piece_bytes = 32 * KB;
  plan.part_bytes = 128 * KB;
  plan.run_bytes = 512 * KB;
  plan.tapers = tapers;
  return plan;
}

// Bytes in order, and every other row of a matrix.
Layout contiguous(std::size_t nbytes) { return Layout({Index(nbytes)}, 1); }
Layout rows(std::size_t count, std::size_t width) {
  return Layout({Index(count), Index(width)}, {Index(2 * width), 1}, 1);
}

struct Cut {
  Cut(const Layout& dense, const Layout& host, const StagingPlan& plan, bool up, std::size_t memory)
      : pieces(dense, host, plan.piece_bytes),
        rotation(memory),
        schedule(pieces, plan, up, rotation) {}
  Cut(std::size_t nbytes, const StagingPlan& plan, bool up, std::size_t memory)
      : Cut(contiguous(nbytes), contiguous(nbytes), plan, up, memory) {}
  const Pieces pieces;
  Rotation rotation;
  const Schedule schedule;
};

// Check what holds for each schedule.
void check(const Cut& cut, std::size_t nbytes, std::size_t memory) {
  const std::vector<Run>& runs = cut.schedule.runs();
  std::size_t at = 0, piece = 0, part = 0;
  std::vector<std::size_t> owner(memory, SIZE_MAX);  // run that used each byte of memory last
  for (std::size_t i = 0; i < runs.size(); ++i) {
    REQUIRE(runs[i].at == at);
    REQUIRE(runs[i].nbytes > 0);
    REQUIRE(runs[i].chunk + runs[i].nbytes <= memory);
    REQUIRE(runs[i].after <= i);
    bool is_free = true;
    for (std::size_t k = 0; k < runs[i].nbytes; ++k) {
      std::size_t& last = owner[runs[i].chunk + k];
      is_free = is_free && (last == SIZE_MAX || last < runs[i].after);
      last = i;
    }
    REQUIRE(is_free);
    REQUIRE(cut.schedule.parts_of(i) > 0);
    for (; part < runs[i].parts_end; ++part) {
      const auto [first, count] = cut.schedule.pieces_of(part, i);
      REQUIRE(first == piece);
      REQUIRE(count > 0);
      piece += count;
    }
    at += runs[i].nbytes;
  }
  CHECK(at == nbytes);
  CHECK(piece == cut.pieces.count());
  CHECK(part == cut.schedule.part_count());
}

}  // namespace

TEST_CASE("every byte is in one part of one run, and no chunk is used again too early") {
  for (const std::size_t nbytes : {std::size_t(1), 32 * KB, 100 * KB + 7, 1000 * KB, 5000 * KB + 3})
    for (const std::size_t memory : {512 * KB, 1536 * KB + 64, 8192 * KB})
      for (const unsigned threads : {1u, 3u, 8u})
        for (const bool up : {false, true})
          for (const bool tapers : {false, true})
            if (tapers || nbytes <= memory)
              check(Cut(nbytes, plan_of(threads, tapers), up, memory), nbytes, memory);
}

TEST_CASE("rows with gaps") {
  for (const std::size_t width : {std::size_t(10), 4096 + std::size_t(1), 90 * KB})
    for (const bool up : {false, true}) {
      const std::size_t nbytes = 37 * width;
      const Cut cut(contiguous(nbytes), contiguous(nbytes), plan_of(4, true), up, 1024 * KB);
      check(cut, nbytes, 1024 * KB);
      const Cut gaps(Layout({37, Index(width)}, 1), rows(37, width), plan_of(4, true), up,
                     1024 * KB);
      check(gaps, nbytes, 1024 * KB);
    }
}

TEST_CASE("a download's runs are full, and the last ones short") {
  const Cut cut(4096 * KB, plan_of(8, true), false, 8192 * KB);
  const std::vector<Run>& runs = cut.schedule.runs();
  CHECK(runs.front().nbytes == 512 * KB);
  CHECK(runs.back().nbytes == 128 * KB);
  for (std::size_t i = 1; i < runs.size(); ++i) CHECK(runs[i].nbytes <= runs[i - 1].nbytes);
  CHECK_FALSE(cut.schedule.reuses_chunks());
}

TEST_CASE("an upload's first and last runs are short, and one part each") {
  const Cut cut(16384 * KB, plan_of(4, true), true, 16384 * KB);
  const std::vector<Run>& runs = cut.schedule.runs();
  CHECK(runs.front().nbytes == 64 * KB);
  CHECK(runs[runs.size() / 2].nbytes == 512 * KB);
  CHECK(runs.back().nbytes <= 64 * KB);
  CHECK(cut.schedule.part_count() > runs.size());  // of 128 KB
}

TEST_CASE("what is not to taper is one run") {
  const Cut cut(700 * KB, plan_of(4, false), true, 1024 * KB);
  CHECK(cut.schedule.runs().size() == 1);
  CHECK(cut.schedule.part_count() == 6);
}

TEST_CASE("chunks follow each other, also from one transfer to the next") {
  Rotation rotation(1024);
  CHECK(rotation.next(100) == 0);
  CHECK(rotation.next(100) == 128);
  CHECK(rotation.next(700) == 256);
  CHECK(rotation.next(100) == 0);  // the rest of the memory is too short
  CHECK(rotation.next(1024) == 0);
}
