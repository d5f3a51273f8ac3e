// SPDX-License-Identifier: Apache-2.0
//
// mote classify: what an encoder's head says of texts: labels, entities, answers, masked words.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "host/base/error.h"
#include "tools/mote/commands/classify_files.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_encoder.h"
#include "tools/mote/spans.h"
#include "tools/mote/text.h"
#include "tools/mote/text_encoder.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

using nlohmann::json;

constexpr uint32_t kMaskedRows = 32;  // words to fill in at once, each with logits over the vocabulary

struct ClassifyArguments {
  std::string file, lines = "-", text, question, text_model;
  std::vector<std::string> images, sounds;
  uint32_t top = 5;
  bool json = false, truncate = false, pairs = false;
  SessionFlags session;
};

/// Indices of the k largest, the largest first.
std::vector<uint32_t> largest(const std::vector<float>& values, size_t k) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  k = std::min(k, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
      [&](uint32_t a, uint32_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  order.resize(k);
  return order;
}

/// Prints what the model says of each text, by the kind of its output.
class Classifier {
 public:
  Classifier(const ClassifyArguments& arguments, const ModelFile& file, const ThreadPool& pool)
      : arguments_(arguments),
        file_(file),
        encoder_(file, arguments.session, pool, arguments.truncate, rows(file)) {
    const mote_output_kind kind = encoder_.output().kind;
    if (kind == MOTE_OUTPUT_EMBEDDING || kind == MOTE_OUTPUT_HIDDEN) {
      convert::fail("{} has no head that labels anything; mote embed makes vectors", file.path());
    }
    if ((kind == MOTE_OUTPUT_ANSWER_SPAN) != !arguments.question.empty()) {
      usage_fail("{}", kind == MOTE_OUTPUT_ANSWER_SPAN ? "this model answers a --question from each text"
                                                       : "--question is for models that answer questions");
    }
    if (arguments.pairs && kind != MOTE_OUTPUT_SEQUENCE_LABELS) usage_fail("--pairs is for labels of texts");
  }

  void add(const std::string& line) {
    texts_.push_back(read(line));
    if (texts_.size() == kLinesAtOnce) flush();
  }

  void flush() {
    std::vector<std::vector<uint32_t>> rows;
    if (encoder_.output().kind == MOTE_OUTPUT_MASKED_TOKEN) {
      for (const EncodedText& text : texts_) rows.push_back(masks_of(text));
    }
    encoder_.encode(
        texts_, [&](size_t i, uint32_t row) { show(texts_[i], row, rows.empty() ? kNoRows : rows[i]); },
        rows);
    texts_.clear();
  }

 private:
  inline static const std::vector<uint32_t> kNoRows;

  static uint32_t rows(const ModelFile& file) {
    mote_output_info output;
    mote_model_get_output(file.model(), &output);
    return output.kind == MOTE_OUTPUT_MASKED_TOKEN ? kMaskedRows : 0;
  }

  EncodedText read(const std::string& line) {
    if (!arguments_.question.empty()) return encoder_.tokenize_pair(arguments_.question, line, true);
    if (!arguments_.pairs) return encoder_.tokenize(line);
    const size_t tab = line.find('\t');
    if (tab == std::string::npos)
      convert::fail("--pairs: \"{}\" has no tab between its texts", one_line(line));
    return encoder_.tokenize_pair(line.substr(0, tab), line.substr(tab + 1));
  }

  std::string token(int32_t id) const {
    size_t bytes = 0;
    const char* text = mote_token_text(file_.model(), id, &bytes);
    return text == nullptr ? "" : std::string(text, bytes);
  }

  std::string label(uint32_t index) const { return one_line(mote_model_label(file_.model(), index)); }

  /// Tokens "[MASK]" or "<mask>", perhaps with the space that decoded words begin with.
  std::vector<uint32_t> masks_of(const EncodedText& text) const {
    std::vector<uint32_t> masks;
    for (uint32_t i = 0; i < text.ids.size(); ++i) {
      std::string name = token(text.ids[i]);
      if (name.starts_with(' ')) name.erase(0, 1);
      if (name == "[MASK]" || name == "<mask>") masks.push_back(i);
    }
    if (masks.empty()) convert::fail("\"{}\" has no [MASK] or <mask> to fill", one_line(text.text));
    return masks;
  }

  void show(const EncodedText& text, uint32_t row, const std::vector<uint32_t>& masks) {
    switch (encoder_.output().kind) {
      case MOTE_OUTPUT_SEQUENCE_LABELS:
        return show_labels(text, row);
      case MOTE_OUTPUT_TOKEN_LABELS:
        return show_entities(text, row);
      case MOTE_OUTPUT_ANSWER_SPAN:
        return show_answers(text, row);
      default:
        return show_fills(text, row, masks);
    }
  }

  void show_labels(const EncodedText& text, uint32_t row) {
    const std::vector<float> probabilities = encoder_.probabilities(row);
    const std::vector<uint32_t> best = largest(probabilities, arguments_.top);
    json labels = json::array();
    std::string line;
    for (const uint32_t i : best) {
      labels.push_back({{"label", label(i)}, {"probability", probabilities[i]}});
      line += fmt::format("{}{} {:.4f}", line.empty() ? "" : ", ", label(i), probabilities[i]);
    }
    if (arguments_.json) return print_json({{"text", text.text}, {"labels", std::move(labels)}});
    print("{}: {}\n", line, one_line(text.text));
  }

  void show_entities(const EncodedText& text, uint32_t row) {
    std::vector<std::vector<float>> probabilities;
    for (uint32_t i = 0; i < text.ids.size(); ++i) probabilities.push_back(encoder_.probabilities(row + i));
    std::vector<std::string> labels;
    for (uint32_t i = 0; i < encoder_.output().labels; ++i) labels.push_back(label(i));
    show_spans(text, find_entities(text, labels, probabilities), "entities");
  }

  void show_answers(const EncodedText& text, uint32_t row) {
    std::vector<float> first, last;
    for (uint32_t i = text.begin; i < text.end; ++i) {
      const std::vector<float> logits = encoder_.row(row + i);
      first.push_back(logits[0]);
      last.push_back(logits[1]);
    }
    show_spans(text, find_answers(text, first, last, arguments_.top), "answers");
  }

  void show_spans(const EncodedText& text, const std::vector<LabelledSpan>& spans, const char* what) {
    const std::vector<uint32_t> characters = character_counts(text.text);
    json found = json::array();
    if (!arguments_.json) print("{}\n", one_line(text.text));
    for (const LabelledSpan& span : spans) {
      const std::string part = text.text.substr(span.bytes.begin, span.bytes.end - span.bytes.begin);
      const uint32_t begin = characters[span.bytes.begin], end = characters[span.bytes.end];
      if (!arguments_.json) {
        print("  {:.4f}  {}{}{} [{}, {})\n", span.probability, span.label, span.label.empty() ? "" : "  ",
              one_line(part), begin, end);
        continue;
      }
      json item = {{"start", begin}, {"end", end}, {"text", part}, {"probability", span.probability}};
      if (!span.label.empty()) item["label"] = span.label;
      found.push_back(std::move(item));
    }
    if (arguments_.json) print_json({{"text", text.text}, {what, std::move(found)}});
  }

  void show_fills(const EncodedText& text, uint32_t row, const std::vector<uint32_t>& masks) {
    json found = json::array();
    if (!arguments_.json) print("{}\n", one_line(text.text));
    for (uint32_t mask = 0; mask < masks.size(); ++mask) {
      const std::vector<float> probabilities = encoder_.probabilities(row + mask);
      json fills = json::array();
      for (const uint32_t id : largest(probabilities, arguments_.top)) {
        const std::string word = token(static_cast<int32_t>(id));
        fills.push_back({{"id", id}, {"token", word}, {"probability", probabilities[id]}});
        if (!arguments_.json) print("  {:.4f}  {}\n", probabilities[id], one_line(word));
      }
      found.push_back(std::move(fills));
    }
    if (arguments_.json) print_json({{"text", text.text}, {"masks", std::move(found)}});
  }

  const ClassifyArguments& arguments_;
  const ModelFile& file_;
  TextEncoder encoder_;
  std::vector<EncodedText> texts_;
};

void classify(const ClassifyArguments& arguments) {
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  if (takes_pictures(file)) {
    if (arguments.images.empty()) usage_fail("{} takes pictures: --image FILE", file.path());
    if (!arguments.sounds.empty()) usage_fail("{} takes pictures, not sound", file.path());
    std::vector<std::string> texts;
    const auto take = [&](const std::string& text) { texts.push_back(text); };
    if (!arguments.text.empty()) take(arguments.text);
    if (arguments.text.empty() && !arguments.text_model.empty()) for_each_line(arguments.lines, take);
    if (texts.empty() && !arguments.text_model.empty()) convert::fail("there are no texts to compare with");
    return classify_pictures({arguments.images, arguments.top, arguments.json, largest}, arguments.text_model,
                             texts, file, arguments.session, pool);
  }
  if (!arguments.images.empty())
    usage_fail("{} takes {}, not pictures", file.path(), takes_sound(file) ? "sound" : "texts");
  if (takes_sound(file)) {
    if (arguments.sounds.empty()) usage_fail("{} takes sound: --sound FILE", file.path());
    return classify_sounds({arguments.sounds, arguments.top, arguments.json, largest}, file,
                           arguments.session, pool);
  }
  if (!arguments.sounds.empty()) usage_fail("{} takes texts, not sound", file.path());
  Classifier classifier(arguments, file, pool);
  if (!arguments.text.empty()) {
    classifier.add(arguments.text);
  } else {
    for_each_line(arguments.lines, [&](const std::string& line) { classifier.add(line); });
  }
  classifier.flush();
}

}  // namespace

void add_classify(CommandLine& line) {
  auto [command, arguments] = model_command(
      line, "classify",
      "Label texts, pictures or sounds, find entities and answers in texts, or fill masked words in",
      classify);
  Option text = command.option("--text", &arguments.text, "The text").type("TEXT");
  command.option("--file", &arguments.lines, "A text file, a text a line (default: standard input)")
      .type("LINES")
      .excludes(text);
  command.option("--image", &arguments.images, "Pictures, PNG or JPEG, for a model of pictures")
      .type("FILE")
      .repeated();
  command.option("--sound", &arguments.sounds, "Sounds, WAV, FLAC or OGG, for a model of sound")
      .type("FILE")
      .repeated();
  command
      .option("--text-model", &arguments.text_model,
              "The texts' tower of a model of pictures and texts: says which texts (--file, --text) fit a "
              "picture")
      .type("MODEL");
  command.option("--question", &arguments.question, "What models for question answering find in each text")
      .type("TEXT");
  command.flag("--pairs", &arguments.pairs, "Lines are two texts with a tab between them, labelled together");
  command.option("--top", &arguments.top, "Most labels, answers or words to print (default: 5)")
      .type("K")
      .range(1u, UINT32_MAX);
  command.flag("--truncate", &arguments.truncate, "Cut texts that are too long instead of failing");
  command.flag("--json", &arguments.json, "Print an object a line");
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
