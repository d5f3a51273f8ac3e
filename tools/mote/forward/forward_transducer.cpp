// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward/forward_transducer.h"

#include <algorithm>
#include <string_view>

#include "host/base/error.h"
#include "host/tasks/sound/transducer.h"
#include "tools/mote/forward/forward_sound.h"
#include "tools/mote/ids.h"
#include "tools/mote/tokens.h"

namespace mote::cli {
namespace {

/// The encoder's hidden states, as they are traced.
struct HiddenRows {
  std::map<std::string, Array<float>> arrays;
  std::string last;  // the name of those behind the last layer

  static void take(void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                   size_t stride) {
    auto& self = *static_cast<HiddenRows*>(user);
    if (!std::string_view(name).starts_with("hidden.")) return;
    self.last = name;
    Array<float>& to = self.arrays[name];
    for (uint32_t row = 0; row < rows; ++row, data += stride)
      to.values.insert(to.values.end(), data, data + width);
    to.shape = {1, to.values.size() / width, width};
  }
};

mote_session_options transducer_options(mote_session_options options, const ModelFile& file, const Case& item,
                                        HiddenRows& hidden) {
  const uint32_t rows = item.longest();
  options.batch = 2;
  options.chunk = std::max(rows, 2u);
  options.logit_rows = std::max(mote_model_output_rows(file.model(), rows), 2u);
  options.context = std::min(file.info().context, 4096u);
  options.trace = HiddenRows::take;
  options.trace_user = &hidden;
  return options;
}

/// Returns the logits of every frame after every prefix.
Array<float> all_logits(host::Transducer& transducer, const std::vector<int32_t>& ids,
                        const std::vector<float>& frames, uint32_t vocab) {
  const size_t count = frames.size() / transducer.width();
  Array<float> logits{{1, count, ids.size(), vocab}, std::vector<float>(count * ids.size() * vocab)};
  check(transducer.clear());
  for (size_t u = 0; u < ids.size(); ++u) {
    for (size_t t = 0; t < count; ++t) {
      const auto row = take(transducer.ask(ids[u], frames.data() + t * transducer.width(), {}));
      std::copy(row.begin(), row.end(),
                logits.values.begin() + static_cast<ptrdiff_t>((t * ids.size() + u) * vocab));
    }
    check(transducer.keep());
  }
  return logits;
}

void forward_case(const ModelFile& file, const mote_session_options& options, const Case& item,
                  const std::optional<Case>& target, uint32_t generate, bool hidden, Outputs& outputs) {
  if (item.sequences.size() != 1) convert::fail("{} takes one sound at a time", file.path());
  HiddenRows traced;
  Session session(file, transducer_options(options, file, item, traced));
  host::Transducer transducer = take(host::Transducer::make(file.host(), session));
  const std::vector<float> frames = take(transducer.encode(item.sequences[0].values, hooks()));
  const auto encoded = traced.arrays;
  outputs.rows[item.prefix + "encoder_hidden"] = encoded.at(traced.last);
  for (const auto& [name, array] : encoded)
    if (hidden) outputs.rows[item.prefix + name] = array;
  if (target) {
    check_ids(target->sequences[0].ids, file, "forward: " + item.prefix + "decoder_input_ids");
    outputs.rows[item.prefix + "logits"] =
        all_logits(transducer, target->sequences[0].ids, frames, file.info().vocab);
  }
  if (generate == 0) return;
  Array<int64_t> ids, times;
  for (const host::SaidToken& said : take(transducer.say(frames, generate, hooks()))) {
    ids.values.push_back(said.id);
    times.values.push_back(said.frame);
  }
  ids.shape = times.shape = {1, ids.values.size()};
  outputs.ids[item.prefix + "greedy_ids"] = std::move(ids);
  outputs.ids[item.prefix + "greedy_frames"] = std::move(times);
}

}  // namespace

void forward_transducer(const ModelFile& file, const mote_session_options& options, const std::string& path,
                        uint32_t generate, bool hidden, Outputs& outputs) {
  for (const Case& item : read_sound_cases(file, 1, path))
    forward_case(file, options, item, read_target(path, item), generate, hidden, outputs);
}

}  // namespace mote::cli
