// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/source_search.h"

#include <algorithm>
#include <bit>

#include "host/base/error.h"
#include "tools/mote/ids.h"
#include "tools/mote/output.h"
#include "tools/mote/steps.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

constexpr uint32_t kSearchProgram = 1, kFirstRoom = 64;
constexpr size_t kMostLanguagesShown = 12;

std::string token_text(const ModelFile& file, int32_t id) {
  size_t bytes = 0;
  const char* const text = mote_token_text(file.model(), id, &bytes);
  return text == nullptr ? "" : std::string(text, bytes);
}

bool is_lower(std::string_view text) {
  return text.size() >= 2 && text.size() <= 3 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

/// "en_XX" or "eng_Latn".
bool has_region(std::string_view text) {
  const size_t at = text.find('_');
  if (at == std::string_view::npos || !is_lower(text.substr(0, at))) return false;
  const std::string_view region = text.substr(at + 1);
  if (region.size() != 2 && region.size() != 4) return false;
  return region[0] >= 'A' && region[0] <= 'Z' && std::all_of(region.begin(), region.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
         });
}

bool is_between(std::string_view text, std::string_view before, std::string_view behind) {
  return text.size() > before.size() + behind.size() && text.starts_with(before) && text.ends_with(behind);
}

bool has_language_form(std::string_view text) {
  if (has_region(text)) return true;
  return (is_between(text, "__", "__") || is_between(text, ">>", "<<") || is_between(text, "<lang:", ">")) &&
         text.size() <= 16;
}

}  // namespace

bool is_language_token(const ModelFile& file, int32_t id) { return has_language_form(token_text(file, id)); }

int32_t language_token(const ModelFile& file, const std::string& language) {
  const std::string forms[] = {language, "__" + language + "__", ">>" + language + "<<",
                               "<lang:" + language + ">"};
  std::vector<int32_t> with_region;
  std::vector<std::string> known;
  const auto tokens = static_cast<int32_t>(file.info().tokens);
  int32_t plain = -1;
  for (int32_t id = 0; id < tokens; ++id) {
    const std::string text = token_text(file, id);
    if (text == forms[1] || text == forms[2] || text == forms[3] ||
        (text == forms[0] && has_language_form(text)))
      return id;
    if (text == forms[0]) plain = id;
    if (has_region(text) && text.starts_with(language + "_")) with_region.push_back(id);
    if (has_language_form(text) && known.size() <= kMostLanguagesShown) known.push_back(text);
  }
  if (with_region.size() == 1) return with_region[0];
  if (plain >= 0 && known.empty()) return plain;
  if (known.empty()) convert::fail("{} has no tokens of languages", file.path());
  std::string list;
  for (size_t i = 0; i < std::min(known.size(), kMostLanguagesShown); ++i)
    list += (i == 0 ? "" : ", ") + one_line(known[i]);
  convert::fail("{} has {} '{}'; it has {}{}", file.path(),
                with_region.empty() ? "no language" : "several languages that begin with", language, list,
                known.size() > kMostLanguagesShown ? " and others" : "");
}

mote_beam_options bounded_search(const ModelFile& file, uint32_t context, mote_beam_options options) {
  const auto most = static_cast<uint32_t>(file.info().context);
  const uint32_t bound = context == 0 ? most : std::min(context, most);
  if (options.max_tokens == 0 || options.max_tokens > bound) options.max_tokens = bound;
  options.min_tokens = std::min(options.min_tokens, options.max_tokens);
  return options;
}

std::vector<SourceHypothesis> search_encoded(const ModelFile& file, Session& session,
                                             const mote_beam_options& options,
                                             std::vector<uint64_t>& memory) {
  const int32_t start = file.info().bos_id;
  mote_error error = {};
  check(mote_prefill(session.get(), 0, &start, 1, MOTE_LOGITS_LAST, &error), error, "search");
  memory.resize(mote_beam_bytes(session.get(), &options) / sizeof memory[0] + 1);
  std::vector<mote_beam> beams(options.beams);
  check(mote_beam_search(session.get(), &options, memory.data(), memory.size() * sizeof memory[0],
                         beams.data(), &error),
        error, "search");
  std::vector<SourceHypothesis> found;
  for (const mote_beam& beam : beams) {
    if (beam.count != 0) found.push_back({{beam.ids, beam.ids + beam.count}, beam.score});
  }
  if (found.empty()) convert::fail("the search found nothing that may end");
  return found;
}

std::string text_of_source(const ModelFile& file, const std::vector<int32_t>& ids) {
  return text_of_ids(file, ids, MOTE_SKIP_SPECIAL);
}

SourceSearch::SourceSearch(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                           const mote_beam_options& options)
    : file_(file), session_options_(session_options(file, flags, pool)), options_(options) {
  if (!has_source(file)) {
    convert::fail("{} does not generate over a source: {}", file.path(),
                  is_encoder(file) ? "it is an encoder, see mote embed and mote classify"
                                   : "it continues texts, see mote run");
  }
  if (file.info().bos_id < 0) convert::fail("{} names no token to start at", file.path());
  mote_program_info program;
  mote_model_get_program(file.model(), kSearchProgram, &program);
  most_source_ = program.context;
  options_ = bounded_search(file, flags.context, options_);
  session_options_.context = options_.max_tokens;
  session_options_.batch = options_.beams;
  session_options_.logit_rows = options_.beams;
  make_room(kFirstRoom);
}

void SourceSearch::make_room(size_t tokens) {
  if (session_ != nullptr && tokens <= session_options_.chunk) return;
  const size_t room = std::bit_ceil(std::max<size_t>({tokens, kFirstRoom, options_.beams}));
  session_options_.chunk =
      static_cast<uint32_t>(std::min<size_t>(room, std::max(most_source_, options_.beams)));
  session_.reset();
  session_ = std::make_unique<Session>(file_, session_options_);
}

std::vector<int32_t> SourceSearch::tokenize(const std::string& text) {
  return cli::tokenize(file_, *session_, text, MOTE_PARSE_SPECIAL | MOTE_ADD_SPECIAL);
}

std::vector<SourceHypothesis> SourceSearch::search(const std::vector<int32_t>& source) {
  if (source.empty()) convert::fail("a source has no tokens");
  if (source.size() > most_source_) {
    convert::fail("a source has {} tokens, {} takes {} at most; give it in parts", source.size(),
                  file_.path(), most_source_);
  }
  check_ids(source, file_, "source");
  make_room(source.size());
  const auto length = static_cast<uint32_t>(source.size());
  mote_error error = {};
  for (uint32_t i = 0; i < options_.beams; ++i)
    check(mote_session_truncate(session_->get(), i, 0, &error), error, "source");
  mote_batch batch{};
  batch.ids = source.data();
  batch.lengths = &length;
  batch.count = 1;
  encode(*session_, batch, "source");
  return search_encoded(file_, *session_, options_, memory_);
}

std::string SourceSearch::text_of(const std::vector<int32_t>& ids) const {
  return text_of_source(file_, ids);
}

}  // namespace mote::cli
