// SPDX-License-Identifier: Apache-2.0
//
// A transcript as mote_host_transcribe returns it, put together from its passages.
#pragma once

#include <string>
#include <vector>

#include "host/api/answers.h"
#include "host/tasks/sound/live.h"
#include "host/tasks/sound/transcribe.h"
#include "mote/host.h"

namespace mote::api {

class CollectedTranscript {
 public:
  /// The model and the calls must outlive it. `words`: segments have theirs.
  CollectedTranscript(const host::Model& model, bool words, const mote_host_calls* calls);

  /// Takes a passage and tells the calls of it; of words, once they are joined to a segment.
  void add(const host::Passage& passage);
  /// Joins the words so far to segments.
  void end();
  void add(const host::Latency& latency);
  std::string text() const { return whole_.text(); }
  nlohmann::json json() const;

 private:
  void tell(const host::Passage& segment);

  const mote_host_calls* calls_;
  host::OnToken on_text_;
  bool with_words_, of_words_;
  host::WholeText whole_;
  std::vector<host::Passage> pending_;  // words that are no segment yet
  nlohmann::json segments_ = nlohmann::json::array(), words_ = nlohmann::json::array(), latency_;
};

}  // namespace mote::api
