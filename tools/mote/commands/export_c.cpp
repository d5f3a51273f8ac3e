// SPDX-License-Identifier: Apache-2.0
//
// mote export-c: a model as a C source or an assembler's .incbin, and what of mote it uses.
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "host/base/error.h"
#include "host/base/mapped_file.h"
#include "host/grammar/vocabulary.h"
#include "kernels/dispatch.h"
#include "runtime/exec/session.h"
#include "runtime/grammar/matcher.h"
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
  std::string file, output, section = ".model", grammar;
  FirmwareFlags firmware;
  bool incbin = false, no_sentences = false;
};

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) convert::fail("{}: cannot be written", path.string());
}

/// Bytes that firmware has in flash: `name` is "model" or "grammar", `what` says more of it.
struct Held {
  const char* name;
  std::string what, file;
  std::span<const std::byte> bytes;
};

std::string source_of(const Held& held, const std::string& section) {
  std::string text = fmt::format(
      "/* By mote export-c: {}. */\n"
      "__attribute__((aligned(64), section(\"{}\")))\nconst unsigned char firmware_{}[{}] = {{",
      held.what, section, held.name, held.bytes.size());
  for (size_t i = 0; i < held.bytes.size(); ++i)
    text += fmt::format("{}{},", i % 32 == 0 ? "\n" : "", std::to_integer<int>(held.bytes[i]));
  return text +
         fmt::format("\n}};\nconst unsigned long firmware_{}_bytes = {};\n", held.name, held.bytes.size());
}

std::string incbin_of(const Held& held, const std::string& section) {
  return fmt::format(
      "/* By mote export-c: {0}. */\n  .section {1}, \"a\"\n  .balign 64\n"
      "  .global firmware_{2}\n  .global firmware_{2}_end\n  .global firmware_{2}_bytes\n"
      "firmware_{2}:\n  .incbin \"{3}\"\nfirmware_{2}_end:\n  .balign 8\n"
      "firmware_{2}_bytes:\n  .long {4}\n",
      held.what, section, held.name, held.file, held.bytes.size());
}

void write_held(const Held& held, const ExportCArguments& arguments) {
  const fs::path folder = arguments.output;
  if (arguments.incbin) {
    write_text(folder / held.file,
               std::string(reinterpret_cast<const char*>(held.bytes.data()), held.bytes.size()));
    write_text(folder / (std::string(held.name) + ".S"), incbin_of(held, arguments.section));
  } else {
    write_text(folder / (std::string(held.name) + ".c"), source_of(held, arguments.section));
  }
}

/// A grammar's tables, proved to be of the model's vocabulary, and the RAM of one answer. Models for firmware
/// have no tables of their vocabulary, which are made here then.
class FirmwareGrammar {
 public:
  FirmwareGrammar(const ModelFile& model, const std::string& path) : file_(path) {
    // The tables are read as 64-bit words.
    words_.resize((file_.bytes().size() + 7) / 8);
    std::memcpy(words_.data(), file_.bytes().data(), file_.bytes().size());
    mote_error error = {};
    const mote_status stored = mote_model_vocabulary(model.model(), &vocabulary_, &error);
    if (stored == MOTE_UNSUPPORTED_FILE) {
      make_vocabulary(model);
    } else {
      check(stored, error, model.path());
    }
    check(mote_grammar_open(words_.data(), file_.bytes().size(), &vocabulary_, &grammar_, &error), error,
          path);
  }

  std::span<const std::byte> bytes() const { return file_.bytes(); }
  /// Returns the tables of the vocabulary; empty: the model's file has them.
  std::span<const std::byte> vocabulary() const { return std::as_bytes(std::span(made_)).first(made_bytes_); }
  size_t matcher_bytes() const { return mote_matcher_bytes(&grammar_); }
  size_t scratch_bytes() const {
    MatcherScratch scratch;
    return lay_out_scratch(view_of(grammar_), view_of(vocabulary_), nullptr, &scratch, kSmallScratch);
  }
  size_t mask_words() const { return (vocabulary_.vocab + 31) / 32; }
  size_t ram() const { return matcher_bytes() + scratch_bytes() + mask_words() * sizeof(uint32_t); }

 private:
  void make_vocabulary(const ModelFile& model) {
    const std::vector<uint8_t> tables = grammar::vocabulary_tables(model.model());
    made_.resize((tables.size() + 7) / 8);
    made_bytes_ = tables.size();
    std::memcpy(made_.data(), tables.data(), tables.size());
    mote_error error = {};
    check(mote_vocabulary_open(made_.data(), made_bytes_, model.info().stop_ids, model.info().stop_count,
                               &vocabulary_, &error),
          error, model.path());
  }

  convert::MappedFile file_;
  std::vector<uint64_t> words_, made_;
  size_t made_bytes_ = 0;
  mote_vocabulary vocabulary_ = {};
  mote_grammar grammar_ = {};
};

std::string grammar_config(const FirmwareGrammar* grammar) {
  if (grammar == nullptr) return "";
  return fmt::format(
      "#define MOTE_CONFIG_GRAMMAR_BYTES {} /* of firmware_grammar */\n"
      "#define MOTE_CONFIG_VOCABULARY_BYTES {} /* of firmware_vocabulary; 0: the model has its tables */\n"
      "#define MOTE_CONFIG_MATCHER_BYTES {} /* at most, as is the next */\n"
      "#define MOTE_CONFIG_MATCHER_SCRATCH_BYTES {}\n"
      "#define MOTE_CONFIG_MASK_WORDS {}\n",
      grammar->bytes().size(), grammar->vocabulary().size(), grammar->matcher_bytes(),
      grammar->scratch_bytes(), grammar->mask_words());
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
std::string runtime_parts_of(const file::Model& model, const Used& used, bool sentences, bool grammar) {
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
      "#define MOTE_PART_SEARCH {:d}\n#define MOTE_PART_GENERATION {:d}\n#define MOTE_PART_GRAMMAR {:d}\n"
      "#define MOTE_PART_SENTENCES {:d}\n#define MOTE_ACTIVATIONS {:#x}\n#define MOTE_SCORES {:#x}\n",
      whole, fixed, media, model.beam_search() != nullptr, model.generation() != nullptr, grammar, sentences,
      activations, used.scores);
}

/// A macro that is its text where the model uses the thing, else nothing.
std::string part(const std::string& macro, bool used) {
  return fmt::format("#define {}(...){}\n", macro, used ? " __VA_ARGS__" : "");
}

std::string parts_of(const ModelFile& file, const mote_session_options& options, bool sentences,
                     bool grammar) {
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
  return text + runtime_parts_of(model, used, sentences, grammar);
}

std::string config_of(const ModelFile& file, const mote_session_options& options, bool sentences,
                      const FirmwareGrammar* grammar) {
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
         grammar_config(grammar) + parts_of(file, options, sentences, grammar != nullptr) + "\n#endif\n";
}

void export_model(const ExportCArguments& arguments) {
  if (arguments.output.empty()) fail_missing("--output");
  const ModelFile file(arguments.file, MOTE_OPEN_CHECK_HASHES);
  const mote_session_options options = firmware_options(file, arguments.firmware);
  std::optional<FirmwareGrammar> grammar;
  if (!arguments.grammar.empty()) grammar.emplace(file, arguments.grammar);
  const fs::path folder = arguments.output;
  fs::create_directories(folder);
  const std::string config = config_of(file, options, !arguments.no_sentences, grammar ? &*grammar : nullptr);
  write_held({"model", fmt::format("the model {}", file.info().name), "model.mote", file.bytes()}, arguments);
  if (grammar) {
    const std::string what = fmt::format("a grammar of the model {}", file.info().name);
    write_held({"grammar", what, "grammar.mgr", grammar->bytes()}, arguments);
    if (!grammar->vocabulary().empty())
      write_held({"vocabulary", "the vocabulary of " + what, "vocabulary.bin", grammar->vocabulary()},
                 arguments);
  }
  write_text(folder / "mote_config.h", config);
  print("{}: {} bytes of flash for the model, an arena of at most {} bytes for a context of {}\n",
        arguments.output, file.bytes().size(), total(firmware_memory(file, options)), options.context);
  if (grammar)
    print("grammar: {} bytes of flash, {} for its vocabulary; {} bytes of RAM at most beside the arena\n",
          grammar->bytes().size(), grammar->vocabulary().size(), grammar->ram());
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
  command
      .option("--grammar", &arguments.grammar,
              "Tables by mote grammar --model, which answers keep to: grammar.c beside model.c")
      .type("FILE");
  command.flag("--no-sentences", &arguments.no_sentences, "Errors of the firmware have their status alone");
  command.option("--context", &arguments.firmware.context, "Positions (default: 96)").type("N");
  command.option("--chunk", &arguments.firmware.chunk, "Prompt tokens computed at once (default: 4)")
      .type("N");
  command.option("--text-bytes", &arguments.firmware.text_bytes, "The longest word (default: 64)").type("N");
}

}  // namespace mote::cli
