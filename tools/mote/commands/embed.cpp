// SPDX-License-Identifier: Apache-2.0
//
// mote embed: lines of text to vectors, or ranked by how near they are to a query.
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "host/base/output_file.h"
#include "tools/mote/arguments.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/output.h"
#include "tools/mote/signals.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct EmbedArguments {
  std::string file, lines = "-", npy, query, prompt, prompt_name;
  std::vector<std::string> images;
  uint32_t top = 0;
  bool json = false, truncate = false, ranks = false, reranks = false, has_prompt = false;
  SessionFlags session;
};

/// NumPy's format, version 1.0: f32 [rows, width].
void write_npy(const std::string& path, const std::vector<float>& values, size_t rows, size_t width) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, width);
  constexpr size_t kBeforeHeader = 10;
  while ((kBeforeHeader + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 255);
  start += static_cast<char>(header.size() >> 8);
  start += header;
  convert::OutputFile output(path);
  output.write(std::as_bytes(std::span(start)));
  output.write(std::as_bytes(std::span(values)));
  output.commit();
}

/// Ranks all lines of the file by the query.
void rank_lines(HostModel& model, const EmbedArguments& arguments, nlohmann::json options) {
  options["top"] = arguments.top;
  const std::string given = options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto call = arguments.reranks ? mote_host_rerank : mote_host_rank;
  std::vector<std::string> texts;
  const auto rank = [&] {
    const InterruptGuard guard;
    const std::vector<mote_host_input> inputs = text_inputs(texts);
    HostCalls calls;
    return calls.take(call(model.get(), inputs.data(), inputs.size(), given.c_str(), calls.get())).json();
  };
  rank();  // what is wrong with the model shows before the lines are read
  texts.push_back(arguments.query);
  for_each_line(arguments.lines, [&](const std::string& line) { texts.push_back(line); });
  for (const nlohmann::json& one : rank()) {
    const auto line = one.at("index").get<size_t>() + 1;  // from 1, of those that are not empty
    const auto score = one.at("score").get<double>();
    if (arguments.json) {
      print_json({{"score", score}, {"line", line}, {"text", texts[line]}});
    } else {
      print("{:7.4f}  {}\n", score, one_line(texts[line]));
    }
  }
}

/// Prints vectors of inputs as they come, or keeps them for a file.
class Vectors {
 public:
  Vectors(HostModel& model, const EmbedArguments& arguments, const nlohmann::json& options)
      : model_(model),
        npy_(arguments.npy),
        options_(options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {}

  /// `kind` names an input in its object.
  void add(const std::vector<mote_host_input>& inputs, const char* kind,
           const std::vector<std::string>& names) {
    const InterruptGuard guard;
    HostCalls calls;
    const HostResult result = calls.take(
        mote_host_embed(model_.get(), inputs.data(), inputs.size(), options_.c_str(), calls.get()));
    width_ = result.json().at("width").get<size_t>();
    rows_ += inputs.size();
    const std::span<const float> values = result.values();
    if (!npy_.empty()) return void(all_.insert(all_.end(), values.begin(), values.end()));
    for (size_t i = 0; i < names.size(); ++i) {
      const std::span<const float> row = values.subspan(i * width_, width_);
      print_json({{kind, names[i]}, {"embedding", std::vector<float>(row.begin(), row.end())}});
    }
  }
  void finish() const {
    if (!npy_.empty()) write_npy(npy_, all_, rows_, width_);
  }

 private:
  HostModel& model_;
  const std::string& npy_;
  std::string options_;
  std::vector<float> all_;
  size_t rows_ = 0, width_ = 0;
};

void embed_pictures(HostModel& model, const EmbedArguments& arguments) {
  if (arguments.images.empty()) usage_fail("{} takes pictures: --image FILE", model.path());
  if (arguments.ranks || arguments.reranks || arguments.has_prompt)
    usage_fail("--rank, --rerank and --prompt are for texts");
  Vectors vectors(model, arguments, nlohmann::json::object());
  for (const std::string& path : arguments.images) vectors.add({file_input(path)}, "picture", {path});
  vectors.finish();
}

void embed_lines(HostModel& model, const EmbedArguments& arguments, const nlohmann::json& options) {
  Vectors vectors(model, arguments, options);
  std::vector<std::string> lines;
  const auto take = [&] {
    vectors.add(text_inputs(lines), "text", lines);
    lines.clear();
  };
  take();  // what is wrong with the model shows before the lines are read
  for_each_line(arguments.lines, [&](const std::string& line) {
    lines.push_back(line);
    if (lines.size() == kLinesAtOnce) take();
  });
  take();
  vectors.finish();
}

void embed(const EmbedArguments& arguments) {
  convert::refuse_input(arguments.npy, {arguments.file, arguments.lines});
  HostModel model(arguments.file, arguments.session);
  model.begin();
  if (model.takes_pictures()) return embed_pictures(model, arguments);
  if (!arguments.images.empty()) usage_fail("{} takes texts, not pictures", model.path());
  nlohmann::json options = {{"truncate", arguments.truncate}};
  if (arguments.reranks) return rank_lines(model, arguments, options);
  if (!arguments.prompt_name.empty()) options["prompt-name"] = arguments.prompt_name;
  if (arguments.has_prompt) options["prompt"] = arguments.prompt;
  if (arguments.ranks) return rank_lines(model, arguments, options);
  embed_lines(model, arguments, options);
}

}  // namespace

void add_embed(CommandLine& line) {
  auto arguments = std::make_shared<EmbedArguments>();
  Command command =
      line.command("embed", "Turn lines of text or pictures into vectors, or rank lines by a query");
  add_model_argument(command, arguments->file);
  command.option("--file", &arguments->lines, "A text file, a text a line (default: standard input)")
      .type("LINES");
  command.option("--image", &arguments->images, "Pictures, PNG or JPEG, for a model of pictures")
      .type("FILE")
      .repeated();
  Option npy = command.option("--npy", &arguments->npy, "Write the vectors to a NumPy file [lines, width]")
                   .type("OUT");
  Option rank = command.option("--rank", &arguments->query, "Print the lines, nearest to this text first")
                    .type("QUERY");
  rank.excludes(npy);
  Option rerank = command
                      .option("--rerank", &arguments->query,
                              "Print the lines by the score that a cross encoder gives each with this text")
                      .type("QUERY");
  rerank.excludes(npy).excludes(rank);
  command.option("--top", &arguments->top, "Print the K nearest only (with --rank or --rerank)").type("K");
  Option prompt =
      command.option("--prompt", &arguments->prompt, "Put this before each line, such as \"query: \"")
          .type("TEXT");
  prompt.excludes(rerank);
  command.option("--prompt-name", &arguments->prompt_name, "Put the model's own prompt of this name there")
      .type("NAME")
      .excludes(rerank)
      .excludes(prompt);
  command.flag("--truncate", &arguments->truncate, "Cut texts that are too long instead of failing");
  command.flag("--json", &arguments->json, "Print an object a line; vectors are printed so anyway");
  add_session_flags(command, arguments->session);
  command.callback([arguments, prompt, rank, rerank] {
    arguments->has_prompt = prompt.given();
    arguments->ranks = rank.given();
    arguments->reranks = rerank.given();
    if (arguments->top != 0 && !arguments->ranks && !arguments->reranks)
      usage_fail("--top is for --rank and --rerank");
    embed(*arguments);
  });
}

}  // namespace mote::cli
