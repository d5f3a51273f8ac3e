// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/text_encoder.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>

#include "converter/chat_formats/pair_texts.h"
#include "host/base/error.h"
#include "tools/mote/output.h"
#include "tools/mote/steps.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

constexpr uint32_t kTogether = 8;  // texts of a run: enough to share the reading of weights

mote_session_options options_for(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                                 uint32_t rows_wanted) {
  if (!is_encoder(file)) convert::fail("{} is a decoder: use mote run or mote chat", file.path());
  require_tokenizer(file, "mote forward takes ids");
  mote_session_options options = session_options(file, flags, pool);
  if (flags.chunk == 0) options.chunk = options.context;
  options.batch = std::min(kTogether, options.chunk);
  options.logit_rows =
      rows_wanted == 0 ? options.chunk : std::clamp(rows_wanted, options.batch, options.chunk);
  return options;
}

mote_output_info output_of(const ModelFile& file) {
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  return output;
}

/// The texts that the model's authors have around a pair; nothing where its tokenizer joins them.
std::optional<std::array<std::string, 3>> pair_texts_of(const ModelFile& file) {
  std::array<std::string, 3> texts;
  size_t found = 0;
  const char* name = nullptr;
  for (uint32_t i = 0; const char* text = mote_model_prompt(file.model(), i, &name); ++i) {
    for (size_t part = 0; part < texts.size(); ++part) {
      if (std::string_view(name) != convert::kPairPrompts[part]) continue;
      texts[part] = text;
      ++found;
    }
  }
  return found == texts.size() ? std::optional(texts) : std::nullopt;
}

}  // namespace

TextEncoder::TextEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                         bool truncate, uint32_t rows_wanted)
    : file_(file),
      output_(output_of(file)),
      options_(options_for(file, flags, pool, rows_wanted)),
      session_(file, options_),
      pair_texts_(pair_texts_of(file)),
      truncate_(truncate),
      most_tokens_(std::min(options_.context, options_.chunk)) {}

std::vector<int32_t> TextEncoder::ids_of_pair(const std::string& first, const std::string& second,
                                              uint32_t& count) {
  const auto& [before, between, after] = *pair_texts_;
  const std::string text = before + first + between + second + after;
  std::vector<int32_t> ids(most_tokens_);
  mote_error error = {};
  const uint32_t flags = MOTE_PARSE_SPECIAL | (truncate_ ? uint32_t{MOTE_TRUNCATE} : 0);
  const mote_status status = with_text_room(file_, session_.get(), text.size(), [&](mote_session* in) {
    return mote_tokenize_pair(in, text.data(), text.size(), nullptr, 0, flags, ids.data(), most_tokens_,
                              &count, nullptr, nullptr, &error);
  });
  if (status != MOTE_TOO_SMALL) check(status, error, file_.path());
  ids.resize(std::min(count, most_tokens_));
  return ids;
}

EncodedText TextEncoder::tokenize_asked(const std::string& first, std::string second) {
  uint32_t count = 0;
  EncodedText encoded{std::move(second), {}, {}, {}, 0, 0};
  encoded.ids = ids_of_pair(first, encoded.text, count);
  if (count > most_tokens_ && !truncate_) fail_too_long(encoded.text, count);
  if (count > most_tokens_) {
    note("\"{}...\": {} of {} tokens", one_line(encoded.text.substr(0, 40)), most_tokens_, count);
    // As the original: what is cut away ends before the texts around the pair do. Their last tokens are those
    // that two other pairs have in common.
    uint32_t ignored = 0;
    const std::vector<int32_t> one = ids_of_pair("0", "0", ignored),
                               other = ids_of_pair("1 2 3 4", "1 2 3 4", ignored);
    const auto ends = std::mismatch(one.rbegin(), one.rend(), other.rbegin(), other.rend());
    const auto kept = std::min(ends.first - one.rbegin(), static_cast<ptrdiff_t>(encoded.ids.size()));
    std::copy_n(one.rbegin(), kept, encoded.ids.rbegin());
  }
  encoded.types.resize(encoded.ids.size());
  encoded.spans.resize(encoded.ids.size());
  return encoded;
}

void TextEncoder::fail_too_long(const std::string& text, uint32_t count) const {
  convert::fail("\"{}...\" has {} tokens, there is room for {}; --truncate cuts what is longer",
                one_line(text.substr(0, 40)), count, most_tokens_);
}

EncodedText TextEncoder::tokenize(const std::string* first, std::string text, bool cut_second) {
  if (first != nullptr && pair_texts_) return tokenize_asked(*first, std::move(text));
  // Of what a text spells out, only a mask is meant: other texts come from anybody.
  uint32_t flags = MOTE_ADD_SPECIAL;
  if (output_.kind == MOTE_OUTPUT_MASKED_TOKEN) flags |= MOTE_PARSE_SPECIAL;
  if (truncate_) flags |= cut_second ? MOTE_TRUNCATE : MOTE_TRUNCATE | MOTE_CUT_LONGER;
  EncodedText encoded{
      std::move(text), std::vector<int32_t>(most_tokens_), {}, std::vector<mote_span>(most_tokens_), 0, 0};
  std::vector<mote_token_kind> kinds(most_tokens_);
  const std::string& head = first != nullptr ? *first : encoded.text;
  uint32_t count = 0;
  mote_error error = {};
  const std::string_view second = first != nullptr ? std::string_view(encoded.text) : std::string_view();
  const size_t longest = std::max(head.size(), second.size());
  const mote_status status = with_text_room(file_, session_.get(), longest, [&](mote_session* in) {
    return mote_tokenize_pair(in, head.data(), head.size(), second.data(), second.size(), flags,
                              encoded.ids.data(), most_tokens_, &count, encoded.spans.data(), kinds.data(),
                              &error);
  });
  if (status == MOTE_TOO_SMALL) fail_too_long(encoded.text, count);
  check(status, error, file_.path());
  if (count == 0) convert::fail("a text without tokens: \"{}\"", one_line(encoded.text));
  if (count > most_tokens_) {
    // Of a pair both may be cut.
    const bool from_start = encoded.spans[std::min<size_t>(1, most_tokens_ - 1)].begin == 0;
    note("\"{}...\": the {} {} of {} tokens", one_line(encoded.text.substr(0, 40)),
         from_start ? "first" : "last", most_tokens_, count);
    count = most_tokens_;
  }
  encoded.ids.resize(count);
  encoded.spans.resize(count);
  const uint8_t own = first != nullptr ? 1 : 0;
  for (uint32_t i = 0; i < count; ++i) {
    encoded.types.push_back(std::min<int32_t>(kinds[i].type, static_cast<int32_t>(output_.token_types) - 1));
    if (kinds[i].text != own) {
      encoded.spans[i] = {0, 0};
      continue;
    }
    if (encoded.end == 0) encoded.begin = i;
    encoded.end = i + 1;
  }
  return encoded;
}

void TextEncoder::encode(const std::vector<EncodedText>& texts, const Use& use,
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
      first_rows.push_back(output_.of_sequences != 0 ? static_cast<uint32_t>(lengths.size())
                           : rows.empty()            ? start
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
                           {}};
    cli::encode(session_, batch, file_.path());
    for (size_t i = first; i < end; ++i) use(i, first_rows[i - first]);
  }
}

std::vector<float> TextEncoder::row(uint32_t index) const {
  const float* values = mote_session_output(session_.get(), index);
  return {values, values + output_.width};
}

std::vector<float> TextEncoder::probabilities(uint32_t index) const {
  std::vector<float> values(output_.width);
  mote_error error = {};
  check(mote_probabilities(session_.get(), index, values.data(), output_.width, &error), error, file_.path());
  return values;
}

void for_each_line(const std::string& path, const std::function<void(const std::string&)>& take) {
  std::ifstream file;
  if (path != "-") {
    refuse_directory(path);
    file.open(path, std::ios::binary);
    if (!file) convert::fail("cannot read {}: is it there, and may it be read?", path);
  }
  std::istream& in = path == "-" ? std::cin : file;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) take(line);
  }
}

std::vector<uint32_t> character_counts(std::string_view text) {
  std::vector<uint32_t> counts(text.size() + 1);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80;
    counts[i + 1] = counts[i] + (starts ? 1 : 0);
  }
  return counts;
}

}  // namespace mote::cli
