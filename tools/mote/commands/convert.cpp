// SPDX-License-Identifier: Apache-2.0
//
// mote convert: a model directory, GGUF or llama2.c file to one .mote file, with a report of what became of
// it.
#include "converter/convert.h"
#include "host/base/did_you_mean.h"

#include <algorithm>
#include <map>
#include <memory>

#include "tools/mote/commands/commands.h"
#include "tools/mote/firmware.h"
#include "tools/mote/output.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct ConvertArguments {
  std::string source, output, type, head_type, chat_format, pooling, thinking, target, tower, text,
      picture_size;
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
std::vector<TensorGroup> group_tensors(const std::vector<convert::TensorReport>& tensors, bool verbose) {
  std::vector<TensorGroup> groups;
  std::map<std::string, size_t> index;
  for (const convert::TensorReport& tensor : tensors) {
    const std::string name = verbose ? tensor.name : without_numbers(tensor.name);
    const std::string key = fmt::format("{}\n{}\n{}x{}", name, tensor.type, tensor.rows, tensor.cols);
    const auto [at, added] = index.try_emplace(key, groups.size());
    if (added)
      groups.push_back({name, tensor.type, tensor.rows, tensor.cols, 0, 0, tensor.bits_per_weight, 0});
    TensorGroup& group = groups[at->second];
    group.bytes += tensor.bytes;
    group.count += 1;
    group.worst_error = std::max(group.worst_error, tensor.relative_error);
  }
  return groups;
}

void print_tensors(const convert::ConvertReport& report, bool verbose) {
  using enum Table::Align;
  Table table({{"tensor"},
               {"count", right},
               {"shape", right},
               {"type"},
               {"bits", right},
               {"bytes", right},
               {"worst error", right}});
  for (const TensorGroup& group : group_tensors(report.tensors, verbose)) {
    table.row({group.name, std::to_string(group.count), fmt::format("{} x {}", group.rows, group.cols),
               group.type, fmt::format("{:.2f}", group.bits), human_bytes(group.bytes),
               group.worst_error == 0 ? "exact" : fmt::format("{:.3f} %", 100.0 * group.worst_error)});
  }
  table.print();
}

void print_memory(const convert::ConvertReport& report) {
  using enum Table::Align;
  Table table({{"context", right}, {"RAM with one thread", right}});
  for (const convert::MemoryReport& memory : report.memory) {
    table.row({std::to_string(memory.context), human_bytes(memory.arena_bytes)});
  }
  table.print();
}

void list_names() {
  for (const convert::ArchitecturesOfKind& each : convert::architectures_by_kind()) {
    print("{}:", each.kind);
    for (const std::string& name : each.names) print(" {}", name);
    print("\n");
  }
  print("types:");
  for (const std::string& name : convert::type_names()) print(" {}", name);
  print("\nchat formats:");
  for (const std::string& name : convert::chat_format_names()) print(" {}", name);
  print("\n");
}

void check_type(const char* option, const std::string& type, const std::vector<std::string>& types) {
  if (type.empty() || std::find(types.begin(), types.end(), type) != types.end()) return;
  usage_fail("{}: no type '{}'{}; mote convert --list prints them", option, type,
             convert::did_you_mean(type, types));
}

void convert_model(const ConvertArguments& arguments) {
  if (arguments.list) return list_names();
  if (arguments.source.empty()) fail_missing("SRC");
  if (arguments.output.empty()) fail_missing("--output");
  check_type("--type", arguments.type, convert::type_names());
  check_type("--head-type", arguments.head_type, convert::head_type_names());
  convert::ConvertOptions options;
  options.type = arguments.type;
  options.head_type = arguments.head_type;
  options.chat_format = arguments.chat_format;
  if (!arguments.thinking.empty()) options.thinking = arguments.thinking == "on";
  options.no_tokenizer = arguments.no_tokenizer;
  options.small_tables = !arguments.target.empty();
  options.long_context = arguments.long_context;
  options.pooling = arguments.pooling;
  options.ignored_keys = arguments.ignored_keys;
  options.normalize = arguments.normalize;
  options.calibration_text = arguments.text;
  options.adapters = arguments.adapters;
  options.tower = arguments.tower;
  if (!arguments.picture_size.empty() && !convert::read_picture_size(arguments.picture_size, options))
    usage_fail("--picture-size {}: give pixels as WIDTHxHEIGHT", arguments.picture_size);
  options.progress = show_progress;
  const convert::ConvertReport report = convert::convert(arguments.source, arguments.output, options);
  clear_progress();
  print_tensors(report, arguments.verbose);
  print("\n{} ({}), {}: {} of flash in {}\n\n", one_line(report.name), report.architecture, report.type,
        human_bytes(report.file_bytes), arguments.output);
  print_memory(report);
  if (!arguments.target.empty()) print_firmware_report(ModelFile(arguments.output));
  if (!report.chat_format.empty()) print("\nchat format: {}\n", report.chat_format);
  for (const std::string& text : report.notes) note("{}", one_line(text));
  if (report.template_remark.empty()) return;
  if (report.keeps_chat_template && report.chat_format.empty()) {
    note("the model's chat template is rendered as it is; firmware and the C core have no format of it: {}",
         one_line(report.template_remark));
  } else if (report.chat_format.empty()) {
    note("the model's chat template becomes no format: {}; mote chat needs --chat-format NAME ({})",
         one_line(report.template_remark), fmt::join(convert::chat_format_names(), ", "));
  } else {
    note("the model's chat template: {}", one_line(report.template_remark));
  }
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
  command.option("--tower", &arguments->tower, "Of a model of pictures and texts, the one to convert")
      .one_of({"vision", "text"});
  command
      .option("--picture-size", &arguments->picture_size,
              "The sides that pictures become, for models whose pictures keep their ratio (default: the "
              "model's own)")
      .type("WIDTHxHEIGHT");
  command
      .option("--target", &arguments->target,
              "For firmware: small tables of the tokenizer, and what the model takes of flash and RAM")
      .one_of({"cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "riscv32"});
  command
      .option("--type", &arguments->type,
              "Weights: q8 or q4 (a type for each kind of tensor), or " +
                  convert::type_names_for_people(false) + " for all (default: a GGUF's own types, else q8)")
      .type("TYPE");
  command
      .option("--head-type", &arguments->head_type,
              "The output matrix, and an embedding tied to it: " + convert::type_names_for_people(true) +
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
