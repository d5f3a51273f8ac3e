// SPDX-License-Identifier: Apache-2.0
//
// mote embed: lines of text to vectors, or ranked by how near they are to a query.
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "host/base/output_file.h"
#include "tools/mote/arguments.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/lines.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_flags.h"
#include "tools/mote/signals.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"
#include "tools/mote/vector_file.h"

namespace mote::cli {
namespace {

struct EmbedArguments {
  std::string file, npy, query, prompt, prompt_name, size;
  std::vector<std::string> images, sounds;
  LineFlags lines;
  uint32_t top = 0, batch = 64;
  bool json = false, truncate = false, ranks = false, reranks = false, has_prompt = false, resume = false;
  SessionFlags session;
};

/// Returns the texts as inputs, which must not outlive them.
std::vector<mote_host_input> inputs_of(std::span<const Line> lines) {
  std::vector<mote_host_input> inputs;
  for (const Line& line : lines) inputs.push_back(text_input(line.text));
  return inputs;
}

/// Ranks all lines of the file by the query.
void rank_lines(HostModel& model, const EmbedArguments& arguments, nlohmann::json options) {
  options["top"] = arguments.top;
  const std::string given = options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto call = arguments.reranks ? mote_host_rerank : mote_host_rank;
  const auto rank = [&](std::span<const mote_host_input> inputs) {
    const InterruptGuard guard;
    HostCalls calls;
    return calls.take(call(model.get(), inputs.data(), inputs.size(), given.c_str(), calls.get()));
  };
  rank({});  // what is wrong with the model shows before the lines are read
  std::vector<Line> lines;
  for_each_line(arguments.lines, [&](Line line, double) { lines.push_back(std::move(line)); });
  // A query of its own for each line, so that each can be asked for alone.
  const mote_host_input query = text_input(arguments.query);
  const std::vector<mote_host_input> texts = inputs_of(lines);
  const HostResult ranked =
      call_with_lines(arguments.lines.file, lines, 1, texts, [&](std::span<const mote_host_input> some) {
        std::vector<mote_host_input> inputs = {query};
        inputs.insert(inputs.end(), some.begin(), some.end());
        return rank(inputs);
      });
  for (const nlohmann::json& one : ranked.json()) {
    const Line& line = lines[one.at("index").get<size_t>()];
    const auto score = one.at("score").get<double>();
    if (arguments.json) {
      print_json({{"score", score}, {"line", line.number}, {"text", line.text}});
    } else {
      print("{:7.4f}  {}\n", score, one_line(line.text));
    }
  }
}

/// Shows how far the lines are, and how many of them a second.
class LineProgress {
 public:
  void show(uint64_t lines, double part) {
    const Clock::time_point now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    show_progress(fmt::format("{} texts, {:.0f} a second", lines, static_cast<double>(lines) / seconds),
                  part);
  }
  ~LineProgress() { clear_progress(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_;
};

/// Makes vectors of lines as they come, which it prints or keeps for a file.
class Vectors {
 public:
  Vectors(HostModel& model, const EmbedArguments& arguments, const nlohmann::json& options)
      : model_(model),
        arguments_(arguments),
        options_(options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
    width_ = call({}).json().at("width").get<size_t>();  // and what is wrong with the model shows
    if (!arguments.resume) return;
    Fingerprint key;
    for (const std::string& part : {std::to_string(model.info().hash), options_, arguments.lines.empty})
      key.add(part + '\n');
    part_.emplace(arguments.npy, key.value(), static_cast<uint32_t>(width_));
  }

  /// Returns how many lines it takes at once.
  size_t batch() const {
    return part_ && part_->next_rows() != 0 ? part_->next_rows() : size_t{arguments_.batch};
  }
  void add(std::span<const Line> lines) {
    if (part_ && part_->next_rows() != 0) return part_->pass(lines);
    if (lines.empty()) return;
    const std::vector<float> values = vectors_of(lines);
    if (part_) return part_->add(lines, values);
    if (!arguments_.npy.empty()) return keep(values);
    for (size_t i = 0; i < lines.size(); ++i) print_vector("text", lines[i].text, &values[i * width_]);
  }
  /// Adds a picture or a sound, as `kind` says.
  void add_file(const char* kind, const std::string& path) {
    const std::vector<mote_host_input> inputs = {file_input(path)};
    const HostResult result = call(inputs);
    const std::vector<float> values(result.values().begin(), result.values().end());
    if (!arguments_.npy.empty()) return keep(values);
    print_vector(kind, path, values.data());
  }
  void finish() {
    if (part_) return part_->finish();
    if (arguments_.npy.empty()) return;
    write_npy(arguments_.npy, width_ == 0 ? 0 : all_.size() / width_, width_,
              [&](convert::OutputFile& out) { out.write(std::as_bytes(std::span(all_))); });
  }

 private:
  HostResult call(std::span<const mote_host_input> inputs) {
    const InterruptGuard guard;
    HostCalls calls;
    return calls.take(
        mote_host_embed(model_.get(), inputs.data(), inputs.size(), options_.c_str(), calls.get()));
  }
  /// Returns [lines, width].
  std::vector<float> vectors_of(std::span<const Line> lines) {
    std::vector<float> values(lines.size() * width_);
    std::vector<Line> texts;
    std::vector<size_t> places;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].text.empty() && arguments_.lines.empty == "zero") continue;
      texts.push_back(lines[i]);
      places.push_back(i);
    }
    if (texts.empty()) return values;
    const HostResult result =
        call_with_lines(arguments_.lines.file, texts, 1, inputs_of(texts),
                        [&](std::span<const mote_host_input> inputs) { return call(inputs); });
    for (size_t i = 0; i < places.size(); ++i)
      std::copy_n(&result.values()[i * width_], width_, &values[places[i] * width_]);
    return values;
  }
  void keep(const std::vector<float>& values) { all_.insert(all_.end(), values.begin(), values.end()); }
  /// `kind` names an input in its object.
  void print_vector(const char* kind, const std::string& name, const float* vector) const {
    print_json({{kind, name}, {"embedding", std::vector<float>(vector, vector + width_)}});
  }

  HostModel& model_;
  const EmbedArguments& arguments_;
  std::string options_;
  size_t width_ = 0;
  std::vector<float> all_;
  std::optional<PartFile> part_;
};

/// Refuses the options of lines of text, which pictures and sounds are not.
void require_no_lines(const EmbedArguments& arguments) {
  if (arguments.ranks || arguments.reranks) usage_fail("--rank and --rerank are for texts");
  if (arguments.has_prompt || !arguments.prompt_name.empty() || arguments.truncate)
    usage_fail("--prompt, --prompt-name and --truncate are for texts");
  const LineFlags none, &lines = arguments.lines;
  if (lines.file != none.file || lines.csv != none.csv || lines.jsonl != none.jsonl ||
      lines.empty != none.empty)
    usage_fail("--file, --csv, --jsonl and --empty are for texts");
}

void embed_pictures(HostModel& model, const EmbedArguments& arguments) {
  if (arguments.images.empty() || !arguments.sounds.empty())
    usage_fail("{} takes pictures: --image FILE", model.path());
  require_no_lines(arguments);
  nlohmann::json options = nlohmann::json::object();
  if (!arguments.size.empty()) options["size"] = arguments.size;
  Vectors vectors(model, arguments, options);
  for (const std::string& path : arguments.images) vectors.add_file("picture", path);
  vectors.finish();
}

void embed_sounds(HostModel& model, const EmbedArguments& arguments) {
  if (arguments.sounds.empty()) usage_fail("{} takes sounds: --sound FILE", model.path());
  require_no_lines(arguments);
  Vectors vectors(model, arguments, nlohmann::json::object());
  for (const std::string& path : arguments.sounds) vectors.add_file("sound", path);
  vectors.finish();
}

void embed_lines(HostModel& model, const EmbedArguments& arguments, const nlohmann::json& options) {
  Vectors vectors(model, arguments, options);
  std::vector<Line> lines;
  LineProgress progress;
  uint64_t done = 0;
  const auto take = [&] {
    vectors.add(lines);
    done += lines.size();
    lines.clear();
  };
  for_each_line(arguments.lines, [&](Line line, double part) {
    lines.push_back(std::move(line));
    if (lines.size() < vectors.batch()) return;
    take();
    if (!arguments.npy.empty()) progress.show(done, part);
  });
  take();
  vectors.finish();
}

void embed(const EmbedArguments& arguments) {
  check_picture_size(arguments.size);
  std::vector<std::string> read = {arguments.file, arguments.lines.file};
  read.insert(read.end(), arguments.images.begin(), arguments.images.end());
  read.insert(read.end(), arguments.sounds.begin(), arguments.sounds.end());
  convert::refuse_input(arguments.npy, read);
  HostModel model(arguments.file, arguments.session);
  model.begin();
  if (model.takes_pictures()) return embed_pictures(model, arguments);
  if (!arguments.images.empty() || !arguments.size.empty())
    usage_fail("{} takes {}, not pictures", model.path(), model.takes_sound() ? "sounds" : "texts");
  if (model.takes_sound()) return embed_sounds(model, arguments);
  if (!arguments.sounds.empty()) usage_fail("{} takes texts, not sounds", model.path());
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
      line.command("embed", "Turn lines of text, pictures or sounds into vectors, or rank lines by a query");
  add_model_argument(command, arguments->file);
  add_line_flags(command, arguments->lines, true);
  command
      .option("--image", &arguments->images,
              "Pictures (PNG, JPEG, WebP, GIF, BMP, TIFF, PNM), for a model of pictures")
      .type("FILE")
      .repeated();
  add_picture_size(command, arguments->size);
  command
      .option(
          "--sound", &arguments->sounds,
          "Sounds, for a CLAP, whose vectors they are, or a Whisper or another encoder of sound: the mean "
          "of its frames' hidden states")
      .type("FILE")
      .repeated();
  Option npy = command.option("--npy", &arguments->npy, "Write the vectors to a NumPy file [lines, width]")
                   .type("OUT");
  command
      .option("--batch", &arguments->batch,
              "Lines that are read before their vectors are computed together (default: 64)")
      .type("N")
      .range(1u, 65536u);
  command.flag("--resume", &arguments->resume,
               "Keep the vectors so far in OUT.part, and go on behind those of a call that was ended");
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
    if (arguments->resume && arguments->npy.empty()) usage_fail("--resume is for --npy OUT");
    if (arguments->resume && !(arguments->images.empty() && arguments->sounds.empty()))
      usage_fail("--resume is for lines of text");
    if (arguments->lines.empty == "zero" && (arguments->ranks || arguments->reranks))
      usage_fail("--empty zero is for vectors");
    if (arguments->top != 0 && !arguments->ranks && !arguments->reranks)
      usage_fail("--top is for --rank and --rerank");
    embed(*arguments);
  });
}

}  // namespace mote::cli
