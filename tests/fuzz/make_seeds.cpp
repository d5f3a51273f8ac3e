// SPDX-License-Identifier: Apache-2.0
//
// Small inputs of every kind to start fuzzing from, in a folder for each target: mote_fuzz_seeds FOLDER. What
// exists already is made again, the same.
#include <cstdio>
#include <random>

#include "converter/convert.h"
#include "host/base/error.h"
#include "host/grammar/expression.h"
#include "host/grammar/vocabulary.h"
#include "tests/fuzz/file_seeds.h"
#include "tests/fuzz/kept_model.h"
#include "tests/fuzz/model_choices.h"
#include "tests/fuzz/restore_choices.h"
#include "tests/support/any_file.h"
#include "tests/support/checkpoint.h"
#include "tests/support/ct2_builder.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/picture_graph.h"
#include "tests/support/sentence_piece_file.h"
#include "tests/support/source_model.h"
#include "tests/support/state_layers.h"
#include "tests/support/tiny_llama.h"

namespace fs = std::filesystem;
using mote::testing::GgufBuilder;
using mote::testing::one_layer_llama;
using mote::testing::raw;
using mote::testing::read_text;
using mote::testing::write_text;

namespace {

const fs::path kGolden = fs::path(MOTE_SOURCE_DIR) / "tests/golden";

fs::path folder(const fs::path& out, const char* target) {
  fs::create_directories(out / target);
  return out / target;
}

/// A llama of one layer whose matrices are as small as the packing makes them anyway.
mote::testing::TinyLlama smallest_llama(uint32_t vocab) {
  mote::testing::TinyLlama llama;
  llama.tensors.clear();
  llama.config["vocab_size"] = vocab;
  llama.config["num_hidden_layers"] = 1;
  llama.config["num_attention_heads"] = 2;
  llama.config["num_key_value_heads"] = 1;
  llama.config["intermediate_size"] = 32;
  llama.config["tie_word_embeddings"] = true;
  llama.config["max_position_embeddings"] = 600;
  llama.add("model.embed_tokens.weight", {vocab, 32});
  llama.add("model.norm.weight", {32});
  const std::string layer = "model.layers.0.";
  llama.add(layer + "input_layernorm.weight", {32});
  llama.add(layer + "post_attention_layernorm.weight", {32});
  llama.add(layer + "self_attn.q_proj.weight", {32, 32});
  llama.add(layer + "self_attn.k_proj.weight", {16, 32});
  llama.add(layer + "self_attn.v_proj.weight", {16, 32});
  llama.add(layer + "self_attn.o_proj.weight", {32, 32});
  llama.add(layer + "mlp.gate_proj.weight", {32, 32});
  llama.add(layer + "mlp.up_proj.weight", {32, 32});
  llama.add(layer + "mlp.down_proj.weight", {32, 32});
  return llama;
}

/// `count` bytes: those given, then zeros.
std::string choices(std::initializer_list<uint8_t> given, size_t count) {
  std::string bytes(given.begin(), given.end());
  bytes.resize(count);
  return bytes;
}

/// Bytes that choose anything.
std::string random_choices(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>(random() & 0xFF);
  return bytes;
}

/// Converts into inputs of the target `model`: with small options, and with some chosen at random.
void make_model(const fs::path& source, const fs::path& models, const std::string& name,
                const mote::convert::ConvertOptions& options) {
  const mote::testing::TempDirectory folder;
  mote::convert::convert(source, folder.path() / "model.mote", options);
  const std::string file = read_text(folder.path() / "model.mote");
  write_text(models / name, file + choices({}, fuzz::kModelChoices));
  for (uint32_t seed = 0; seed < 4; ++seed) {
    write_text(models / (name + std::to_string(seed)), file + random_choices(seed, fuzz::kModelChoices));
  }
}

void make_encoders(const fs::path& models) {
  mote::convert::ConvertOptions options;
  options.type = "q8c";
  for (const char* name : {"bert_classifier", "mpnet_sentence"})
    make_model(kGolden / "models" / name, models, name, options);
  for (const char* type : {"q4g32", "q8g32"}) {
    options.type = type;
    const std::string name = std::string("roberta_masked_lm_") + type;
    make_model(kGolden / "models/roberta_masked_lm", models, name, options);
    // 310 sequences in 3,600 rows, all of them outputs, by two threads.
    const std::string file =
        read_text(models / name).substr(0, fs::file_size(models / name) - fuzz::kModelChoices);
    write_text(models / ("many_sequences_" + std::string(type)),
               file + choices({5, 6, 10, 0, 1, 0, 0, 0, 0, 0, 10, 2, 0x35, 1}, fuzz::kModelChoices));
  }
}

/// 4096 sequences of 2^24 positions by 2^24 columns of floats in two caches: 2^64 bytes.
void make_caches_of_2_to_the_64(const fs::path& models) {
  const test::AlignedBytes file =
      test::decoder_file(16, 1u << 24, [](mote::convert::Graph& graph, const mote::convert::View&) {
        graph.caches.assign(2, {1u << 14, 1u << 10, 0});
      });
  write_text(models / "caches_of_2_to_the_64",
             std::string(reinterpret_cast<const char*>(file.data()), file.size()) +
                 choices({14, 7, 11, 0, 0, MOTE_KV_F32, 1}, fuzz::kModelChoices));
}

/// Tokens that attend to sources of ids, and to ones whose positions are pairs of rows of floats.
void make_sources(const fs::path& models) {
  for (const bool pairs : {false, true}) {
    const auto rows = pairs ? test::SourceRows::pairs : test::SourceRows::ids;
    const test::AlignedBytes file = test::graph_file(test::source_graph(rows, true), "sources");
    const std::string bytes(reinterpret_cast<const char*>(file.data()), file.size());
    for (uint32_t seed = 0; seed < 4; ++seed) {
      write_text(models / ((pairs ? "sources_of_pairs" : "sources") + std::to_string(seed)),
                 bytes + random_choices(seed, fuzz::kModelChoices));
    }
  }
}

/// Decoders with states of a fixed size, alone and beside attention.
void make_fixed_states(const fs::path& models) {
  using test::Mixer;
  const std::vector<std::vector<Mixer>> kinds = {{Mixer::conv, Mixer::ssm},
                                                 {Mixer::selective, Mixer::attention},
                                                 {Mixer::delta, Mixer::conv, Mixer::attention}};
  for (size_t i = 0; i < kinds.size(); ++i) {
    const test::AlignedBytes bytes = test::state_file(kinds[i]);
    const std::string file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::string name = "fixed_states_" + std::to_string(i);
    write_text(models / name, file + choices({}, fuzz::kModelChoices));
    for (uint32_t seed = 0; seed < 4; ++seed)
      write_text(models / (name + "_" + std::to_string(seed)),
                 file + random_choices(seed, fuzz::kModelChoices));
  }
}

/// Models of pictures with steps of each kind, and models that hear, with what their tasks take.
void make_media(const fs::path& models) {
  using enum mote::convert::PictureStepKind;
  const std::vector<mote::convert::PictureStepKind> kinds[] = {{resize},         {resize_shorter, crop},
                                                               {resize_bounded}, {resize_evenly},
                                                               {resize_pixels},  {resize_longer, tile}};
  for (size_t i = 0; i < std::size(kinds); ++i) {
    const test::AlignedBytes bytes =
        test::graph_file(test::picture_graph(test::steps_of(kinds[i])), "pictures");
    write_text(models / ("pictures_" + std::to_string(i)),
               std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) +
                   choices({}, fuzz::kModelChoices));
  }
  const test::AlignedBytes bytes =
      test::decoder_file(16, 8, [](mote::convert::Graph& graph, const mote::convert::View&) {
        graph.task = mote::convert::Task::generate;
        graph.mask_id = 3;
        graph.languages = {{"en", 3}, {"eng_Latn", 15}};
      });
  write_text(models / "languages", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) +
                                       choices({}, fuzz::kModelChoices));
  mote::convert::ConvertOptions options;
  options.type = "f32";
  for (const char* name : {"moonshine", "parakeet_tdt", "wav2vec2_ctc", "whisper"})
    make_model(kGolden / "models" / name, models, name, options);
}

void make_models(const fs::path& out) {
  const fs::path models = folder(out, "model");
  mote::convert::ConvertOptions options;
  mote::testing::TinyLlama llama = smallest_llama(20);
  const mote::testing::TempDirectory source, sliding, text;
  llama.write(source.path());
  for (const char* type : {"f32", "f16", "q8g32", "q4g32", "q4mg32", "q8c"}) {
    options.type = type;
    make_model(source.path(), models, type, options);
  }
  llama.config["model_type"] = "mistral";
  llama.config["architectures"] = {"MistralForCausalLM"};
  llama.config["sliding_window"] = 20;
  llama.write(sliding.path());
  make_model(sliding.path(), models, "sliding", options);
  make_encoders(models);
  make_caches_of_2_to_the_64(models);
  make_sources(models);
  make_fixed_states(models);
  make_media(models);
  smallest_llama(58).write(text.path());
  fs::copy(kGolden / "tokenizers/small/tokenizer.json", text.path());
  options.type = "q4";
  options.chat_format = "zephyr";
  make_model(text.path(), models, "text", options);
}

/// A checkpoint, and its pickle by itself.
void make_pytorch(const fs::path& out) {
  const std::string pickle =
      test::pickled_dict({{"w", test::pickled_tensor("FloatStorage", "0", 0, {2, 3}, {3, 1})},
                          {"part", test::pickled_tensor("HalfStorage", "0", 4, {2}, {1})},
                          {"step", test::pickled(uint8_t{9})}});
  write_text(folder(out, "pytorch") / "pickle", pickle);
  write_text(folder(out, "pytorch") / "archive", test::checkpoint(pickle));
  const std::string matrix = test::pickled_tensor("FloatStorage", "0", 0, {2, 3}, {3, 1});
  write_text(folder(out, "pytorch") / "stream", test::checkpoint_stream(test::pickled_dict({{"w", matrix}})));
}

void make_safetensors(const fs::path& out) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> ids = {7, 8};
  mote::convert::NamedTensors tensors;
  tensors["matrix"] = mote::convert::f32_tensor({2, 3}, values);
  tensors["ids"] = mote::convert::i64_tensor({2}, ids);
  tensors["scalar"] = mote::convert::f32_tensor({}, {values.data(), 1});
  tensors["empty"] = {"BF16", {0, 4}, {}};
  mote::convert::write_safetensors(folder(out, "safetensors") / "tensors", tensors);
}

/// Of the first and the last version.
void make_ctranslate2(const fs::path& out) {
  for (const uint32_t version : {2u, 6u}) {
    write_text(folder(out, "ctranslate2") / ("marian" + std::to_string(version)),
               mote::testing::small_ct2_marian(version).bytes());
  }
}

void make_pictures(const fs::path& out) {
  for (const char* from : {"tests/pictures/files", "tests/written/picture_formats"}) {
    for (const auto& file : fs::directory_iterator(fs::path(MOTE_SOURCE_DIR) / from)) {
      const std::string kind = file.path().extension().string();
      if (kind == ".rgb" || kind == ".json") continue;
      fs::copy_file(file.path(), folder(out, "picture") / file.path().filename(),
                    fs::copy_options::overwrite_existing);
    }
  }
}

const std::vector<int64_t> kPackedShape = {8, 32};

/// Configs, each with the tensors of its layout.
void make_packed(const fs::path& out) {
  const std::vector<uint32_t> words(64, 0x76543210u);
  const std::vector<float> scales(16, 0.5f);
  const auto integers = [&](std::vector<uint64_t> shape, size_t count, const char* dtype = "I32") {
    return mote::convert::NamedTensor{dtype, std::move(shape),
                                      std::as_bytes(std::span(words)).first(4 * count)};
  };
  const auto scale = [&](std::vector<uint64_t> shape, size_t count) {
    return mote::convert::f32_tensor(std::move(shape), std::span(scales).first(count));
  };
  const std::tuple<const char*, const char*, mote::convert::NamedTensors> seeds[] = {
      {"gptq",
       R"({"quant_method": "gptq", "bits": 4, "group_size": -1})",
       {{"a.qweight", integers({4, 8}, 32)},
        {"a.qzeros", integers({1, 1}, 1)},
        {"a.scales", scale({1, 8}, 8)}}},
      {"awq",
       R"({"quant_method": "awq", "bits": 4, "group_size": 32})",
       {{"a.qweight", integers({32, 1}, 32)},
        {"a.qzeros", integers({1, 1}, 1)},
        {"a.scales", scale({1, 8}, 8)}}},
      {"compressed",
       R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"g": {"weights":
          {"num_bits": 4, "strategy": "channel"}}}})",
       {{"a.weight_packed", integers({8, 4}, 32)},
        {"a.weight_shape", mote::convert::i64_tensor({2}, kPackedShape)},
        {"a.weight_scale", scale({8, 1}, 8)}}},
      {"fp8",
       R"({"quant_method": "fp8", "weight_block_size": [3, 16]})",
       {{"a.weight", integers({4, 32}, 32, "F8_E4M3")}, {"a.weight_scale_inv", scale({2, 2}, 4)}}}};
  for (const auto& [name, quantization, tensors] : seeds) {
    const fs::path path = folder(out, "packed") / name;
    mote::convert::write_safetensors(path, tensors);
    const std::string file = mote::testing::read_text(path);
    write_text(path,
               std::string(R"({"quantization_config": )") + quantization + "}" + std::string(1, '\0') + file);
  }
}

/// An array of a GGUF's metadata.
template <class T>
std::string array(uint32_t type, const std::vector<T>& values) {
  std::string bytes = raw(type) + raw<uint64_t>(values.size());
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, std::string>) {
      bytes += GgufBuilder::string(value);
    } else {
      bytes += raw(value);
    }
  }
  return bytes;
}

void make_ggufs(const fs::path& out) {
  GgufBuilder model = one_layer_llama(32, 32);
  model.tensor("token_embd.weight", {32, 4}, 8, std::string(4 * 34, '\1'));    // Q8_0
  model.tensor("blk.0.attn_q.weight", {32, 2}, 2, std::string(2 * 18, '\2'));  // Q4_0
  model.tensor("blk.0.attn_k.weight", {256, 1}, 12, std::string(144, '\3'));   // Q4_K
  model.vector("output_norm.weight", std::vector<float>(32, 1.0f));
  write_text(folder(out, "gguf") / "model.gguf", model.bytes());

  for (const auto& entry : fs::directory_iterator(kGolden.parent_path() / "written/gguf")) {
    if (entry.path().extension() == ".gguf")
      fs::copy(entry.path(), folder(out, "gguf") / entry.path().stem(), fs::copy_options::overwrite_existing);
  }
  for (const std::string kind : {"llama", "gpt2", "gemma4", "bert", "t5"}) {
    GgufBuilder text;
    text.key("general.architecture", "llama").key("tokenizer.ggml.model", kind.c_str());
    text.key("tokenizer.ggml.pre", "smollm");
    const std::vector<std::string> tokens = {"<unk>", "<s>", "</s>",   "<0x41>", "a",
                                             "b",     "ab",  "\u2581", "\u2581a"};
    text.key("tokenizer.ggml.tokens", 9, array<std::string>(8, tokens));
    text.key("tokenizer.ggml.scores", 9, array<float>(6, {0, 0, 0, 0, -1, -2, -3, -4, -5}));
    text.key("tokenizer.ggml.token_type", 9, array<int32_t>(5, {2, 3, 3, 6, 1, 1, 1, 1, 1}));
    text.key("tokenizer.ggml.merges", 9, array<std::string>(8, {"a b", "\u2581 a"}));
    text.key("tokenizer.ggml.bos_token_id", uint32_t{1}).key("tokenizer.ggml.eos_token_id", uint32_t{2});
    text.key("tokenizer.ggml.cls_token_id", uint32_t{1})
        .key("tokenizer.ggml.seperator_token_id", uint32_t{2});
    text.key("tokenizer.ggml.unknown_token_id", uint32_t{0});
    write_text(folder(out, "gguf") / (kind + ".gguf"), text.bytes());
  }
}

void make_texts(const fs::path& out) {
  for (const char* name : {"small", "own_gpt4"}) {
    fs::copy(kGolden / "tokenizers" / name / "tokenizer.json", folder(out, "tokenizer_json") / name,
             fs::copy_options::overwrite_existing);
  }
  test::SentencePieceFile pieces;
  pieces.piece("\u2581", -2).piece("\u2581he", -2).piece("l", -3).piece("a", -4).piece("ab", -3);
  write_text(folder(out, "sentence_piece") / "small",
             pieces.map({{"\t", " "}, {"e", "a"}, {"ee", ""}}).bytes());
  const std::string texts[] = {"hello the end", "  a\t\n\nb  12345 it's <mask> stop <s>",
                               "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xE2\x82 \xFF\xC0\x80 \xED\xA0\x80",
                               std::string(100, 'a')};
  for (size_t i = 0; i < std::size(texts); ++i) {
    for (const char pick : {'\0', '\1', '\xC0', '\xC1'}) {
      write_text(folder(out, "tokenize") / (std::to_string(i) + std::to_string(pick & 0xFF)),
                 pick + texts[i]);
      write_text(folder(out, "detokenize") / (std::to_string(i) + std::to_string(pick & 0xFF)),
                 pick + texts[i]);
    }
  }
}

/// Of sessions of each cache type: empty, with some tokens, and with a ring that wrapped.
void make_snapshots(const fs::path& out) {
  for (const uint8_t kv_dtype : {MOTE_KV_F16, MOTE_KV_F32, MOTE_KV_BF16, MOTE_KV_I8}) {
    for (const uint8_t batch : {uint8_t{0}, uint8_t{1}}) {
      // Up to 600 positions, 16 at a time, two threads, the reference kernels.
      const std::string chosen =
          choices({12, batch, 3, 1, 1, kv_dtype, 0, MOTE_ISA_REF}, fuzz::kRestoreChoices);
      test::Choices options(reinterpret_cast<const uint8_t*>(chosen.data()), chosen.size());
      test::AnySession session;
      test::must(session.open(fuzz::kept_model(), test::choose_options(fuzz::kept_model(), &options)) ==
                 MOTE_OK);
      const std::vector<int32_t> ids(300, 3);
      for (const uint32_t tokens : {0u, 5u, 300u}) {
        mote_error error{};
        if (tokens == 5) test::must(test::generate_some(session.get()) == MOTE_OK);
        if (tokens == 300)
          test::must(mote_prefill(session.get(), 0, ids.data(), 300, MOTE_LOGITS_LAST, &error) == MOTE_OK);
        const test::AlignedBytes saved = test::save(session.get());
        write_text(folder(out, "restore") / std::to_string(tokens * 100 + kv_dtype * 10u + batch),
                   chosen + std::string(reinterpret_cast<const char*>(saved.data()), saved.size()));
      }
    }
  }
}

/// Tables of a vocabulary and of grammars for it, which fuzz_grammar_tables tells apart by the first four
/// bytes.
void make_grammar_tables(const fs::path& out) {
  const fs::path to = folder(out, "grammar_tables");
  std::vector<std::string> texts = {"a", "b", "ab", "bc", "\"", "1", "12", "", "x\"", "</s>"};
  std::vector<mote::grammar::TokenText> tokens;
  for (const std::string& text : texts) tokens.push_back({text, text == "</s>"});
  const std::vector<uint8_t> words = mote::grammar::vocabulary_tables(tokens);
  const mote::grammar::VocabularyTrie trie(words.data());
  const auto length = static_cast<uint32_t>(words.size());
  uint32_t number = 0;
  for (const char* expression : {"(a|b){0,90}", "\"[^\"]{3,70}\"", "a(b|12)*1?"}) {
    mote::grammar::Allowance allowance({});
    const mote::grammar::Source source = mote::grammar::expression_source(expression, allowance);
    const std::vector<uint8_t> tables = mote::grammar::compile(source, &trie);
    std::string seed(reinterpret_cast<const char*>(&length), sizeof length);
    seed.append(words.begin(), words.end());
    seed.append(tables.begin(), tables.end());
    write_text(to / ("tables_" + std::to_string(number++)), seed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: mote_fuzz_seeds FOLDER\n");
    return 2;
  }
  try {
    make_models(argv[1]);
    make_safetensors(argv[1]);
    make_pytorch(argv[1]);
    make_ctranslate2(argv[1]);
    make_pictures(argv[1]);
    make_packed(argv[1]);
    make_ggufs(argv[1]);
    make_texts(argv[1]);
    fuzz::make_piece_files(kGolden, folder(argv[1], "piece_files"));
    fuzz::make_settings(kGolden, folder(argv[1], "settings"));
    make_snapshots(argv[1]);
    make_grammar_tables(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mote_fuzz_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}
