// SPDX-License-Identifier: Apache-2.0
//
// mote bench: tokens per second, and the shares of this machine's limits that they reach: decoding is bound
// by reading memory, prompts and encoders by multiplying.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>

#include "host/base/error.h"
#include "mote/pictures.h"
#include "mote/sound.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/ids.h"
#include "tools/mote/measure/bandwidth.h"
#include "tools/mote/measure/bench_work.h"
#include "tools/mote/measure/board.h"
#include "tools/mote/measure/dot_rate.h"
#include "tools/mote/measure/model_work.h"
#include "tools/mote/measure/op_times.h"
#include "tools/mote/measure/resident.h"
#include "tools/mote/measure/timer.h"
#include "tools/mote/measure/tune.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"

namespace mote::cli {
namespace {

struct BenchArguments {
  std::string file;
  std::optional<uint32_t> prompt, decode;
  uint32_t depth = 0, batch = 1, repeat = 3, beams = 0;
  bool ops = false, tune = false, json = false;
  SessionFlags session;
};

struct Result {
  Times prompt, decode;
  Times prompt_processor, decode_processor;  // of all threads together
  double load_ms = 0;
  uint64_t bytes_per_token = 0;       // that a decoding step reads
  double bytes_per_s = 0;             // of this machine's memory
  double prompt_rate = 0, limit = 0;  // multiply-adds per second; 0: not known
  DotRate multiply_adds;
  std::vector<OpTime> prompt_ops, decode_ops;
  std::optional<Resident> before, after;
  double prompt_per_s = 0, decode_per_s = 0;

  double decode_share(const Work& work) const {
    const double steps = per_second(work.decode, decode.median());
    return bytes_per_s > 0.0 ? steps * static_cast<double>(bytes_per_token) / bytes_per_s : 0.0;
  }
  double prompt_share() const { return limit > 0.0 ? prompt_rate / limit : 0.0; }
  /// Heap and stacks that came with the model and the session.
  uint64_t other_bytes() const {
    return after->anonymous > before->anonymous ? after->anonymous - before->anonymous : 0;
  }
};

/// A type that takes as many bytes as that of the session's cache: MOTE_KV_AUTO leaves it to the runtime,
/// which tells it by the bytes.
DType kv_type(const ModelFile& file, mote_session_options options) {
  mote_memory chosen = {}, other = {};
  (void)mote_session_memory(file.model(), &options, &chosen, nullptr);
  const auto takes_as_much = [&](mote_kv_dtype type) {
    options.kv_dtype = type;
    (void)mote_session_memory(file.model(), &options, &other, nullptr);
    return chosen.kv_cache == other.kv_cache;
  };
  if (takes_as_much(MOTE_KV_F32)) return DType::f32;
  return takes_as_much(MOTE_KV_F16) ? DType::f16 : DType::i8;
}

// ---- Setting up ----

mote_program_info program_of(const ModelFile& file, uint32_t index) {
  mote_program_info program;
  mote_model_get_program(file.model(), index, &program);
  return program;
}

/// Rows that are encoded where --prompt does not say: a picture's, of sound those that the model takes or ten
/// seconds, of other models as many as tokens.
uint32_t usual_rows(const ModelFile& file, uint32_t context) {
  constexpr uint32_t kTokens = 128, kSeconds = 10;
  mote_picture_info picture;
  if (mote_model_get_picture(file.model(), &picture, nullptr) == MOTE_OK) return picture.rows;
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  if (sound.waveform != 0) return mote_sound_rows(file.model(), uint64_t{kSeconds} * sound.rate);
  return std::min(sound.frames != 0 ? context : kTokens, context);
}

Work plan(const BenchArguments& arguments, const ModelFile& file) {
  const uint32_t context = file.info().context;
  const uint32_t left = context - std::min(arguments.depth, context);
  Work work{is_encoder(file), has_source(file), 0, 0, arguments.depth, arguments.batch, arguments.beams, {}};
  if (work.beams != 0 && (!work.source || work.depth != 0))
    convert::fail("--beams is for models with a source, without --depth");
  if (work.source && arguments.ops) convert::fail("--ops is not for models with a source");
  if (work.source && arguments.prompt.value_or(1) == 0)
    convert::fail("{} decodes over a source: --prompt is its length, at least 1", file.path());
  if (!work.encoder && arguments.ops && arguments.batch != 1) {
    convert::fail("--ops follows one sequence of a decoder: leave --batch out");
  }
  if (work.encoder && (arguments.decode.value_or(0) != 0 || arguments.depth != 0)) {
    convert::fail("{} is an encoder: --decode and --depth are for decoders", file.path());
  }
  const bool brief = arguments.tune;  // each number of threads takes a measurement of its own
  const mote_program_info program = program_of(file, work.source ? 1 : 0);
  if (work.encodes()) work.width = program.input_width;
  work.prompt =
      arguments.prompt.value_or(work.encodes() ? usual_rows(file, work.source ? program.context : left)
                                               : std::min(brief ? 128u : 512u, left));
  work.decode = work.encoder ? 0 : arguments.decode.value_or(std::min(brief ? 32u : 128u, left));
  const uint64_t longest = uint64_t{work.depth} + std::max(work.prompt, work.decode);
  work.ids = pseudo_random_ids(static_cast<uint32_t>(std::clamp<uint64_t>(longest, 1, UINT32_MAX)),
                               file.info().vocab);
  return work;
}

// ---- Measuring ----

/// The two tests take turns: what disturbs the machine meets both.
void measure(Session& session, const Work& work, uint32_t repeat, Result& result) {
  for (uint32_t i = 0; i < repeat; ++i) {
    show_progress("measuring", static_cast<double>(i) / repeat);
    const double start = processor_ms();
    if (work.prompt > 0) result.prompt.ms.push_back(prompt_ms(session, work));
    const double middle = processor_ms();
    if (work.decode > 0) result.decode.ms.push_back(decode_ms(session, work));
    result.prompt_processor.ms.push_back(middle - start);
    result.decode_processor.ms.push_back(processor_ms() - middle);
  }
  clear_progress();
  result.prompt_per_s = per_second(static_cast<double>(work.prompt_tokens()), result.prompt.median());
  result.decode_per_s = per_second(static_cast<double>(work.decode_tokens()), result.decode.median());
}

/// Measures the most that the machine could do.
void measure_limits(const ModelFile& file, const ThreadPool& pool, const mote_session_options& options,
                    const Work& work, Result& result) {
  const file::Model& model = *file::GetSizePrefixedModel(file.bytes().data());
  const uint64_t position = uint64_t{work.depth} + work.decode / 2;
  result.bytes_per_token =
      weight_bytes(model, work.batch) +
      (work.encoder ? 0 : work.batch * state_bytes(model, position, work.prompt, kv_type(file, options)));
  const ThreadPool readers(ThreadCounts{pool.decode_threads(), pool.decode_threads()});
  result.bytes_per_s = read_bandwidth(result.bytes_per_token, readers);
  const LinearWork linear = linear_work(model, work.source ? 1 : 0);
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  const double tokens = static_cast<double>(work.prompt_tokens());
  const double outputs = work.source ? 0 : !work.encoder ? 1 : output.of_sequences != 0 ? work.batch : tokens;
  result.prompt_rate =
      per_second(linear.per_token * tokens + linear.per_output * outputs, result.prompt.median());
  result.multiply_adds = dot_rate(pool);
  result.limit = linear.integer ? result.multiply_adds.int8 : result.multiply_adds.f32;
}

/// The fastest of three: what disturbs a run would pass for the time of the operation that it met.
template <class Run>
std::vector<OpTime> fastest_run(Run run) {
  const auto total = [](const std::vector<OpTime>& times) {
    return std::accumulate(times.begin(), times.end(), 0.0,
                           [](double sum, const OpTime& time) { return sum + time.ms; });
  };
  std::vector<OpTime> fastest = run();
  for (int i = 1; i < 3; ++i) {
    if (std::vector<OpTime> times = run(); total(times) < total(fastest)) fastest = std::move(times);
  }
  return fastest;
}

/// More runs, whose time is told by operation.
void measure_ops(const ModelFile& file, Session& session, const mote_session_options& options,
                 const Work& work, Result& result) {
  const DType kv = kv_type(file, options);
  if (work.encoder) {
    const EncoderBatch batch(work);
    const EncodeWork encode = {batch.get(), options.threads, kv};
    result.prompt_ops = fastest_run([&] { return time_encode_ops(file, session, encode); });
    return;
  }
  const std::span<const int32_t> ids = std::span(work.ids).subspan(work.depth);
  const auto generate = [&](uint32_t prompt, uint32_t tokens) {
    return fastest_run([&] {
      fill(session, work, 1);
      return time_generation_ops(file, session, {ids.first(prompt), options.chunk, tokens, kv});
    });
  };
  if (work.prompt > 0) result.prompt_ops = generate(work.prompt, 1);
  if (work.decode > 0) result.decode_ops = generate(1, work.decode);
}

// ---- Printing ----

void print_as_json(const BenchArguments& arguments, const ModelFile& file, const Session& session,
                   const ThreadPool& pool, const Work& work, const Result& result) {
  const auto best = [](uint64_t tokens, const Times& times) {
    return per_second(static_cast<double>(tokens), times.least());
  };
  nlohmann::json values = {{"model", one_line(file.info().name)},
                           {"isa", session.isa()},
                           {"board", board_name()},
                           {"threads", pool.threads()},
                           {"decode_threads", pool.decode_threads()},
                           {"prompt", work.prompt},
                           {"decode", work.decode},
                           {"depth", work.depth},
                           {"batch", work.batch},
                           {"beams", work.beams},
                           {"repeat", arguments.repeat},
                           {"prompt_ms", result.prompt.median()},
                           {"prompt_processor_ms", result.prompt_processor.median()},
                           {"decode_processor_ms", result.decode_processor.median()},
                           {"prompt_tokens_per_s", result.prompt_per_s},
                           {"prompt_tokens_per_s_best", best(work.prompt_tokens(), result.prompt)},
                           {"decode_tokens_per_s", result.decode_per_s},
                           {"decode_tokens_per_s_best", best(work.decode_tokens(), result.decode)},
                           {"load_ms", result.load_ms},
                           {"arena_bytes", session.arena_bytes()},
                           {"backend_bytes", session.backend_bytes()},
                           {"model_bytes", file.bytes().size()},
                           {"bytes_per_token", result.bytes_per_token},
                           {"read_bandwidth_gb_s", result.bytes_per_s / 1e9},
                           {"share_of_bandwidth", result.decode_share(work)},
                           {"multiply_adds_g_s", result.limit / 1e9},
                           {"share_of_multiply_adds", result.prompt_share()}};
  if (result.after) {
    values["model_resident_bytes"] = result.after->file;
    values["arena_resident_bytes"] = result.after->arena;
    values["other_resident_bytes"] = result.other_bytes();
  }
  if (arguments.ops) {
    values["prompt_ops"] = op_times_json(result.prompt_ops);
    values["decode_ops"] = op_times_json(result.decode_ops);
  }
  print_json(values);
}

void print_for_people(const ModelFile& file, const Session& session, const ThreadPool& pool, const Work& work,
                      const Result& result) {
  using enum Table::Align;
  Table table({{"test"}, {"tokens", right}, {"median tokens/s", right}, {"best", right}, {"median", right}});
  const auto row = [&](const char* name, uint64_t tokens, const Times& times) {
    if (tokens == 0) return;
    const auto speed = [&](double ms) {
      return fmt::format("{:.1f}", per_second(static_cast<double>(tokens), ms));
    };
    table.row({name, std::to_string(tokens), speed(times.median()), speed(times.least()),
               human_ms(times.median())});
  };
  row(work.encodes() ? "encode" : "prompt", work.prompt_tokens(), result.prompt);
  row("decode", work.decode_tokens(), result.decode);
  print("{}, {}; {}, {}, depth {}, batch {}\n", one_line(file.info().name), human_bytes(file.bytes().size()),
        session.isa(), pool.text(), work.depth, work.batch);
  table.print();
  print("load {}, {}\n", human_ms(result.load_ms), session.memory_text());
  if (result.after) {
    print("in memory: {} of the file, {} of the arena, {} besides\n", human_bytes(result.after->file),
          human_bytes(result.after->arena), human_bytes(result.other_bytes()));
  }
  if (work.prompt > 0 && result.limit > 0.0) {
    print(
        "{}: {:.1f} of the {:.1f} billion multiply-adds per second that this machine's vectors do, {:.0f} "
        "%\n",
        work.encodes() ? "encode" : "prompt", result.prompt_rate / 1e9, result.limit / 1e9,
        100.0 * result.prompt_share());
  }
  if (work.decode > 0) {
    print("decode: a step reads {}; {:.2f} of the {:.2f} GB/s that this machine reads, {:.0f} %\n",
          human_bytes(result.bytes_per_token), result.decode_share(work) * result.bytes_per_s / 1e9,
          result.bytes_per_s / 1e9, 100.0 * result.decode_share(work));
  }
  const Limits limits{result.bytes_per_s, result.multiply_adds.int8, result.multiply_adds.f32};
  if (!result.prompt_ops.empty()) {
    print("\n");
    print_op_times(work.encoder ? "operations, encode" : "operations, prompt", result.prompt_ops, limits);
  }
  if (!result.decode_ops.empty()) {
    print("\n");
    print_op_times("operations, decode", result.decode_ops, limits);
  }
}

/// Prints the facts that a report takes, on one line.
void print_to_paste(const ModelFile& file, const Session& session, const ThreadPool& pool, const Work& work,
                    const Result& result) {
  std::string line =
      fmt::format("mote {} | {} | {} | {} | {}, {}", mote_version(), board_name(), session.isa(), pool.text(),
                  one_line(file.info().name), human_bytes(file.bytes().size()));
  if (work.depth != 0) line += fmt::format(" | depth {}", work.depth);
  if (work.batch != 1) line += fmt::format(" | batch {}", work.batch);
  if (work.beams != 0) line += fmt::format(" | beams {}", work.beams);
  const auto add = [&](const char* what, uint64_t tokens, double per_s, double share, const char* of) {
    if (tokens == 0) return;
    line += fmt::format(" | {} {}: {:.1f} tok/s", what, tokens, per_s);
    if (share > 0) line += fmt::format(", {:.0f} % of {}", 100.0 * share, of);
  };
  add(work.encodes() ? "encode" : "prompt", work.prompt_tokens(), result.prompt_per_s, result.prompt_share(),
      "multiply-adds");
  add("decode", work.decode_tokens(), result.decode_per_s, result.decode_share(work),
      fmt::format("{:.1f} GB/s", result.bytes_per_s / 1e9).c_str());
  print("\nto paste: {}\n", line);
}

/// Prints what each number of threads reaches, and keeps the fastest for later runs of the model.
void tune(const BenchArguments& arguments) {
  const ModelFile file(arguments.file, arguments.session);
  const Work work = plan(arguments, file);
  if (work.prompt_tokens() + work.decode_tokens() == 0) {
    convert::fail("--tune measures a prompt or decoding; one of --prompt and --decode must be more than 0");
  }
  const std::vector<TriedThreads> tried = try_threads(file, arguments.session, work, arguments.repeat);
  const ThreadCounts counts = fastest_threads(tried);
  if (arguments.json) {
    nlohmann::json rates = nlohmann::json::array();
    for (const TriedThreads& one : tried) {
      rates.push_back({{"threads", one.threads},
                       {"prompt_tokens_per_s", one.prompt_per_s},
                       {"decode_tokens_per_s", one.decode_per_s}});
    }
    return print_json({{"threads", counts.threads},
                       {"decode_threads", counts.decode_threads},
                       {"kept_in", keep_threads(file.info(), counts).string()},
                       {"tried", rates}});
  }
  using enum Table::Align;
  Table table({{"threads", right}, {"prompt tok/s", right}, {"decode tok/s", right}});
  for (const TriedThreads& one : tried) {
    table.row({std::to_string(one.threads), fmt::format("{:.1f}", one.prompt_per_s),
               fmt::format("{:.1f}", one.decode_per_s)});
  }
  table.print();
  print("fastest: --threads {} --decode-threads {}\n", counts.threads, counts.decode_threads);
  flush_output();  // also where it cannot be kept
  print("From now on the default for this model, kept in {}\n", keep_threads(file.info(), counts).string());
}

void bench_model(const BenchArguments& arguments) {
  if (arguments.tune) return tune(arguments);
  Result result;
  result.before = resident_memory(nullptr, {});
  Timer timer;
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  const Work work = plan(arguments, file);
  const mote_session_options options = bench_options(file, arguments.session, pool, work);
  Session session(file, options);
  result.load_ms = timer.ms();
  measure(session, work, arguments.repeat, result);
  result.after = resident_memory(file.bytes().data(), session.arena());
  if (arguments.ops) measure_ops(file, session, options, work, result);
  measure_limits(file, pool, options, work, result);
  if (arguments.json) return print_as_json(arguments, file, session, pool, work, result);
  print_for_people(file, session, pool, work, result);
  print_to_paste(file, session, pool, work, result);
}

}  // namespace

void add_bench(CommandLine& line) {
  auto [command, arguments] = model_command(
      line, "bench",
      "Measure tokens per second and the shares of this machine's limits reached, on made-up ids",
      bench_model);
  const auto count = [&command = command](const char* name, auto& value, const char* type, uint32_t least,
                                          const char* help) {
    command.option(name, &value, help).type(type).range(least, 1u << 24);
  };
  count("--prompt", arguments.prompt, "P", 0,
        "Tokens of the prompt (default: 512, with --tune 128), or of each sequence of an encoder (128, or a "
        "picture's or a sound's rows); 0: no such test");
  count("--decode", arguments.decode, "N", 0,
        "Tokens decoded one by one (default: 128, with --tune 32); 0: no such test");
  count("--depth", arguments.depth, "D", 0, "Tokens already in the session (default: 0)");
  count("--batch", arguments.batch, "B", 1, "Sequences encoded or decoded at once (default: 1)");
  count("--beams", arguments.beams, "K", 1,
        "Of a model with a source: decode by a search with K beams, one source after the other");
  count("--repeat", arguments.repeat, "R", 1, "Times to measure; the median counts (default: 3)");
  add_session_flags(command, arguments.session);
  Option ops =
      command.flag("--ops", &arguments.ops, "Show the time of each kind of operation, in further runs");
  command
      .flag("--tune", &arguments.tune,
            "Find the fastest numbers of threads and make them the default for this model")
      .excludes(ops);
  command.flag("--json", &arguments.json, "Print a JSON object instead of a table");
}

}  // namespace mote::cli
