// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/text_encoder.h"

#include <algorithm>
#include <fstream>
#include <iostream>

#include "converter/error.h"
#include "tools/mote/output.h"
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

}  // namespace

TextEncoder::TextEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
                         bool truncate, uint32_t rows_wanted)
    : file_(file),
      output_(output_of(file)),
      options_(options_for(file, flags, pool, rows_wanted)),
      session_(file, options_),
      truncate_(truncate),
      most_tokens_(std::min(options_.context, options_.chunk)) {}

EncodedText TextEncoder::tokenize_up_to(std::string text, uint32_t most, uint32_t flags) {
  EncodedText encoded{std::move(text), std::vector<int32_t>(most), {}, std::vector<mote_span>(most), 0, 0};
  uint32_t count = 0;
  mote_error error = {};
  if (truncate_) flags |= MOTE_TRUNCATE;
  const mote_status status = mote_tokenize(session_.get(), encoded.text.data(), encoded.text.size(), flags,
                                           encoded.ids.data(), most, &count, encoded.spans.data(), &error);
  if (status == MOTE_TOO_SMALL) {
    convert::fail("\"{}...\" has {} tokens, there is room for {}; --truncate cuts what is longer",
                  one_line(encoded.text.substr(0, 40)), count, most);
  }
  check(status, error, file_.path());
  if (count > most)
    note("\"{}...\": the first {} of {} tokens", one_line(encoded.text.substr(0, 40)), most, count);
  encoded.ids.resize(std::min(count, most));
  encoded.spans.resize(encoded.ids.size());
  encoded.end = static_cast<uint32_t>(encoded.ids.size());
  return encoded;
}

EncodedText TextEncoder::tokenize(std::string text) {
  // Of what a text spells out, only a mask is meant: other texts come from anybody.
  const uint32_t parse = output_.kind == MOTE_OUTPUT_MASKED_TOKEN ? uint32_t{MOTE_PARSE_SPECIAL} : 0;
  EncodedText encoded = tokenize_up_to(std::move(text), most_tokens_, MOTE_ADD_SPECIAL | parse);
  if (encoded.ids.empty()) convert::fail("a text without tokens: \"{}\"", one_line(encoded.text));
  return encoded;
}

/// What stands after (or before) every text: of an empty text there are only these, the last being the one
/// after.
std::vector<int32_t> TextEncoder::special_ids(bool after) {
  const std::vector<int32_t> ids = cli::tokenize(session_, "", MOTE_ADD_SPECIAL);
  const size_t before = ids.size() - std::min<size_t>(ids.size(), 1);
  return after ? std::vector<int32_t>(ids.begin() + static_cast<std::ptrdiff_t>(before), ids.end())
               : std::vector<int32_t>(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(before));
}

EncodedText TextEncoder::tokenize_pair(const std::string& first, std::string second) {
  std::vector<int32_t> ids = special_ids(false);
  const std::vector<int32_t> after = special_ids(true);
  for (const int32_t id : cli::tokenize(session_, first, 0)) ids.push_back(id);
  ids.insert(ids.end(), after.begin(), after.end());
  // The family of RoBERTa, whose separator is "</s>", has two between the texts.
  size_t bytes = 0;
  const char* separator = after.empty() ? nullptr : mote_token_text(file_.model(), after.front(), &bytes);
  if (separator != nullptr && std::string_view(separator, bytes) == "</s>") {
    ids.insert(ids.end(), after.begin(), after.end());
  }
  if (ids.size() + after.size() >= most_tokens_)
    convert::fail("the question alone has {} tokens", ids.size());
  const auto room = static_cast<uint32_t>(most_tokens_ - ids.size() - after.size());
  EncodedText encoded = tokenize_up_to(std::move(second), room, 0);
  const auto head = static_cast<uint32_t>(ids.size());
  encoded.begin = head;
  encoded.end = head + static_cast<uint32_t>(encoded.ids.size());
  encoded.types.assign(head, 0);
  encoded.types.resize(encoded.end + after.size(), output_.token_types > 1 ? 1 : 0);
  encoded.spans.insert(encoded.spans.begin(), head, mote_span{0, 0});
  encoded.spans.resize(encoded.types.size(), mote_span{0, 0});
  ids.insert(ids.end(), encoded.ids.begin(), encoded.ids.end());
  ids.insert(ids.end(), after.begin(), after.end());
  encoded.ids = std::move(ids);
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
                           {}};
    mote_error error = {};
    check(mote_encode(session_.get(), &batch, &error), error, file_.path());
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
