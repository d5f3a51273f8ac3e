// SPDX-License-Identifier: Apache-2.0
//
// One model, two threads, a session each: the weights are there once, the sessions know nothing of each
// other.
//
//   two_sessions MODEL.mote
#include <cstdio>
#include <mote/mote.hpp>
#include <thread>
#include <vector>

namespace {

struct Job {
  std::vector<int32_t> prompt, answer;
  mote::Status status = {};
};

/// Everything of a session belongs to the thread that runs it.
void run(const mote::Model& model, Job& job) {
  mote_session_options options = model.options();
  options.context = 64;
  mote::Result<mote::Pool> pool = mote::Pool::of(1);
  if (!pool.ok()) return void(job.status = pool.status());
  mote::Result<mote::Session> session = mote::Session::of(model, *pool, options);
  if (!session.ok()) return void(job.status = session.status());
  mote::Answering answering;
  answering.max_tokens = 16;
  answering.sampling = mote_sampling_default();
  mote::Result<mote::Answer> answer = session->generate(job.prompt, answering);
  job.status = answer.status();
  if (answer.ok()) job.answer = answer->ids;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  mote::Result<mote::Model> model = mote::Model::open(arguments[1]);
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.text()), 1;

  Job first{{1, 5, 7}, {}}, second{{9, 3}, {}};
  std::thread other([&] { run(*model, second); });
  run(*model, first);
  other.join();

  for (const Job& job : {first, second}) {
    if (!job.status.ok()) return std::fprintf(stderr, "%s\n", job.status.text()), 1;
    for (const int32_t id : job.answer) std::printf("%d ", static_cast<int>(id));
    std::printf("\n");
  }
  return 0;
}
