// SPDX-License-Identifier: Apache-2.0
//
// mote embed: lines of text to vectors, or ranked by how near they are to a query.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/tasks/vectors.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_encoder.h"
#include "tools/mote/signals.h"
#include "tools/mote/text_encoder.h"
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

/// Calls take(lines) with as many lines of a file at once as an encoder gets.
void for_each_lines(const std::string& path,
                    const std::function<void(const std::vector<std::string>&)>& take) {
  std::vector<std::string> lines;
  for_each_line(path, [&](const std::string& line) {
    lines.push_back(line);
    if (lines.size() < kLinesAtOnce) return;
    take(lines);
    lines.clear();
  });
  take(lines);
}

/// Runs a task with what the lines give it: task(lines, relay).
template <class Task>
void run_on_lines(const std::string& path, Task task) {
  for_each_lines(path, [&](const std::vector<std::string>& lines) {
    const InterruptGuard guard;
    Relay relay;
    relay.check(task(lines, relay));
  });
}

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

struct Ranked {
  double score;
  size_t line;  // from 1, of those that are not empty
  std::string text;
};

void print_ranked(std::vector<Ranked> ranked, const EmbedArguments& arguments) {
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
  if (arguments.top != 0 && ranked.size() > arguments.top) ranked.resize(arguments.top);
  for (const Ranked& line : ranked) {
    if (arguments.json) {
      print_json({{"score", line.score}, {"line", line.line}, {"text", line.text}});
    } else {
      print("{:7.4f}  {}\n", line.score, one_line(line.text));
    }
  }
}

void rank_lines(host::Ranker& ranker, const EmbedArguments& arguments) {
  {
    const InterruptGuard guard;
    check(ranker.ask(arguments.query, hooks()));
  }
  std::vector<Ranked> ranked;
  run_on_lines(arguments.lines, [&](const std::vector<std::string>& lines, Relay& relay) {
    return ranker.score(lines, relay.hooks(), [&](size_t i, double score) {
      ranked.push_back({score, ranked.size() + 1, lines[i]});
    });
  });
  print_ranked(std::move(ranked), arguments);
}

void embed_pictures(const ModelFile& file, const EmbedArguments& arguments, const ThreadPool& pool) {
  if (arguments.images.empty()) usage_fail("{} takes pictures: --image FILE", file.path());
  if (arguments.ranks || arguments.reranks || arguments.has_prompt)
    usage_fail("--rank, --rerank and --prompt are for texts");
  PictureEncoder encoder(file, arguments.session, pool);
  if (encoder.output().kind != MOTE_OUTPUT_EMBEDDING) convert::fail("{} gives no vectors", file.path());
  std::vector<float> all;
  for (const std::string& path : arguments.images) {
    encoder.encode(path);
    const std::vector<float> vector = encoder.row();
    if (arguments.npy.empty()) print_json({{"picture", path}, {"embedding", vector}});
    all.insert(all.end(), vector.begin(), vector.end());
  }
  if (!arguments.npy.empty()) write_npy(arguments.npy, all, arguments.images.size(), encoder.output().width);
}

void embed(const EmbedArguments& arguments) {
  convert::refuse_input(arguments.npy, {arguments.file, arguments.lines});
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  if (takes_pictures(file)) return embed_pictures(file, arguments, pool);
  if (!arguments.images.empty()) usage_fail("{} takes texts, not pictures", file.path());
  const host::SessionChoices choices = session_choices(file, arguments.session, pool);
  if (arguments.reranks) {
    host::Ranker ranker = take(host::Ranker::by_pairs(file.host(), choices, arguments.truncate));
    return rank_lines(ranker, arguments);
  }
  host::EmbedOptions options{std::nullopt, arguments.prompt_name, arguments.truncate};
  if (arguments.has_prompt) options.prompt = arguments.prompt;
  if (arguments.ranks) {
    host::Ranker ranker = take(host::Ranker::by_vectors(file.host(), choices, options));
    return rank_lines(ranker, arguments);
  }
  host::Embedder embedder = take(host::Embedder::make(file.host(), choices, options));
  std::vector<float> all;
  size_t rows = 0;
  run_on_lines(arguments.lines, [&](const std::vector<std::string>& lines, Relay& relay) {
    return embedder.embed(lines, relay.hooks(), relay.wrap([&](size_t i, std::span<const float> vector) {
      ++rows;
      if (arguments.npy.empty())
        return print_json(
            {{"text", lines[i]}, {"embedding", std::vector<float>(vector.begin(), vector.end())}});
      all.insert(all.end(), vector.begin(), vector.end());
    }));
  });
  if (!arguments.npy.empty()) write_npy(arguments.npy, all, rows, embedder.width());
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
