// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/bench_work.h"

#include "host/base/error.h"
#include "mote/beams.h"
#include "tools/mote/measure/timer.h"

namespace mote::cli {
namespace {

/// From -1 to 1, the same at every call.
std::vector<float> pseudo_random_values(size_t count) {
  std::vector<float> values(count);
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
  return values;
}

}  // namespace

EncoderBatch::EncoderBatch(const Work& work) : lengths_(work.batch, work.prompt) {
  if (work.width != 0) {
    values_ = pseudo_random_values(size_t{work.batch} * work.prompt * work.width);
    batch_.values = values_.data();
  } else {
    for (uint32_t i = 0; i < work.batch; ++i)
      ids_.insert(ids_.end(), work.ids.begin(), work.ids.begin() + static_cast<std::ptrdiff_t>(work.prompt));
    batch_.ids = ids_.data();
  }
  batch_.lengths = lengths_.data();
  batch_.count = work.batch;
}

mote_session_options bench_options(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                                   const Work& work) {
  mote_session_options options = session_options(file, flags, pool);
  if (flags.context == 0) options.context = static_cast<uint32_t>(work.ids.size());
  options.threads = pool.threads();
  options.batch = std::max(work.batch, work.beams);
  options.logit_rows = options.batch;
  if (work.source && flags.context == 0) options.context = std::max(work.depth + work.decode, 1u);
  if (!work.encodes()) return options;
  const uint64_t tokens = std::max<uint64_t>(1, work.prompt_tokens());
  if (tokens > UINT32_MAX) convert::fail("bench: {} tokens at once are too many", tokens);
  options.chunk = std::max(static_cast<uint32_t>(tokens), options.batch);
  if (work.source) return options;
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  if (output.of_sequences == 0) options.logit_rows = options.chunk;
  return options;
}

static double encode_ms(Session& session, const Work& work) {
  const EncoderBatch batch(work);
  mote_error error = {};
  Timer timer;
  check(mote_encode(session.get(), &batch.get(), &error), error, "bench: --prompt");
  return timer.ms();
}

static void empty(Session& session, uint32_t sequences) {
  mote_error error = {};
  for (uint32_t sequence = 0; sequence < sequences; ++sequence)
    check(mote_session_truncate(session.get(), sequence, 0, &error), error, "bench");
}

void fill(Session& session, const Work& work, uint32_t sequences) {
  mote_error error = {};
  empty(session, sequences);
  for (uint32_t sequence = 0; sequence < sequences && work.depth != 0; ++sequence) {
    check(mote_prefill(session.get(), sequence, work.ids.data(), work.depth, MOTE_LOGITS_NONE, &error), error,
          "bench: --depth");
  }
}

double prompt_ms(Session& session, const Work& work) {
  if (work.source) empty(session, work.batch);  // tokens would keep their source
  if (work.encodes()) return encode_ms(session, work);
  mote_error error = {};
  fill(session, work, 1);
  Timer timer;
  check(mote_prefill(session.get(), 0, work.ids.data() + work.depth, work.prompt, MOTE_LOGITS_LAST, &error),
        error, "bench: --prompt");
  return timer.ms();
}

/// Returns the time of a search over each source; the encoding of the source is not part of it.
static double search_ms(Session& session, const Work& work) {
  Work one = work;
  one.batch = 1;
  mote_beam_options options = mote_beam_options_default();
  options.beams = work.beams;
  options.max_tokens = work.decode;
  options.early_stopping = MOTE_STOP_NEVER;
  options.ignore_model_stops = 1;
  std::vector<uint64_t> memory(mote_beam_bytes(session.get(), &options) / sizeof(uint64_t) + 1);
  std::vector<mote_beam> beams(work.beams);
  mote_error error = {};
  double ms = 0;
  for (uint32_t i = 0; i < work.batch; ++i) {
    empty(session, work.beams);
    (void)encode_ms(session, one);
    Timer timer;
    check(mote_prefill(session.get(), 0, work.ids.data(), 1, MOTE_LOGITS_LAST, &error), error,
          "bench: --beams");
    check(mote_beam_search(session.get(), &options, memory.data(), memory.size() * sizeof memory[0],
                           beams.data(), &error),
          error, "bench: --beams");
    ms += timer.ms();
  }
  return ms;
}

double decode_ms(Session& session, const Work& work) {
  if (work.beams != 0) return search_ms(session, work);
  mote_error error = {};
  if (work.source) (void)prompt_ms(session, work);
  fill(session, work, work.batch);
  Timer timer;
  for (uint32_t i = 0; i < work.decode; ++i) {
    const std::vector<int32_t> ids(work.batch, work.ids[work.depth + i]);
    check(mote_decode(session.get(), ids.data(), &error), error, "bench: --decode");
  }
  return timer.ms();
}

}  // namespace mote::cli
