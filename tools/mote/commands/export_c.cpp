// SPDX-License-Identifier: Apache-2.0
//
// mote export-c: a model as a C source or an assembler's .incbin, and what of mote it uses.
#include <fstream>
#include <memory>
#include <set>

#include "host/base/error.h"
#include "kernels/dispatch.h"
#include "runtime/exec/session.h"
#include "schema/mote_generated.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/firmware.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

namespace fs = std::filesystem;

struct ExportCArguments {
  std::string file, output, section = ".model";
  FirmwareFlags firmware;
  bool incbin = false, no_sentences = false;
};

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) convert::fail("{}: cannot be written", path.string());
}

std::string source_of(const ModelFile& file, const std::string& section) {
  std::string text = fmt::format(
      "/* By mote export-c: the model {}. */\n"
      "__attribute__((aligned(64), section(\"{}\")))\nconst unsigned char firmware_model[{}] = {{",
      file.info().name, section, file.bytes().size());
  for (size_t i = 0; i < file.bytes().size(); ++i)
    text += fmt::format("{}{},", i % 32 == 0 ? "\n" : "", std::to_integer<int>(file.bytes()[i]));
  return text + fmt::format("\n}};\nconst unsigned long firmware_model_bytes = {};\n", file.bytes().size());
}

std::string incbin_of(const ModelFile& file, const std::string& section) {
  return fmt::format(
      "/* By mote export-c: the model {}. */\n  .section {}, \"a\"\n  .balign 64\n"
      "  .global firmware_model\n  .global firmware_model_end\n  .global firmware_model_bytes\n"
      "firmware_model:\n  .incbin \"model.mote\"\nfirmware_model_end:\n  .balign 8\n"
      "firmware_model_bytes:\n  .long {}\n",
      file.info().name, section, file.bytes().size());
}

/// The parts that the model's steps use: names of kernels, without their families, and a bit for each kind of
/// scores.
struct Used {
  std::set<std::string> kernels;
  uint32_t scores = 0;
};

Used used_by(const Session& session) {
  Used used;
  for (uint32_t i = 0; i < session.get()->step_count; ++i) {
    const Step& step = session.get()->steps[i];
    used.kernels.insert(step.kernel->name);
    if (step.op == Op::kAttention) used.scores |= 1u << static_cast<uint32_t>(step.attention.score);
  }
  return used;
}

std::set<std::string> operations_of(const file::Model& model) {
  std::set<std::string> names;
  for (const file::Program* program : *model.programs()) {
    for (const file::Op* op : *program->ops()) names.insert(file::EnumNameOpArgs(op->args_type()));
  }
  return names;
}

/// A bit for the activation of an operation that has one.
uint32_t activation_of(const file::Op& op) {
  const auto bit = [](const auto* table) {
    return table == nullptr ? 0 : 1u << static_cast<uint32_t>(table->activation());
  };
  return bit(op.args_as_Linear()) | bit(op.args_as_Gate()) | bit(op.args_as_CausalConv()) |
         bit(op.args_as_Experts()) | bit(op.args_as_DepthwiseConv()) | bit(op.args_as_TimeNorm()) |
         bit(op.args_as_Activate());
}

/// The parts of the runtime that the model uses. Firmware has one thread and no backend.
std::string runtime_parts_of(const file::Model& model, const Used& used, bool sentences) {
  bool whole = false, fixed = false;
  uint32_t activations = 0;
  for (const file::Program* program : *model.programs()) {
    whole = whole || is_whole(*program);
    for (const file::Op* op : *program->ops()) activations |= activation_of(*op);
  }
  for (const file::State* state : *model.states()) fixed = fixed || is_fixed(*state);
  const bool media = model.sound() != nullptr || model.picture() != nullptr || model.speech() != nullptr ||
                     model.vision_input() != nullptr;
  return fmt::format(
      "\n/* The runtime. */\n#define MOTE_PART_WHOLE_SEQUENCES {:d}\n#define MOTE_PART_FIXED_STATES {:d}\n"
      "#define MOTE_PART_MEDIA {:d}\n#define MOTE_PART_THREADS 0\n#define MOTE_PART_BACKENDS 0\n"
      "#define MOTE_PART_TRACES 0\n"
      "#define MOTE_PART_WRITES 0 /* proved by the session that wrote this */\n"
      "#define MOTE_PART_SEARCH {:d}\n#define MOTE_PART_GENERATION {:d}\n#define MOTE_PART_GRAMMAR 0\n"
      "#define MOTE_PART_SENTENCES {:d}\n#define MOTE_ACTIVATIONS {:#x}\n#define MOTE_SCORES {:#x}\n",
      whole, fixed, media, model.beam_search() != nullptr, model.generation() != nullptr, sentences,
      activations, used.scores);
}

/// A macro that is its text where the model uses the thing, else nothing.
std::string part(const std::string& macro, bool used) {
  return fmt::format("#define {}(...){}\n", macro, used ? " __VA_ARGS__" : "");
}

std::string parts_of(const ModelFile& file, const mote_session_options& options, bool sentences) {
  const file::Model& model = *file::GetSizePrefixedModel(file.bytes().data());
  const Used used = used_by(Session(file, options));
  std::set<std::string> all;
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (uint32_t i = 0; i < count; ++i) all.insert(kernels[i].name);
  std::string text = "\n/* Kernels. */\n";
  for (const std::string& name : all) text += part("MOTE_KERNEL_" + name, used.kernels.count(name) != 0);
  text += "\n/* Operations. */\n";
  const std::set<std::string> operations = operations_of(model);
#define OP(op, operation, types) text += part("MOTE_OP_" #op, operations.count(#op) != 0);
#include "kernels/op_list.inc"
  const file::Tokenizer* tokenizer = model.tokenizer();
  const auto is = [&](file::TokenModel kind) {
    return tokenizer != nullptr && tokenizer->model() == kind ? 1 : 0;
  };
  const bool normalizes =
      tokenizer != nullptr && tokenizer->normalizers() != nullptr && tokenizer->normalizers()->size() != 0;
  text += fmt::format(
      "\n/* The tokenizer. */\n#define MOTE_TEXT_BPE {}\n#define MOTE_TEXT_WORDPIECE {}\n"
      "#define MOTE_TEXT_UNIGRAM {}\n#define MOTE_TEXT_NORMALIZERS {}\n#define MOTE_TEXT_PAIRS {:d}\n",
      is(file::TokenModel::bpe), is(file::TokenModel::wordpiece), is(file::TokenModel::unigram),
      normalizes ? 1 : 0,
      is_whole(*model.programs()->Get(0)) || (tokenizer != nullptr && tokenizer->cut_left()));
  return text + runtime_parts_of(model, used, sentences);
}

std::string config_of(const ModelFile& file, const mote_session_options& options, bool sentences) {
  const mote_memory memory = firmware_memory(file, options);
  return fmt::format(
             "/* By mote export-c: firmware for the model {}. The build names this file in "
             "MOTE_MODEL_CONFIG. */\n"
             "#ifndef MOTE_CONFIG_H_\n#define MOTE_CONFIG_H_\n\n"
             "#define MOTE_CONFIG_CONTEXT {}\n#define MOTE_CONFIG_CHUNK {}\n#define MOTE_CONFIG_TEXT_BYTES "
             "{}\n"
             "#define MOTE_CONFIG_KV {} /* a mote_kv_dtype */\n"
             "#define MOTE_CONFIG_MODEL_BYTES {}\n"
             "#define MOTE_CONFIG_ARENA_BYTES {} /* enough with these options on 32 bits */\n",
             file.info().name, options.context, options.chunk, options.text_bytes,
             static_cast<int>(options.kv_dtype), file.bytes().size(), total(memory)) +
         parts_of(file, options, sentences) + "\n#endif\n";
}

void export_model(const ExportCArguments& arguments) {
  if (arguments.output.empty()) fail_missing("--output");
  const ModelFile file(arguments.file, MOTE_OPEN_CHECK_HASHES);
  const mote_session_options options = firmware_options(file, arguments.firmware);
  const fs::path folder = arguments.output;
  fs::create_directories(folder);
  const std::string config = config_of(file, options, !arguments.no_sentences);
  if (arguments.incbin) {
    const auto* bytes = reinterpret_cast<const char*>(file.bytes().data());
    write_text(folder / "model.mote", std::string(bytes, file.bytes().size()));
    write_text(folder / "model.S", incbin_of(file, arguments.section));
  } else {
    write_text(folder / "model.c", source_of(file, arguments.section));
  }
  write_text(folder / "mote_config.h", config);
  print("{}: {} bytes of flash for the model, an arena of at most {} bytes for a context of {}\n",
        arguments.output, file.bytes().size(), total(firmware_memory(file, options)), options.context);
  if (const std::string remark = page_remark(file, options.context); !remark.empty()) note("{}", remark);
}

}  // namespace

void add_export_c(CommandLine& line) {
  auto [command, arguments] = model_command(
      line, "export-c", "Write a model as source for firmware, and what of mote it uses", export_model);
  command
      .option("-o,--output", &arguments.output,
              "The folder for model.c and mote_config.h, whose options the firmware takes")
      .type("DIR");
  command.flag("--incbin", &arguments.incbin, "model.S, which includes model.mote, in place of model.c");
  command.option("--section", &arguments.section, "The model's section (default: .model)").type("NAME");
  command.flag("--no-sentences", &arguments.no_sentences, "Errors of the firmware have their status alone");
  command.option("--context", &arguments.firmware.context, "Positions (default: 96)").type("N");
  command.option("--chunk", &arguments.firmware.chunk, "Prompt tokens computed at once (default: 4)")
      .type("N");
  command.option("--text-bytes", &arguments.firmware.text_bytes, "The longest word (default: 64)").type("N");
}

}  // namespace mote::cli
