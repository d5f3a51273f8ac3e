// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/text_encoder.h"

#include <algorithm>
#include <string_view>

#include "host/base/pair_prompts.h"
#include "host/tasks/bounded_steps.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

constexpr uint32_t kTogether = 8;     // texts of a run: enough to share the reading of weights
constexpr size_t kShownOfAText = 40;  // bytes, in messages

/// Returns the texts that the model's authors have around a pair; nothing where its tokenizer joins them.
std::optional<std::array<std::string, 3>> pair_texts_of(const Model& model) {
  std::array<std::string, 3> texts;
  size_t found = 0;
  const char* name = nullptr;
  for (uint32_t i = 0; const char* text = mote_model_prompt(model.get(), i, &name); ++i) {
    for (size_t part = 0; part < texts.size(); ++part) {
      if (std::string_view(name) != kPairPrompts[part]) continue;
      texts[part] = text;
      ++found;
    }
  }
  return found == texts.size() ? std::optional(texts) : std::nullopt;
}

std::string beginning_of(const std::string& text) { return one_line(text.substr(0, kShownOfAText)); }

}  // namespace

Result<TextEncoder> TextEncoder::make(const Model& model, const SessionChoices& choices,
                                      const TextEncoderOptions& given) {
  if (!model.encodes()) return failed(Remedy::generate, "{} is a decoder", model.name());
  MOTE_TRY(require_tokenizer(model, Remedy::forward_ids));
  TextEncoder encoder(model);
  mote_session_options& options = encoder.options_;
  options = session_options(model, choices);
  if (choices.chunk == 0) options.chunk = options.context;
  options.batch = std::min(kTogether, options.chunk);
  options.logit_rows =
      given.rows_wanted == 0 ? options.chunk : std::clamp(given.rows_wanted, options.batch, options.chunk);
  MOTE_TAKE(encoder.session_, Session::begin(model, options));
  encoder.pair_texts_ = pair_texts_of(model);
  encoder.truncate_ = given.truncate;
  encoder.most_tokens_ = std::min(options.context, options.chunk);
  return encoder;
}

Result<TextEncoder::PairIds> TextEncoder::ids_of_pair(const std::string& first,
                                                      const std::string& second) const {
  const auto& [before, between, after] = *pair_texts_;
  const std::string text = before + first + between + second + after;
  PairIds pair{std::vector<int32_t>(most_tokens_), 0};
  mote_error error = {};
  const uint32_t flags = MOTE_PARSE_SPECIAL | (truncate_ ? uint32_t{MOTE_TRUNCATE} : 0);
  MOTE_TAKE(const mote_status status,
            with_text_room(*model_, session_.get(), text.size(), [&](mote_session* in) {
              return mote_tokenize_pair(in, text.data(), text.size(), nullptr, 0, flags, pair.ids.data(),
                                        most_tokens_, &pair.count, nullptr, nullptr, &error);
            }));
  if (status != MOTE_TOO_SMALL) MOTE_TRY(from_core(status, error, model_->name()));
  pair.ids.resize(std::min(pair.count, most_tokens_));
  return pair;
}

/// Tokenizes a pair within the model's own texts, which are read with their special tokens as the original
/// does.
Result<EncodedText> TextEncoder::tokenize_asked(const std::string& first, std::string second,
                                                const Hooks& hooks) const {
  EncodedText encoded{std::move(second), {}, {}, {}, 0, 0};
  MOTE_TAKE(PairIds pair, ids_of_pair(first, encoded.text));
  encoded.ids = std::move(pair.ids);
  if (pair.count > most_tokens_ && !truncate_) return too_long(encoded.text, pair.count);
  if (pair.count > most_tokens_) {
    hooks.say("\"{}...\": {} of {} tokens", beginning_of(encoded.text), most_tokens_, pair.count);
    // The original ends texts that are cut before the texts around the pair, whose last tokens are those that
    // two other pairs have in common.
    MOTE_TAKE(const PairIds one, ids_of_pair("0", "0"));
    MOTE_TAKE(const PairIds other, ids_of_pair("1 2 3 4", "1 2 3 4"));
    const auto ends = std::mismatch(one.ids.rbegin(), one.ids.rend(), other.ids.rbegin(), other.ids.rend());
    const auto kept = std::min(ends.first - one.ids.rbegin(), static_cast<ptrdiff_t>(encoded.ids.size()));
    std::copy_n(one.ids.rbegin(), kept, encoded.ids.rbegin());
  }
  encoded.types.resize(encoded.ids.size());
  encoded.spans.resize(encoded.ids.size());
  return encoded;
}

Status TextEncoder::too_long(const std::string& text, uint32_t count) const {
  return {MOTE_CONTEXT_FULL,
          sentence("\"{}...\" has {} tokens, there is room for {}", beginning_of(text), count, most_tokens_),
          Remedy::truncate};
}

Result<EncodedText> TextEncoder::tokenize(const std::string* first, std::string text, bool cut_second,
                                          const Hooks& hooks) const {
  if (hooks.stopped()) return cancelled();
  if (first != nullptr && pair_texts_) return tokenize_asked(*first, std::move(text), hooks);
  // A mask alone is meant as its token: other texts come from anybody.
  uint32_t flags = MOTE_ADD_SPECIAL;
  if (model().task() == MOTE_TASK_FILL_MASKS) flags |= MOTE_PARSE_SPECIAL;
  if (truncate_) flags |= cut_second ? MOTE_TRUNCATE : MOTE_TRUNCATE | MOTE_CUT_LONGER;
  EncodedText encoded{
      std::move(text), std::vector<int32_t>(most_tokens_), {}, std::vector<mote_span>(most_tokens_), 0, 0};
  std::vector<mote_token_kind> kinds(most_tokens_);
  const std::string& head = first != nullptr ? *first : encoded.text;
  uint32_t count = 0;
  mote_error error = {};
  const std::string_view second = first != nullptr ? std::string_view(encoded.text) : std::string_view();
  const size_t longest = std::max(head.size(), second.size());
  MOTE_TAKE(const mote_status status, with_text_room(*model_, session_.get(), longest, [&](mote_session* in) {
              return mote_tokenize_pair(in, head.data(), head.size(), second.data(), second.size(), flags,
                                        encoded.ids.data(), most_tokens_, &count, encoded.spans.data(),
                                        kinds.data(), &error);
            }));
  if (status == MOTE_TOO_SMALL) return too_long(encoded.text, count);
  MOTE_TRY(from_core(status, error, model_->name()));
  if (count == 0) return failed("a text without tokens: \"{}\"", one_line(encoded.text));
  if (count > most_tokens_) {
    // Both texts of a pair may be cut.
    const bool from_start = encoded.spans[std::min<size_t>(1, most_tokens_ - 1)].begin == 0;
    hooks.say("\"{}...\": the {} {} of {} tokens", beginning_of(encoded.text), from_start ? "first" : "last",
              most_tokens_, count);
    count = most_tokens_;
  }
  encoded.ids.resize(count);
  encoded.spans.resize(count);
  const uint8_t own = first != nullptr ? 1 : 0;
  for (uint32_t i = 0; i < count; ++i) {
    encoded.types.push_back(std::min<int32_t>(kinds[i].type, static_cast<int32_t>(output().token_types) - 1));
    if (kinds[i].text != own) {
      encoded.spans[i] = {0, 0};
      continue;
    }
    if (encoded.end == 0) encoded.begin = i;
    encoded.end = i + 1;
  }
  return encoded;
}

Status TextEncoder::encode(const std::vector<EncodedText>& texts, const Hooks& hooks, const Use& use,
                           const std::vector<std::vector<uint32_t>>& rows) {
  for (size_t first = 0, end = 0; first < texts.size(); first = end) {
    std::vector<int32_t> ids, types;
    std::vector<uint32_t> lengths, wanted, first_rows;
    for (; end < texts.size() && lengths.size() < options_.batch; ++end) {
      const EncodedText& text = texts[end];
      const size_t more = rows.empty() ? 0 : rows[end].size();
      const bool fits =
          ids.size() + text.ids.size() <= options_.chunk && wanted.size() + more <= options_.logit_rows;
      if (!lengths.empty() && !fits) break;
      const auto start = static_cast<uint32_t>(ids.size());
      first_rows.push_back(output().of_sequences != 0 ? static_cast<uint32_t>(lengths.size())
                           : rows.empty()             ? start
                                                      : static_cast<uint32_t>(wanted.size()));
      for (size_t i = 0; i < more; ++i) wanted.push_back(start + rows[end][i]);
      ids.insert(ids.end(), text.ids.begin(), text.ids.end());
      types.insert(types.end(), text.types.begin(), text.types.end());
      types.resize(ids.size(), 0);
      lengths.push_back(static_cast<uint32_t>(text.ids.size()));
    }
    const mote_batch batch{ids.data(),
                           types.data(),
                           lengths.data(),
                           static_cast<uint32_t>(lengths.size()),
                           rows.empty() ? nullptr : wanted.data(),
                           static_cast<uint32_t>(wanted.size()),
                           nullptr,
                           {},
                           {},
                           {}};
    MOTE_TRY(host::encode(session_, batch, hooks, model_->name()));
    for (size_t i = first; i < end; ++i) use(i, first_rows[i - first]);
  }
  return {};
}

}  // namespace mote::host
