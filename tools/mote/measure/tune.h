// SPDX-License-Identifier: Apache-2.0
//
// Which number of threads is fastest here: mote bench --tune.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/mote/measure/bench_work.h"

namespace mote::cli {

/// The speeds that a number of threads reaches; 0 where there is no such test.
struct TriedThreads {
  uint32_t threads;
  double prompt_per_s, decode_per_s;
};

/// 1, 2, 3 and so on up to `most`; of more than 4 only every other, of more than 8 every fourth, and `most`.
std::vector<uint32_t> numbers_of_threads(uint32_t most);

/// Runs the work with each number of threads, by turns, `repeat` times; medians.
std::vector<TriedThreads> try_threads(const ModelFile& file, const SessionFlags& flags, const Work& work,
                                      uint32_t repeat);

/// The fewest that are within 3 % of the fastest: of all for decoding, then of at least as many for prompts.
ThreadCounts fastest_threads(const std::vector<TriedThreads>& tried);

}  // namespace mote::cli
