// SPDX-License-Identifier: Apache-2.0
#include "host/api/guesses.h"

#include <string>
#include <utility>
#include <vector>

namespace mote::api {

host::SpeculationOptions read_speculation(Options& options, bool draft) {
  host::SpeculationOptions speculation;
  std::string mode = "auto";
  if (draft) {
    options.read_word("speculate", mode, {"off", "auto", "lookup", "draft"});
  } else {
    options.read_word("speculate", mode, {"off", "auto", "lookup"});
  }
  if (mode == "off") speculation.mode = host::Speculate::off;
  if (mode == "lookup") speculation.mode = host::Speculate::lookup;
  if (mode == "draft") speculation.mode = host::Speculate::draft;
  options.read("speculate-max", speculation.most, 1u, uint32_t{MOTE_MOST_GUESSES});
  options.read("speculate-match", speculation.match, 1u, 16u);
  return speculation;
}

host::Result<const host::Model*> draft_wanted(const mote_host& opened,
                                              const host::SpeculationOptions& speculation) {
  MOTE_TAKE(const host::Model* const draft, opened.draft_model());
  if (draft == nullptr && speculation.mode == host::Speculate::draft)
    throw OptionError("option \"speculate\": \"draft\" takes a model that was opened with \"draft\"");
  return host::drafts(speculation.mode) ? draft : nullptr;
}

host::Result<std::optional<host::Draft>> begin_draft(const mote_host& opened, const mote_platform& platform,
                                                     const host::SpeculationOptions& speculation,
                                                     const host::Session& session, uint32_t context) {
  MOTE_TAKE(const host::Model* const draft, draft_wanted(opened, speculation));
  if (draft == nullptr) return std::optional<host::Draft>();
  MOTE_TRY(host::require_draft(*opened.model, *draft));
  if (mote_speculation_hindrance(session.get()) != nullptr) return std::optional<host::Draft>();
  MOTE_TAKE(host::Draft begun, host::Draft::begin(*opened.model, *draft, opened.choices(platform), context));
  return std::optional<host::Draft>(std::move(begun));
}

nlohmann::json guesses_json(const host::GuessReport& report) {
  nlohmann::json guesses = {{"runs", report.counts.runs},
                            {"rows", report.counts.rows},
                            {"drafted", report.counts.guessed},
                            {"stood", report.counts.stood}};
  if (!report.off.empty()) guesses["off"] = report.off;
  return guesses;
}

}  // namespace mote::api
