// SPDX-License-Identifier: Apache-2.0
//
// mote embed: lines of text to vectors, or ranked by how near they are to a query.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/measure/eval_texts.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_encoder.h"
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

/// Calls use(line, its row of outputs) for each line, in order.
void encode_lines(TextEncoder& encoder, const std::string& path,
                  const std::function<EncodedText(const std::string&)>& tokenize,
                  const std::function<void(const std::string&, uint32_t)>& use) {
  std::vector<std::string> lines;
  std::vector<EncodedText> texts;
  const auto flush = [&] {
    encoder.encode(texts, [&](size_t i, uint32_t row) { use(lines[i], row); });
    texts.clear();
    lines.clear();
  };
  for_each_line(path, [&](const std::string& line) {
    lines.push_back(line);
    texts.push_back(tokenize(line));
    if (texts.size() == kLinesAtOnce) flush();
  });
  flush();
}

/// The model's prompt of this name; null: it has none. Every model has the names query and document, as
/// sentence-transformers sees it.
std::optional<std::string> find_prompt(const mote_model* model, const std::string& wanted) {
  const char* name = nullptr;
  for (uint32_t i = 0; const char* text = mote_model_prompt(model, i, &name); ++i) {
    if (wanted == name) return text;
  }
  if (wanted == "query" || wanted == "document") return "";
  return std::nullopt;
}

std::string prompt_of_name(const ModelFile& file, const std::string& wanted) {
  if (const auto found = find_prompt(file.model(), wanted)) return *found;
  std::string known;
  const char* name = nullptr;
  for (uint32_t i = 0; mote_model_prompt(file.model(), i, &name) != nullptr; ++i)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one_line(name));
  convert::fail("{} has no prompt '{}'; it has {}", file.path(), wanted, known.empty() ? "none" : known);
}

/// What stands before each line: what the user says, or what the original puts there: before what is ranked
/// its prompt for documents, before others its default.
std::string prompt_of_lines(const ModelFile& file, const EmbedArguments& arguments) {
  if (arguments.has_prompt) return arguments.prompt;
  if (!arguments.prompt_name.empty()) return prompt_of_name(file, arguments.prompt_name);
  if (arguments.ranks) return *find_prompt(file.model(), "document");
  const int32_t found = mote_model_default_prompt(file.model());
  return found == -1 ? "" : mote_model_prompt(file.model(), static_cast<uint32_t>(found), nullptr);
}

/// Calls use(text, vector) for each line, in order.
void embed_lines(TextEncoder& encoder, const EmbedArguments& arguments,
                 const std::function<void(const std::string&, const std::vector<float>&)>& use) {
  encode_lines(
      encoder, arguments.lines,
      [&](const std::string& line) { return encoder.tokenize(arguments.prompt + line); },
      [&](const std::string& line, uint32_t row) { use(line, encoder.row(row)); });
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

void rank_lines(const ModelFile& file, TextEncoder& encoder, const EmbedArguments& arguments) {
  std::vector<float> query;
  const std::vector<EncodedText> question{encoder.tokenize(arguments.query)};
  encoder.encode(question, [&](size_t, uint32_t row) { query = encoder.row(row); });
  const mote_similarity kind = mote_model_similarity(file.model());
  std::vector<Ranked> ranked;
  embed_lines(encoder, arguments, [&](const std::string& text, const std::vector<float>& vector) {
    ranked.push_back({similarity(kind, query, vector), ranked.size() + 1, text});
  });
  print_ranked(std::move(ranked), arguments);
}

/// A cross encoder reads the query and a line together; its score is its one label's.
void rerank_lines(TextEncoder& encoder, const EmbedArguments& arguments) {
  std::vector<Ranked> ranked;
  encode_lines(
      encoder, arguments.lines,
      [&](const std::string& line) { return encoder.tokenize_pair(arguments.query, line); },
      [&](const std::string& line, uint32_t row) {
        ranked.push_back({encoder.probabilities(row).front(), ranked.size() + 1, line});
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

void embed(EmbedArguments& arguments) {
  convert::refuse_input(arguments.npy, {arguments.file, arguments.lines});
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  if (takes_pictures(file)) return embed_pictures(file, arguments, pool);
  if (!arguments.images.empty()) usage_fail("{} takes texts, not pictures", file.path());
  TextEncoder encoder(file, arguments.session, pool, arguments.truncate);
  if (arguments.reranks) {
    if (encoder.output().kind != MOTE_OUTPUT_SEQUENCE_LABELS || encoder.output().labels != 1)
      convert::fail("{} is no cross encoder, which gives one score for two texts; --rank compares vectors",
                    file.path());
    return rerank_lines(encoder, arguments);
  }
  if (encoder.output().kind != MOTE_OUTPUT_EMBEDDING) {
    convert::fail("{} gives no vectors of texts; convert it with --pooling mean, cls or another",
                  file.path());
  }
  arguments.prompt = prompt_of_lines(file, arguments);
  if (arguments.ranks) {
    arguments.query = *find_prompt(file.model(), "query") + arguments.query;
    return rank_lines(file, encoder, arguments);
  }
  std::vector<float> all;
  size_t rows = 0;
  embed_lines(encoder, arguments, [&](const std::string& text, const std::vector<float>& vector) {
    ++rows;
    if (arguments.npy.empty()) return print_json({{"text", text}, {"embedding", vector}});
    all.insert(all.end(), vector.begin(), vector.end());
  });
  if (!arguments.npy.empty()) write_npy(arguments.npy, all, rows, encoder.output().width);
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
