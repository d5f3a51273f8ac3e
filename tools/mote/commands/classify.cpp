// SPDX-License-Identifier: Apache-2.0
//
// mote classify: what an encoder's head says of texts: labels, entities, answers, masked words.
#include <nlohmann/json.hpp>
#include <string_view>

#include "host/base/error.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/lines.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_flags.h"
#include "tools/mote/signals.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

using nlohmann::json;

struct ClassifyArguments {
  std::string file, text, question, text_model, size;
  LineFlags lines;
  std::vector<std::string> images, sounds;
  uint32_t top = 5;
  bool json = false, truncate = false, pairs = false;
  SessionFlags session;
};

/// Returns the part of a text between characters, as mote/host.h counts them.
std::string part_of(const std::string& text, const json& span) {
  const auto begin = span.at("start").get<size_t>(), end = span.at("end").get<size_t>();
  std::string part;
  size_t starts = 0;  // of characters up to the byte at hand
  for (const char c : text) {
    starts += (static_cast<uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0;
    if (starts > begin && starts <= end) part += c;
  }
  return part;
}

/// `show` makes a label's text fit a line.
std::string labels_line(const json& labels, std::string (*show)(std::string_view)) {
  std::string line;
  for (const json& label : labels) {
    line += fmt::format("{}{} {:.4f}", line.empty() ? "" : ", ", show(label.at("label").get<std::string>()),
                        label.at("probability").get<float>());
  }
  return line;
}

std::string as_it_is(std::string_view label) { return std::string(label); }

void show_spans(const std::string& text, const json& spans) {
  print("{}\n", one_line(text));
  for (const json& span : spans) {
    const std::string label = span.value("label", "");
    print("  {:.4f}  {}{}{} [{}, {})\n", span.at("probability").get<float>(), label,
          label.empty() ? "" : "  ", one_line(part_of(text, span)), span.at("start").get<uint32_t>(),
          span.at("end").get<uint32_t>());
  }
}

void show_fills(const std::string& text, const json& masks) {
  print("{}\n", one_line(text));
  for (const json& mask : masks) {
    for (const json& fill : mask)
      print("  {:.4f}  {}\n", fill.at("probability").get<float>(),
            one_line(fill.at("token").get<std::string>()));
  }
}

/// Prints what the model says of texts, as many lines at once as an encoder gets.
class Classifier {
 public:
  Classifier(const ClassifyArguments& arguments, HostModel& model) : arguments_(arguments), model_(model) {
    json options = {{"top", arguments.top}, {"truncate", arguments.truncate}, {"pairs", arguments.pairs}};
    if (!arguments.question.empty()) options["question"] = arguments.question;
    options_ = options.dump(-1, ' ', false, json::error_handler_t::replace);
    begin();
    const auto task = model.about().at("task").get<std::string>();
    if (arguments.pairs && task != "label_texts" && task != "score_pairs")
      usage_fail("--pairs is for labels of texts");
  }

  void add(Line line) {
    split(line.text, fmt::format("{}: line {}: ", arguments_.lines.file, line.number));
    lines_.push_back(std::move(line));
    if (lines_.size() == kLinesAtOnce) flush();
  }
  void add(const std::string& text) { split(text, ""); }

  void flush() {
    const InterruptGuard guard;
    const json found =
        call_with_lines(arguments_.lines.file, lines_, each(), text_inputs(texts_), [&](auto inputs) {
          return call(inputs);
        }).json();
    for (size_t i = 0; i < found.size(); ++i) show(texts_[(i + 1) * each() - 1], found[i]);
    texts_.clear();
    lines_.clear();
  }

 private:
  /// Takes the two texts of a pair apart; nothing is a pair of nothing.
  void split(const std::string& text, const std::string& place) {
    if (!arguments_.pairs) return texts_.push_back(text);
    const size_t tab = text.find('\t');
    if (tab == std::string::npos && !text.empty())
      convert::fail("{}--pairs: \"{}\" has no tab between its texts", place, one_line(text));
    texts_.push_back(text.substr(0, tab));
    texts_.push_back(tab == std::string::npos ? "" : text.substr(tab + 1));
  }

  size_t each() const { return arguments_.pairs ? 2 : 1; }

  HostResult call(std::span<const mote_host_input> inputs) {
    HostCalls calls;
    return calls.take(
        mote_host_classify(model_.get(), inputs.data(), inputs.size(), options_.c_str(), calls.get()));
  }

  void begin() {
    try {
      call({});
    } catch (const HostFailure& failure) {
      if (failure.remedy() == MOTE_REMEDY_GIVE_QUESTION)
        usage_fail("this model answers a --question from each text");
      if (failure.remedy() == MOTE_REMEDY_NO_QUESTION)
        usage_fail("--question is for models that answer questions");
      throw;
    }
  }

  void show(const std::string& text, const json& found) const {
    if (arguments_.json) return print_json(found);
    if (found.contains("labels"))
      return print("{}: {}\n", labels_line(found.at("labels"), as_it_is), one_line(text));
    if (found.contains("masks")) return show_fills(text, found.at("masks"));
    show_spans(text, found.contains("entities") ? found.at("entities") : found.at("answers"));
  }

  const ClassifyArguments& arguments_;
  HostModel& model_;
  std::string options_;
  std::vector<Line> lines_;         // where the texts are from; none: of the command line
  std::vector<std::string> texts_;  // one or two of each line
};

/// Labels files one at a time: by the model's own labels or by `texts`. `kind` names a file.
void classify_files(const ClassifyArguments& arguments, HostModel& model, const char* kind,
                    const std::vector<std::string>& paths, const std::vector<std::string>& texts) {
  json given = {{"top", arguments.top}};
  if (!arguments.size.empty()) given["size"] = arguments.size;
  const std::string options = given.dump();
  for (const std::string& path : paths) {
    std::vector<mote_host_input> inputs = text_inputs(texts);
    inputs.insert(inputs.begin(), file_input(path));
    const InterruptGuard guard;
    HostCalls calls;
    json found =
        calls
            .take(mote_host_classify(model.get(), inputs.data(), inputs.size(), options.c_str(), calls.get()))
            .json()
            .at(0);
    if (!arguments.json) {
      print("{}: {}\n", labels_line(found.at("labels"), one_line), one_line(path));
      continue;
    }
    found[kind] = path;
    print_json(found);
  }
}

/// Returns the texts that pictures or sounds are compared with; none without a tower of texts.
std::vector<std::string> compared_texts(const ClassifyArguments& arguments) {
  std::vector<std::string> texts;
  if (arguments.text_model.empty()) return texts;
  if (!arguments.text.empty()) {
    texts.push_back(arguments.text);
  } else {
    for_each_line(arguments.lines, [&](Line line, double) { texts.push_back(line.text); });
  }
  if (texts.empty()) convert::fail("there are no texts to compare with");
  return texts;
}

void classify_pictures(const ClassifyArguments& arguments, HostModel& model) {
  const std::string& path = model.path();
  if (arguments.images.empty()) usage_fail("{} takes pictures: --image FILE", path);
  if (!arguments.sounds.empty()) usage_fail("{} takes pictures, not sound", path);
  classify_files(arguments, model, "picture", arguments.images, compared_texts(arguments));
}

void classify(const ClassifyArguments& arguments) {
  check_picture_size(arguments.size);
  json options = json::object();
  if (!arguments.text_model.empty()) options["text-model"] = arguments.text_model;
  HostModel model(arguments.file, arguments.session, options);
  model.begin();
  if (model.takes_pictures()) return classify_pictures(arguments, model);
  if (!arguments.images.empty() || !arguments.size.empty())
    usage_fail("{} takes {}, not pictures", model.path(), model.takes_sound() ? "sound" : "texts");
  if (model.takes_sound()) {
    if (arguments.sounds.empty()) usage_fail("{} takes sound: --sound FILE", model.path());
    return classify_files(arguments, model, "sound", arguments.sounds, compared_texts(arguments));
  }
  if (!arguments.sounds.empty()) usage_fail("{} takes texts, not sound", model.path());
  Classifier classifier(arguments, model);
  if (!arguments.text.empty()) {
    classifier.add(arguments.text);
  } else {
    for_each_line(arguments.lines, [&](Line line, double) { classifier.add(std::move(line)); });
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
  add_line_flags(command, arguments.lines, false).excludes(text);
  command
      .option("--image", &arguments.images,
              "Pictures (PNG, JPEG, WebP, GIF, BMP, TIFF, PNM), for a model of pictures")
      .type("FILE")
      .repeated();
  add_picture_size(command, arguments.size);
  command
      .option("--sound", &arguments.sounds,
              "Sounds, for a model of sound: WAV; with libsndfile FLAC, MP3, Ogg Vorbis, Opus and others")
      .type("FILE")
      .repeated();
  command
      .option(
          "--text-model", &arguments.text_model,
          "The texts' tower of a model of pictures or sounds and texts: says which texts (--file, --text) "
          "fit a picture or a sound")
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
