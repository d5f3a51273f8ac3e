// SPDX-License-Identifier: Apache-2.0
//
// One model, two threads, a session each: the weights are there once, the sessions know nothing of each
// other.
//
//   two_sessions MODEL.mote
#include "common.h"

#include <memory>
#include <mote/mote.hpp>
#include <thread>
#include <vector>

namespace {

struct Job {
  std::vector<int32_t> prompt;
  std::vector<int32_t> answer;
  mote_error error = {};
  mote_status status = MOTE_OK;
};

struct Free {
  void operator()(void* block) const { free(block); }
};

/// Everything of a session belongs to the thread that runs it.
void run(const mote::Model& model, Job& job) {
  mote_session_options options = model.default_options();  // one thread; for more each session has a pool
  options.context = 64;
  const size_t bytes = model.session_bytes(options);
  const std::unique_ptr<void, Free> arena(allocate(bytes));
  mote::Session session;
  job.status = session.init(model, options, arena.get(), bytes, &job.error);
  if (job.status != MOTE_OK) return;
  mote_generation generation = mote_generation_default();
  generation.max_tokens = 16;
  const auto on_token = [&](int32_t id) {
    job.answer.push_back(id);
    return true;
  };
  job.status = session.generate(job.prompt.data(), static_cast<uint32_t>(job.prompt.size()), generation,
                                on_token, &job.error);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) give_up("usage", "two_sessions MODEL.mote");
  size_t bytes = 0;
  const void* data = map_file(argv[1], &bytes);
  mote::Model model;
  mote_error error;
  check(model.open(data, bytes, &error), &error);

  Job first{{1, 5, 7}, {}}, second{{9, 3}, {}};
  std::thread other([&] { run(model, second); });
  run(model, first);
  other.join();

  for (const Job& job : {first, second}) {
    check(job.status, &job.error);
    for (const int32_t id : job.answer) printf("%d ", static_cast<int>(id));
    printf("\n");
  }
  return 0;
}
