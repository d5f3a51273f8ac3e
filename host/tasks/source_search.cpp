// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/source_search.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

constexpr uint32_t kSearchProgram = 1, kFirstRoom = 64;
constexpr size_t kMostLanguagesShown = 12;

}  // namespace

bool is_language_token(const Model& model, int32_t id) {
  int32_t known = -1;
  for (uint32_t i = 0; mote_model_language(model.get(), i, &known) != nullptr; ++i)
    if (known == id) return true;
  return false;
}

Result<int32_t> language_token(const Model& model, const std::string& language) {
  std::vector<int32_t> with_region;
  std::vector<std::string> known;
  int32_t id = -1;
  for (uint32_t i = 0; const char* code = mote_model_language(model.get(), i, &id); ++i) {
    std::string text = model.token_text(id);
    if (language == code || language == text) return id;
    if (text == code && text.starts_with(language + "_")) with_region.push_back(id);
    if (known.size() <= kMostLanguagesShown) known.push_back(std::move(text));
  }
  if (with_region.size() == 1) return with_region[0];
  if (known.empty()) return failed("{} has no tokens of languages", model.name());
  std::string list;
  for (size_t i = 0; i < std::min(known.size(), kMostLanguagesShown); ++i)
    list += (i == 0 ? "" : ", ") + one_line(known[i]);
  return failed("{} has {} '{}'; it has {}{}", model.name(),
                with_region.empty() ? "no language" : "several languages that begin with", language, list,
                known.size() > kMostLanguagesShown ? " and others" : "");
}

mote_beam_options bounded_search(const Model& model, uint32_t context, mote_beam_options options) {
  const auto most = static_cast<uint32_t>(model.info().context);
  const uint32_t bound = context == 0 ? most : std::min(context, most);
  if (options.max_tokens == 0 || options.max_tokens > bound) options.max_tokens = bound;
  options.min_tokens = std::min(options.min_tokens, options.max_tokens);
  return options;
}

Result<std::vector<SourceHypothesis>> search_encoded(const Model& model, Session& session,
                                                     const mote_beam_options& search,
                                                     std::vector<uint64_t>& memory, const Hooks& hooks,
                                                     Speculation* speculation) {
  mote_beam_options options = search;
  options.guesses = speculation == nullptr ? nullptr : speculation->get();
  const int32_t start = model.info().bos_id;
  MOTE_TRY(prefill(session, {&start, 1}, hooks, "search"));
  memory.resize(mote_beam_bytes(session.get(), &options) / sizeof memory[0] + 1);
  mote_error error = {};
  mote_beam_run* run = nullptr;
  MOTE_TRY(from_core(
      mote_beam_begin(session.get(), &options, memory.data(), memory.size() * sizeof memory[0], &run, &error),
      error, "search"));
  MOTE_TRY(in_steps(hooks, [&](uint32_t operations, int& done) {
    MOTE_TRY(from_core(mote_beam_step(run, operations, &done, &error), error, "search"));
    if (speculation != nullptr) speculation->stepped();
    return Status();
  }));
  std::vector<mote_beam> beams(options.beams);
  MOTE_TRY(from_core(mote_beam_result(run, beams.data(), &error), error, "search"));
  std::vector<SourceHypothesis> found;
  for (const mote_beam& beam : beams) {
    if (beam.count != 0) found.push_back({{beam.ids, beam.ids + beam.count}, beam.score});
  }
  if (found.empty()) return failed("the search found nothing that may end");
  return found;
}

Result<SourceSearch> SourceSearch::make(const Model& model, const SessionChoices& choices,
                                        const mote_beam_options& options,
                                        const SpeculationOptions& speculation) {
  if (!model.has_source()) {
    return model.encodes() ? failed(Remedy::encoder_tasks,
                                    "{} does not generate over a source: it is an encoder", model.name())
                           : failed(Remedy::continue_text,
                                    "{} does not generate over a source: it continues texts", model.name());
  }
  if (model.info().bos_id < 0) return failed("{} names no token to start at", model.name());
  SourceSearch search(model);
  mote_program_info program;
  mote_model_get_program(model.get(), kSearchProgram, &program);
  search.most_source_ = program.context;
  search.options_ = bounded_search(model, choices.context, options);
  search.session_options_ = session_options(model, choices);
  search.session_options_.context = search.options_.max_tokens;
  search.session_options_.batch = search.session_options_.logit_rows = search.options_.beams;
  search.speculation_ = speculation;
  MOTE_TRY(search.make_room(kFirstRoom));
  return search;
}

Status SourceSearch::make_room(size_t tokens) {
  if (session_.get() != nullptr && tokens <= session_options_.chunk) return {};
  const size_t room = std::bit_ceil(std::max<size_t>({tokens, kFirstRoom, options_.beams}));
  session_options_.chunk =
      static_cast<uint32_t>(std::min<size_t>(room, std::max(most_source_, options_.beams)));
  const bool guesses = options_.beams == 1 && speculation_.mode != Speculate::off;
  session_options_.logit_rows =
      guesses ? std::min(speculation_.logit_rows(), session_options_.chunk) : options_.beams;
  session_ = Session();
  MOTE_TAKE(session_, Session::begin(*model_, session_options_));
  return {};
}

Result<std::vector<int32_t>> SourceSearch::tokenize(const std::string& text) const {
  return host::tokenize(*model_, session_, text, MOTE_PARSE_SPECIAL | MOTE_ADD_SPECIAL);
}

Result<std::vector<SourceHypothesis>> SourceSearch::search(std::span<const int32_t> source,
                                                           const Hooks& hooks) {
  if (source.empty()) return failed("a source has no tokens");
  if (source.size() > most_source_) {
    return failed("a source has {} tokens, {} takes {} at most; give it in parts", source.size(),
                  model_->name(), most_source_);
  }
  MOTE_TRY(check_ids(*model_, source, "source"));
  MOTE_TRY(make_room(source.size()));
  const auto length = static_cast<uint32_t>(source.size());
  mote_error error = {};
  for (uint32_t i = 0; i < options_.beams; ++i) {
    MOTE_TRY(from_core(mote_session_truncate(session_.get(), i, 0, &error), error, "source"));
  }
  mote_batch batch{};
  batch.ids = source.data();
  batch.lengths = &length;
  batch.count = 1;
  MOTE_TRY(encode(session_, batch, hooks, "source"));
  MOTE_TAKE(Speculation* const speculation, begin_guesses(source));
  const mote_speculation_counts before = speculation == nullptr ? guesses_.counts : speculation->counts();
  auto found = search_encoded(*model_, session_, options_, memory_, hooks, speculation);
  if (speculation != nullptr) guesses_.counts = counts_since(speculation->counts(), before);
  return found;
}

/// Returns the guesses of a search over the source, parts of which its text may repeat; null: there are none.
Result<Speculation*> SourceSearch::begin_guesses(std::span<const int32_t> source) {
  guesses_ = {};
  if (speculation_.mode == Speculate::off) guesses_.off = "switched off";
  if (guesses_.off.empty() && options_.beams > 1) guesses_.off = "the search has several beams";
  if (const char* why = mote_speculation_hindrance(session_.get()); guesses_.off.empty() && why != nullptr)
    guesses_.off = why;
  if (!guesses_.off.empty()) return nullptr;
  MOTE_TAKE(Speculation* const speculation, session_.speculation(speculation_));
  speculation->begin_search(source);
  return speculation;
}

Result<std::string> SourceSearch::text_of(std::span<const int32_t> ids) const {
  return text_of_ids(*model_, ids, MOTE_SKIP_SPECIAL);
}

}  // namespace mote::host
