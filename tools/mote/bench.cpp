// SPDX-License-Identifier: Apache-2.0
//
// mote bench: tokens per second, and the share of this machine's memory bandwidth that decoding reaches.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "schema/mote_generated.h"
#include "tools/mote/bandwidth.h"
#include "tools/mote/commands.h"
#include "tools/mote/ids.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/timer.h"

namespace mote::cli {
namespace {

struct Arguments {
  std::string file;
  std::optional<uint32_t> prompt, decode;
  uint32_t depth = 0, repeat = 3;
  bool json = false;
  SessionFlags session;
};

/// Times of the repetitions.
struct Times {
  std::vector<double> ms;
  double median() const {
    std::vector<double> sorted = ms;
    std::sort(sorted.begin(), sorted.end());
    const size_t n = sorted.size();
    return n == 0 ? 0.0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
  }
  double least() const { return ms.empty() ? 0.0 : *std::min_element(ms.begin(), ms.end()); }
};

struct Result {
  uint32_t prompt = 0, decode = 0;
  Times prompt_times, decode_times;
  double load_ms = 0, bytes_per_s = 0;
  uint64_t bytes_per_token = 0;

  double prompt_per_s() const { return per_second(prompt, prompt_times.median()); }
  double decode_per_s() const { return per_second(decode, decode_times.median()); }
  double share() const {
    return bytes_per_s > 0.0 ? decode_per_s() * static_cast<double>(bytes_per_token) / bytes_per_s : 0.0;
  }
};

uint64_t tensor_bytes(const file::Model& model, int32_t index) {
  return index < 0 ? 0 : model.tensors()->Get(static_cast<uint32_t>(index))->bytes();
}

/// Of the matrices and vectors that decoding a token reads in full; a lookup's row is too little to count.
uint64_t weight_bytes_per_token(const file::Model& model) {
  uint64_t bytes = 0;
  for (const file::Op* op : *model.programs()->Get(0)->ops()) {
    if (const file::Linear* linear = op->args_as_Linear()) {
      bytes += tensor_bytes(model, linear->weight()) + tensor_bytes(model, linear->bias());
    } else if (const file::Norm* norm = op->args_as_Norm()) {
      bytes += tensor_bytes(model, norm->weight()) + tensor_bytes(model, norm->bias());
    }
  }
  return bytes;
}

/// Whether the session's cache is f32: MOTE_KV_AUTO leaves it to the runtime, which tells it by the bytes.
bool kv_is_f32(const ModelFile& file, mote_session_options options) {
  mote_memory chosen = {}, f32 = {};
  (void)mote_session_memory(file.model(), &options, &chosen, nullptr);
  options.kv_dtype = MOTE_KV_F32;
  (void)mote_session_memory(file.model(), &options, &f32, nullptr);
  return chosen.kv_cache == f32.kv_cache;
}

/// Keys and values that attention reads for a token at this position.
uint64_t kv_bytes_per_token(const file::Model& model, uint64_t position, bool f32) {
  uint64_t bytes = 0;
  for (const file::KvCache* cache : *model.kv_caches()) {
    const uint64_t seen =
        cache->window() == 0 ? position + 1 : std::min<uint64_t>(position + 1, cache->window());
    bytes += seen * cache->kv_heads() * cache->head_dim() * 2 * (f32 ? 4 : 2);
  }
  return bytes;
}

/// Empties the session and puts `depth` tokens into it.
void fill(Session& session, const std::vector<int32_t>& ids, uint32_t depth) {
  mote_error error = {};
  check(mote_session_truncate(session.get(), 0, 0, &error), error, "bench");
  if (depth == 0) return;
  check(mote_prefill(session.get(), 0, ids.data(), depth, MOTE_LOGITS_NONE, &error), error, "bench: --depth");
}

void measure(Session& session, const std::vector<int32_t>& ids, const Arguments& arguments, Result& result) {
  mote_error error = {};
  const uint32_t steps = arguments.repeat * ((result.prompt > 0) + (result.decode > 0));
  uint32_t done = 0;
  for (uint32_t repeat = 0; repeat < arguments.repeat && result.prompt > 0; ++repeat) {
    show_progress("prompt", static_cast<double>(done++) / steps);
    fill(session, ids, arguments.depth);
    Timer timer;
    check(
        mote_prefill(session.get(), 0, ids.data() + arguments.depth, result.prompt, MOTE_LOGITS_LAST, &error),
        error, "bench: --prompt");
    result.prompt_times.ms.push_back(timer.ms());
  }
  for (uint32_t repeat = 0; repeat < arguments.repeat && result.decode > 0; ++repeat) {
    show_progress("decode", static_cast<double>(done++) / steps);
    fill(session, ids, arguments.depth);
    Timer timer;
    for (uint32_t i = 0; i < result.decode; ++i) {
      check(mote_decode(session.get(), ids.data() + arguments.depth + i, &error), error, "bench: --decode");
    }
    result.decode_times.ms.push_back(timer.ms());
  }
  clear_progress();
}

void print_result(const Arguments& arguments, const ModelFile& file, const Session& session, uint32_t threads,
                  const Result& result) {
  if (arguments.json) {
    return print_json({{"model", one_line(file.info().name)},
                       {"isa", session.isa()},
                       {"threads", threads},
                       {"prompt", result.prompt},
                       {"decode", result.decode},
                       {"depth", arguments.depth},
                       {"repeat", arguments.repeat},
                       {"prompt_tokens_per_s", result.prompt_per_s()},
                       {"prompt_tokens_per_s_best", per_second(result.prompt, result.prompt_times.least())},
                       {"decode_tokens_per_s", result.decode_per_s()},
                       {"decode_tokens_per_s_best", per_second(result.decode, result.decode_times.least())},
                       {"load_ms", result.load_ms},
                       {"arena_bytes", session.arena_bytes()},
                       {"model_bytes", file.bytes().size()},
                       {"bytes_per_token", result.bytes_per_token},
                       {"read_bandwidth_gb_s", result.bytes_per_s / 1e9},
                       {"share_of_bandwidth", result.share()}});
  }
  using enum Table::Align;
  Table table({{"test"}, {"tokens", right}, {"median tokens/s", right}, {"best", right}});
  const auto row = [&](const char* name, uint32_t tokens, const Times& times) {
    if (tokens == 0) return;
    table.row({name, std::to_string(tokens), fmt::format("{:.1f}", per_second(tokens, times.median())),
               fmt::format("{:.1f}", per_second(tokens, times.least()))});
  };
  row("prompt", result.prompt, result.prompt_times);
  row("decode", result.decode, result.decode_times);
  print("{}, {}; {}, {} threads, depth {}\n", one_line(file.info().name), human_bytes(file.bytes().size()),
        session.isa(), threads, arguments.depth);
  table.print();
  print("load {}, arena {} bytes ({})\n", human_ms(result.load_ms), session.arena_bytes(),
        human_bytes(session.arena_bytes()));
  print("a token reads {}: {:.2f} GB/s of the {:.2f} GB/s that this machine reads, {:.0f} %\n",
        human_bytes(result.bytes_per_token),
        result.decode_per_s() * static_cast<double>(result.bytes_per_token) / 1e9, result.bytes_per_s / 1e9,
        100.0 * result.share());
}

void bench_model(const Arguments& arguments) {
  Timer timer;
  const ModelFile file(arguments.file);
  const uint32_t left = file.info().context - std::min(arguments.depth, file.info().context);
  Result result;
  result.prompt = arguments.prompt.value_or(std::min(512u, left));
  result.decode = arguments.decode.value_or(std::min(128u, left));
  const uint64_t context = uint64_t{arguments.depth} + std::max(result.prompt, result.decode);
  const ThreadPool pool(arguments.session.threads);
  mote_session_options options = session_options(file, arguments.session, pool);
  if (arguments.session.context == 0) {
    options.context = static_cast<uint32_t>(std::clamp<uint64_t>(context, 1, UINT32_MAX));
  }
  Session session(file, options);
  result.load_ms = timer.ms();
  measure(session, pseudo_random_ids(static_cast<uint32_t>(context), file.info().vocab), arguments, result);
  const file::Model& model = *file::GetSizePrefixedModel(file.bytes().data());
  result.bytes_per_token =
      weight_bytes_per_token(model) +
      kv_bytes_per_token(model, arguments.depth + result.decode / 2, kv_is_f32(file, options));
  result.bytes_per_s = read_bandwidth(result.bytes_per_token, pool);
  print_result(arguments, file, session, pool.threads(), result);
}

}  // namespace

void add_bench(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "bench", "Measure tokens per second and the share of the memory bandwidth reached, on made-up ids");
  add_model_argument(*command, arguments->file);
  command->add_option("--prompt", arguments->prompt, "Tokens of the prompt (default: 512); 0: no such test")
      ->type_name("P")
      ->check(CLI::Range(0u, 1u << 24).description(""));
  command
      ->add_option("--decode", arguments->decode, "Tokens decoded one by one (default: 128); 0: no such test")
      ->type_name("N")
      ->check(CLI::Range(0u, 1u << 24).description(""));
  command->add_option("--depth", arguments->depth, "Tokens already in the session (default: 0)")
      ->type_name("D")
      ->check(CLI::Range(0u, 1u << 24).description(""));
  command->add_option("--repeat", arguments->repeat, "Times to measure; the median counts (default: 3)")
      ->type_name("R")
      ->check(CLI::Range(1u, 10000u).description(""));
  add_session_flags(*command, arguments->session);
  command->add_flag("--json", arguments->json, "Print a JSON object instead of a table");
  command->callback([arguments] { bench_model(*arguments); });
}

}  // namespace mote::cli
