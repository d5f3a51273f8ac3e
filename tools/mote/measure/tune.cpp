// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/tune.h"

#include <algorithm>

#include "tools/mote/measure/timer.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

constexpr double kAsFast = 0.97;  // what repetitions differ by

template <class Rate>
uint32_t fewest(const std::vector<TriedThreads>& tried, uint32_t least, Rate rate) {
  double best = 0;
  for (const TriedThreads& one : tried) {
    if (one.threads >= least) best = std::max(best, rate(one));
  }
  for (const TriedThreads& one : tried) {
    if (one.threads >= least && rate(one) >= kAsFast * best) return one.threads;
  }
  return least;
}

}  // namespace

std::vector<uint32_t> numbers_of_threads(uint32_t most) {
  std::vector<uint32_t> numbers;
  for (uint32_t n = 1; n < most; n += n < 4 ? 1 : n < 8 ? 2 : 4) numbers.push_back(n);
  numbers.push_back(most);
  return numbers;
}

std::vector<TriedThreads> try_threads(const ModelFile& file, const SessionFlags& flags, const Work& work,
                                      uint32_t repeat) {
  const std::vector<uint32_t> numbers = numbers_of_threads(usable_cores());
  std::vector<Times> prompts(numbers.size()), decodes(numbers.size());
  for (uint32_t turn = 0; turn < repeat; ++turn) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      show_progress("measuring", static_cast<double>(turn * numbers.size() + i) /
                                     static_cast<double>(repeat * numbers.size()));
      const ThreadPool pool(ThreadCounts{numbers[i], numbers[i]});
      Session session(file, bench_options(file, flags, pool, work));
      if (work.prompt > 0) prompts[i].ms.push_back(prompt_ms(session, work));
      if (work.decode > 0) decodes[i].ms.push_back(decode_ms(session, work));
    }
  }
  clear_progress();
  std::vector<TriedThreads> tried;
  for (size_t i = 0; i < numbers.size(); ++i) {
    tried.push_back({numbers[i], per_second(static_cast<double>(work.prompt_tokens()), prompts[i].median()),
                     per_second(static_cast<double>(work.decode_tokens()), decodes[i].median())});
  }
  return tried;
}

ThreadCounts fastest_threads(const std::vector<TriedThreads>& tried) {
  const uint32_t decode = fewest(tried, 1, [](const TriedThreads& one) { return one.decode_per_s; });
  const uint32_t prompt = fewest(tried, decode, [](const TriedThreads& one) { return one.prompt_per_s; });
  return {prompt, tried.front().decode_per_s > 0 ? decode : prompt};
}

}  // namespace mote::cli
