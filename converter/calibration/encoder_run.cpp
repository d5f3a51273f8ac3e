// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/encoder_run.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "converter/write_model.h"
#include "host/base/arena_memory.h"
#include "host/base/error.h"
#include "host/base/output_file.h"
#include "mote/text.h"

namespace mote::convert {
namespace {

constexpr double kEncodedShare = 0.5;  // share of the work; the rest is the run
// Longer than the longest run of it.
constexpr std::string_view kText =
    "On the second day, 40 people walked from the old harbour to the station; most of them had never seen "
    "snow "
    "before, and nobody asked why the trains were late.";

void hand_on(void* user, const char* name, const float* data, uint32_t rows, uint32_t width, size_t stride) {
  (*static_cast<const EncoderRun::Take*>(user))(name, data, rows, width, stride);
}

}  // namespace

void EncoderRun::run(const Graph& graph, const Take& take,
                     const std::function<void(double share)>& progress) {
  OutputFile file(target_);
  write_model(graph, tokenizer_, file, [&](double share) { progress(kEncodedShare * share); });
  const OpenedModel model(file.temporary());
  if (ids_.empty() && tokenizer_ != nullptr && plan_.input_width == 0) read_text(model);
  model.trace(plan_, ids_, hand_on, const_cast<Take*>(&take));
  progress(1);
}

void EncoderRun::read_text(const OpenedModel& model) {
  mote_session_options options = mote_session_options_default(model.get());
  options.context = options.chunk = plan_.prompt;
  options.logit_rows = 1;
  options.isa = MOTE_ISA_REF;
  const size_t bytes = mote_session_bytes(model.get(), &options);
  const ArenaMemory arena = arena_memory(bytes);
  mote_session* session = nullptr;
  mote_error error{};
  std::vector<int32_t> ids(plan_.prompt);
  uint32_t count = 0;
  mote_status status = mote_session_init(model.get(), &options, arena.get(), bytes, &session, &error);
  if (status == MOTE_OK)
    status = mote_tokenize(session, kText.data(), kText.size(), MOTE_ADD_SPECIAL | MOTE_TRUNCATE, ids.data(),
                           plan_.prompt, &count, nullptr, &error);
  // A context with no room beside the special tokens leaves the self test's prompt.
  if (status != MOTE_OK || count == 0) return;
  plan_.prompt = std::min(count, plan_.prompt);
  ids.resize(plan_.prompt);
  ids_ = std::move(ids);
}

}  // namespace mote::convert
