// SPDX-License-Identifier: Apache-2.0
//
// mote classify: what an encoder's head says of texts: labels, entities, answers, masked words.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "host/tasks/labels.h"
#include "host/tasks/text.h"
#include "tools/mote/commands/classify_files.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_encoder.h"
#include "tools/mote/signals.h"
#include "tools/mote/text.h"
#include "tools/mote/text_encoder.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

using nlohmann::json;

struct ClassifyArguments {
  std::string file, lines = "-", text, question, text_model;
  std::vector<std::string> images, sounds;
  uint32_t top = 5;
  bool json = false, truncate = false, pairs = false;
  SessionFlags session;
};

/// Prints what the model says of each text, by the kind of its output.
class Classifier {
 public:
  Classifier(const ClassifyArguments& arguments, const ModelFile& file, const ThreadPool& pool)
      : arguments_(arguments), classifier_(make(arguments, file, pool)) {
    if (arguments.pairs && classifier_.kind() != MOTE_OUTPUT_SEQUENCE_LABELS)
      usage_fail("--pairs is for labels of texts");
  }

  void add(const std::string& line) {
    texts_.push_back(read(line));
    if (texts_.size() == kLinesAtOnce) flush();
  }

  void flush() {
    const InterruptGuard guard;
    Relay relay;
    relay.check(classifier_.classify(
        texts_, relay.hooks(),
        relay.wrap([&](const EncodedText& text, const host::TextReading& reading) { show(text, reading); })));
    texts_.clear();
  }

 private:
  static host::TextClassifier make(const ClassifyArguments& arguments, const ModelFile& file,
                                   const ThreadPool& pool) {
    auto made = host::TextClassifier::make(file.host(), session_choices(file, arguments.session, pool),
                                           {arguments.question, arguments.top, arguments.truncate});
    const host::Remedy remedy = made.status().remedy();
    if (remedy == host::Remedy::give_question) usage_fail("this model answers a --question from each text");
    if (remedy == host::Remedy::no_question) usage_fail("--question is for models that answer questions");
    return take(std::move(made));
  }

  EncodedText read(const std::string& line) {
    if (!arguments_.pairs) return take(classifier_.read(line, hooks()));
    const size_t tab = line.find('\t');
    if (tab == std::string::npos)
      convert::fail("--pairs: \"{}\" has no tab between its texts", one_line(line));
    return take(classifier_.read_pair(line.substr(0, tab), line.substr(tab + 1), hooks()));
  }

  void show(const EncodedText& text, const host::TextReading& reading) {
    switch (classifier_.kind()) {
      case MOTE_OUTPUT_SEQUENCE_LABELS:
        return show_labels(text, reading.labels);
      case MOTE_OUTPUT_TOKEN_LABELS:
        return show_spans(text, reading.spans, "entities");
      case MOTE_OUTPUT_ANSWER_SPAN:
        return show_spans(text, reading.spans, "answers");
      default:
        return show_fills(text, reading.masks);
    }
  }

  void show_labels(const EncodedText& text, const std::vector<host::Label>& found) {
    json labels = json::array();
    std::string line;
    for (const auto& [name, probability] : found) {
      labels.push_back({{"label", name}, {"probability", probability}});
      line += fmt::format("{}{} {:.4f}", line.empty() ? "" : ", ", name, probability);
    }
    if (arguments_.json) return print_json({{"text", text.text}, {"labels", std::move(labels)}});
    print("{}: {}\n", line, one_line(text.text));
  }

  void show_spans(const EncodedText& text, const std::vector<host::LabelledSpan>& spans, const char* what) {
    const std::vector<uint32_t> characters = host::character_counts(text.text);
    json found = json::array();
    if (!arguments_.json) print("{}\n", one_line(text.text));
    for (const host::LabelledSpan& span : spans) {
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

  void show_fills(const EncodedText& text, const std::vector<std::vector<host::Fill>>& masks) {
    json found = json::array();
    if (!arguments_.json) print("{}\n", one_line(text.text));
    for (const std::vector<host::Fill>& mask : masks) {
      json fills = json::array();
      for (const auto& [id, token, probability] : mask) {
        fills.push_back({{"id", id}, {"token", token}, {"probability", probability}});
        if (!arguments_.json) print("  {:.4f}  {}\n", probability, one_line(token));
      }
      found.push_back(std::move(fills));
    }
    if (arguments_.json) print_json({{"text", text.text}, {"masks", std::move(found)}});
  }

  const ClassifyArguments& arguments_;
  host::TextClassifier classifier_;
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
    return classify_pictures({arguments.images, arguments.top, arguments.json, host::largest},
                             arguments.text_model, texts, file, arguments.session, pool);
  }
  if (!arguments.images.empty())
    usage_fail("{} takes {}, not pictures", file.path(), takes_sound(file) ? "sound" : "texts");
  if (takes_sound(file)) {
    if (arguments.sounds.empty()) usage_fail("{} takes sound: --sound FILE", file.path());
    return classify_sounds({arguments.sounds, arguments.top, arguments.json, host::largest}, file,
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
