// SPDX-License-Identifier: Apache-2.0
//
// mote convert: a model directory, GGUF or llama2.c file to one .mote file, with a report of what became of
// it.
#include "mote/convert.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "host/base/did_you_mean.h"
#include "host/base/error.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/firmware_report.h"
#include "tools/mote/host_model.h"
#include "tools/mote/output.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ConvertArguments {
  std::string source, output, type, head_type, chat_format, pooling, thinking, target, tower, text,
      picture_size, any_picture_size, language;
  std::vector<std::string> ignored_keys, adapters;
  bool list = false, verbose = false, no_tokenizer = false, normalize = false, long_context = false;
};

/// Tensors of repeated layers that were treated alike.
struct TensorGroup {
  std::string name, type;
  uint64_t rows = 0, cols = 0, bytes = 0;
  size_t count = 0;
  double bits = 0, worst_error = 0;
};

/// "model.layers.7.mlp.up_proj.weight" to "model.layers.*.mlp.up_proj.weight".
std::string without_numbers(const std::string& name) {
  std::string pattern;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    pattern += (begin == 0 ? "" : ".") + (number ? "*" : part);
    begin = end + 1;
  }
  return pattern;
}

/// In the order of the first tensor of each.
std::vector<TensorGroup> group_tensors(const Json& tensors, bool verbose) {
  std::vector<TensorGroup> groups;
  std::map<std::string, size_t> index;
  for (const Json& tensor : tensors) {
    const std::string own = tensor.at("name"), type = tensor.at("type");
    const auto rows = tensor.at("rows").get<uint64_t>(), columns = tensor.at("columns").get<uint64_t>();
    const std::string name = verbose ? own : without_numbers(own);
    const std::string key = fmt::format("{}\n{}\n{}x{}", name, type, rows, columns);
    const auto [at, added] = index.try_emplace(key, groups.size());
    if (added) groups.push_back({name, type, rows, columns, 0, 0, tensor.at("bits").get<double>(), 0});
    TensorGroup& group = groups[at->second];
    group.bytes += tensor.at("bytes").get<uint64_t>();
    group.count += 1;
    group.worst_error =
        std::max(group.worst_error, tensor.at("error").is_null() ? NAN : tensor.at("error").get<double>());
  }
  return groups;
}

void print_tensors(const Json& report, bool verbose) {
  using enum Table::Align;
  Table table({{"tensor"},
               {"count", right},
               {"shape", right},
               {"type"},
               {"bits", right},
               {"bytes", right},
               {"worst error", right}});
  for (const TensorGroup& group : group_tensors(report.at("tensors"), verbose)) {
    table.row({group.name, std::to_string(group.count), fmt::format("{} x {}", group.rows, group.cols),
               group.type, fmt::format("{:.2f}", group.bits), human_bytes(group.bytes),
               group.worst_error == 0 ? "exact" : fmt::format("{:.3f} %", 100.0 * group.worst_error)});
  }
  table.print();
}

void print_memory(const Json& report) {
  using enum Table::Align;
  print("\n");
  Table table({{"context", right}, {"RAM with one thread", right}});
  for (const Json& memory : report.at("memory")) {
    table.row({std::to_string(memory.at("context").get<uint64_t>()),
               human_bytes(memory.at("arena_bytes").get<uint64_t>())});
  }
  table.print();
}

/// Returns the JSON of a call, or throws why there is none.
Json take(mote_convert_result* result) {
  const std::unique_ptr<mote_convert_result, void (*)(mote_convert_result*)> held(result, mote_convert_free);
  if (mote_convert_status(result) == MOTE_OK) return Json::parse(mote_convert_json(result));
  convert::fail("{}", mote_convert_sentence(result));
}

void list_names() {
  const Json names = take(mote_convert_list());
  const auto print_names = [](const Json& list) {
    for (const Json& name : list) print(" {}", name.get<std::string>());
    print("\n");
  };
  for (const auto& [kind, list] : names.at("architectures").items()) {
    print("{}:", kind);
    print_names(list);
  }
  print("types:");
  print_names(names.at("types"));
  print("chat formats:");
  print_names(names.at("chat_formats"));
}

void check_type(const char* option, const std::string& type, const char* list) {
  if (type.empty()) return;
  const auto types = take(mote_convert_list()).at(list).get<std::vector<std::string>>();
  if (std::find(types.begin(), types.end(), type) != types.end()) return;
  usage_fail("{}: no type '{}'{}; mote convert --list prints them", option, type,
             convert::did_you_mean(type, types));
}

std::string options_of(const ConvertArguments& arguments) {
  Json options = {{"no-tokenizer", arguments.no_tokenizer}, {"small-tables", !arguments.target.empty()},
                  {"long-context", arguments.long_context}, {"normalize", arguments.normalize},
                  {"ignore-key", arguments.ignored_keys},   {"lora", arguments.adapters}};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) options[key] = value;
  };
  add("type", arguments.type);
  add("head-type", arguments.head_type);
  add("chat-format", arguments.chat_format);
  add("thinking", arguments.thinking);
  add("pooling", arguments.pooling);
  add("calibrate", arguments.text);
  add("tower", arguments.tower);
  add("picture-size", arguments.picture_size);
  add("any-picture-size", arguments.any_picture_size);
  add("language", arguments.language);
  return text_of(options);
}

void note_template(const Json& report) {
  if (report.at("template_remark").is_null()) return;
  const std::string remark = one_line(report.at("template_remark").get<std::string>());
  const bool has_format = !report.at("chat_format").is_null();
  if (report.at("keeps_chat_template").get<bool>() && !has_format) {
    note("the model's chat template is rendered as it is; firmware and the C core have no format of it: {}",
         remark);
  } else if (!has_format) {
    const auto names = take(mote_convert_list()).at("chat_formats").get<std::vector<std::string>>();
    note("the model's chat template becomes no format: {}; mote chat needs --chat-format NAME ({})", remark,
         fmt::join(names, ", "));
  } else {
    note("the model's chat template: {}", remark);
  }
}

Json convert_source(const ConvertArguments& arguments) {
  mote_convert_calls calls = {};
  calls.progress = [](void*, const char* stage, double part) { show_progress(stage, part); };
  const std::string options = options_of(arguments);
  mote_convert_result* const result =
      mote_convert(arguments.source.c_str(), arguments.output.c_str(), options.c_str(), &calls);
  const std::string sentence = mote_convert_sentence(result);
  for (const auto& [option, value] : {std::pair{"picture-size", arguments.picture_size},
                                      std::pair{"any-picture-size", arguments.any_picture_size}}) {
    if (mote_convert_status(result) != MOTE_INVALID_ARGUMENT ||
        !sentence.starts_with(fmt::format("option \"{}\"", option)))
      continue;
    mote_convert_free(result);
    usage_fail("--{} {}: give pixels as WIDTHxHEIGHT", option, value);
  }
  return take(result);
}

void convert_model(const ConvertArguments& arguments) {
  if (arguments.list) return list_names();
  if (arguments.source.empty()) fail_missing("SRC");
  if (arguments.output.empty()) fail_missing("--output");
  check_type("--type", arguments.type, "types");
  check_type("--head-type", arguments.head_type, "head_types");
  const Json report = convert_source(arguments);
  clear_progress();
  print_tensors(report, arguments.verbose);
  print("\n{} ({}), {}: {} of flash in {}\n", one_line(report.at("name").get<std::string>()),
        report.at("architecture").get<std::string>(), report.at("type").get<std::string>(),
        human_bytes(report.at("file_bytes").get<uint64_t>()), arguments.output);
  if (arguments.target.empty()) {
    print_memory(report);
  } else {
    print_firmware_report(arguments.output);
  }
  if (const Json& format = report.at("chat_format"); !format.is_null())
    print("\nchat format: {}\n", format.get<std::string>());
  for (const Json& text : report.at("notes")) note("{}", one_line(text.get<std::string>()));
  note_template(report);
}

}  // namespace

void add_convert(CommandLine& line) {
  auto arguments = std::make_shared<ConvertArguments>();
  Command command = line.command("convert", "Convert a model to a .mote file");
  command
      .option("SRC", &arguments->source,
              "A Hugging Face or CTranslate2 directory, an .onnx, a .gguf or a llama2.c .bin")
      .type("");
  command.option("-o,--output", &arguments->output, "The .mote file to write, replaced if it exists")
      .type("FILE");
  command
      .option("--tower", &arguments->tower, "Of a model of pictures or sounds and texts, the one to convert")
      .one_of({"vision", "audio", "text"});
  Option size = command
                    .option("--picture-size", &arguments->picture_size,
                            "The sides that pictures become, for models whose pictures keep their ratio "
                            "(default: the model's own)")
                    .type("WIDTHxHEIGHT");
  command
      .option("--any-picture-size", &arguments->any_picture_size,
              "Take pictures of any size, of at most as many patches as this one has")
      .type("WIDTHxHEIGHT")
      .excludes(size);
  command
      .option(
          "--language", &arguments->language,
          "Of a model of speech with adapters of languages (MMS), the one that the file is for, by its code "
          "(default: that of the model's own weights)")
      .type("CODE");
  command
      .option("--target", &arguments->target,
              "For firmware: small tables of the tokenizer, and what the model takes of flash and RAM")
      .one_of({"cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "riscv32"});
  command
      .option("--type", &arguments->type,
              std::string("Weights: q8 or q4 (a type for each kind of tensor), or ") +
                  mote_convert_type_names(0) + " for all (default: a GGUF's own types, else q8)")
      .type("TYPE");
  command
      .option("--head-type", &arguments->head_type,
              std::string("The output matrix, and an embedding tied to it: ") + mote_convert_type_names(1) +
                  " (default: as --type says)")
      .type("TYPE");
  command
      .option("--calibrate", &arguments->text,
              "Round a decoder's weights and activations by what they meet in this text")
      .type("TEXT");
  command
      .option("--lora", &arguments->adapters,
              "Merge a LoRA adapter, times SCALE (default: 1); may be given again")
      .type("DIR[=SCALE]")
      .repeated();
  command
      .option("--chat-format", &arguments->chat_format,
              "How conversations become text (default: as the model's template says, if it is known)")
      .type("NAME");
  command
      .option("--thinking", &arguments->thinking,
              "The chat template's switch enable_thinking (default: as the template does without it)")
      .type("WHAT")
      .one_of({"on", "off"});
  Option pooling =
      command
          .option(
              "--pooling", &arguments->pooling,
              "How an encoder's token vectors become one for the text (default: as a sentence-transformers "
              "directory says); none keeps them apart")
          .type("KIND")
          .one_of({"mean", "cls", "max", "last", "none"});
  command.flag("--normalize", &arguments->normalize, "Scale that vector to length 1").needs(pooling);
  command
      .option("--ignore-key", &arguments->ignored_keys,
              "A key of config.json that is not understood and changes nothing; may be given again")
      .type("KEY")
      .repeated();
  command.flag("--no-tokenizer", &arguments->no_tokenizer,
               "Leave the tokenizer out: the file then takes token ids only");
  command.flag("--long-context", &arguments->long_context,
               "LongRoPE's long factors and all of the context, for short texts too");
  command.flag("--list", &arguments->list, "Print the architectures and types, and exit");
  command.flag("--verbose", &arguments->verbose, "A line for each tensor, not for each kind of layer");
  command.callback([arguments] { convert_model(*arguments); });
}

}  // namespace mote::cli
