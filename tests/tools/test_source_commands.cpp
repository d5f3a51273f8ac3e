// SPDX-License-Identifier: Apache-2.0
//
// Encoder-decoders on the command line: translate and summarize.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "converter/readers/safetensors.h"
#include "tests/support/sentence_piece_file.h"
#include "tests/tools/command.h"

using namespace mote::testing;
using mote::convert::SafetensorsFile;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The first golden source of a model, for --ids.
std::string source_of(const std::string& name) {
  const SafetensorsFile file(golden(name) + "/golden.safetensors");
  const std::vector<int64_t> ids = file.i64("input_ids");
  const size_t columns = file.shape("input_ids").at(1);
  return fmt::format("{}", fmt::join(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(columns), ","));
}

/// A golden model with the small tokenizer, and keys added to its configs.
std::string with_text(const std::string& name, const std::string& as, const json& generation,
                      const json& keys = {}) {
  const fs::path folder = scratch() / ("source_" + as);
  const std::string path = (folder / "out.mote").string();
  if (fs::exists(path)) return path;
  fs::copy(golden(name), folder, fs::copy_options::recursive);
  json tokenizer = json::parse(read_text(golden("../tokenizers/small/tokenizer.json")));
  for (const char* token : {"en_XX", "de_DE", "de_AT", "fr_XX"}) {
    json& added = tokenizer.at("added_tokens");
    added.push_back(special_token(54 + added.size(), token));
  }
  write_text(folder / "tokenizer.json", tokenizer.dump());
  json config = json::parse(read_text(folder / "config.json"));
  if (!keys.is_null()) config.update(keys);
  write_text(folder / "config.json", config.dump());
  write_text(folder / "generation_config.json", generation.dump());
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32"));
  return path;
}

json hypotheses(const Outcome& outcome) { return assert_json(outcome).at("hypotheses"); }

}  // namespace

TEST("translate: greedy ids over a golden source are the stored ones") {
  for (const char* name : {"marian", "t5"}) {
    CAPTURE(name);
    const SafetensorsFile expected(golden(name) + "/golden.safetensors");
    const std::vector<int64_t> ids = expected.i64("greedy_ids");
    const std::string out = assert_works(
        run(fmt::format("translate {} --ids {} -n {}", converted(name, "f32"), source_of(name), ids.size())));
    TEST_ASSERT_EQUAL_STRING(fmt::format("{}\n", fmt::join(ids, ",")), out);
  }
}

TEST("translate: languages of a text are refused beside ids") {
  for (const char* language : {" --from en", " --to de"})
    assert_fails(run("translate " + converted("marian", "f32") + " --ids 5,6" + language), 2,
                 "among the ids");
}

TEST("translate: beams of a golden source have the stored ids and scores") {
  const SafetensorsFile expected(golden("bart") + "/golden.safetensors");
  const std::vector<int64_t> ids = expected.i64("beam_ids");
  const std::vector<float> scores = expected.f32("beam_scores");
  const fs::path folder = scratch() / "bart_beams";
  fs::copy(golden("bart"), folder);
  const json stop = expected.i64("beam_stop_id").at(0);
  write_text(folder / "generation_config.json",
             json{{"num_beams", scores.size()}, {"max_new_tokens", 12}, {"eos_token_id", stop}}.dump());
  const std::string path = (folder / "out.mote").string();
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32"));
  const json found = hypotheses(run("translate " + path + " --json --ids " + source_of("bart")));
  TEST_ASSERT_EQUAL_UINT64(scores.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const auto own = found[i].at("ids").get<std::vector<int64_t>>();
    const size_t columns = ids.size() / scores.size();
    for (size_t k = 0; k < columns; ++k)
      TEST_ASSERT_EQUAL_INT32(ids[i * columns + k], k < own.size() ? own[k] : 0);
    TEST_ASSERT_FLOAT_WITHIN(tolerance("bart"), scores[i], found[i].at("score").get<float>());
  }
}

TEST("translate: each line is a text, in a pipe too, and an empty line stays empty") {
  const std::string model = with_text("mbart", "lines", {{"eos_token_id", 2}, {"max_new_tokens", 6}});
  write_text(scratch() / "lines.txt", "hello the\n\nend");
  const std::string one = assert_works(run("translate " + model + " -p 'hello the'"));
  const std::string last = assert_works(run("translate " + model + " -p end"));
  const std::string file = (scratch() / "lines.txt").string();
  TEST_ASSERT_EQUAL_STRING(one + "\n" + last, assert_works(run("translate " + model + " --file " + file)));
  TEST_ASSERT_EQUAL_STRING(one + "\n" + last, assert_works(run("translate " + model + " <" + file)));
  const std::string returns = (scratch() / "returns.txt").string();
  write_text(returns, "hello the\r\n\r\nend\r\n");
  TEST_ASSERT_EQUAL_STRING(one + "\n" + last, assert_works(run("translate " + model + " --file " + returns)));
}

TEST("translate: languages are tokens of the source and the first of the output, or refused by name") {
  const std::string model = with_text("mbart", "lines", {{"eos_token_id", 2}, {"max_new_tokens", 6}});
  const json plain = assert_json(run("translate " + model + " --json -p hello"));
  const json found = assert_json(run("translate " + model + " --json -p hello --from en --to fr_XX"));
  const int32_t first = found.at("hypotheses")[0].at("ids")[0].get<int32_t>();
  const auto source = found.at("source_ids").get<std::vector<int32_t>>();
  const auto before = plain.at("source_ids").get<std::vector<int32_t>>();
  TEST_ASSERT_EQUAL_UINT64(before.size() + 1, source.size());
  TEST_ASSERT_EQUAL_INT32(first - 3, source[0]);  // four tokens one after the other
  assert_fails(run("translate " + model + " -p hello --to de"), 1, "several languages that begin with 'de'");
  assert_fails(run("translate " + model + " -p hello --to zz"), 1, "no language 'zz'; it has en_XX");
}

TEST("translate: Marian's own files, source.spm and vocab.json, take text and the target's language") {
  const fs::path folder = scratch() / "source_spm";
  fs::copy(golden("marian"), folder, fs::copy_options::recursive);
  ::test::SentencePieceFile pieces;
  write_text(folder / "source.spm", pieces.piece("▁the", -1).piece("▁c", -2).piece("ab", -3).bytes());
  const json vocabulary = {{"<pad>", 0}, {"<unk>", 1}, {"</s>", 2}, {">>fr<<", 3},
                           {"▁the", 4},  {"▁c", 5},    {"ab", 6}};
  write_text(folder / "vocab.json", vocabulary.dump());
  const std::string model = (folder / "out.mote").string();
  assert_works(run("convert " + folder.string() + " -o " + model + " --type f32"));
  const auto source = [&](const std::string& options) {
    return assert_json(run("translate " + model + " --json -n 5 " + options)).at("source_ids");
  };
  TEST_ASSERT_TRUE(source("-p ' the  cab'") == json({4, 5, 6, 2}));
  TEST_ASSERT_TRUE(source("-p 'the cab' --to fr") == json({3, 4, 5, 6, 2}));
  TEST_ASSERT_TRUE(source("-p '>>fr<< the cab'") == json({3, 4, 5, 6, 2}));
  assert_fails(run("translate " + model + " -p '>>xx<< the cab'"), 1, "no language '>>xx<<'");
}

TEST("translate: a model's own search, of at least so many tokens, holds unless options say otherwise") {
  const std::string model =
      with_text("t5", "own",
                {{"eos_token_id", 2},
                 {"num_beams", 3},
                 {"max_length", 9},
                 {"min_length", 5},
                 {"no_repeat_ngram_size", 1}},
                {{"task_specific_params", {{"summarization", {{"prefix", "the end "}}}}}});
  const json own = hypotheses(run("translate " + model + " --json -p hello"));
  TEST_ASSERT_EQUAL_UINT64(3, own.size());
  for (const json& one : own) {
    auto ids = one.at("ids").get<std::vector<int32_t>>();
    TEST_ASSERT_TRUE(ids.size() >= 5 && ids.size() <= 8);
    std::sort(ids.begin(), ids.end());
    TEST_ASSERT_TRUE(std::unique(ids.begin(), ids.end()) == ids.end());
  }
  TEST_ASSERT_EQUAL_UINT64(1, hypotheses(run("translate " + model + " --json -p hello --beams 1")).size());
  const json summary = assert_json(run("summarize " + model + " --json -p hello"));
  const json prefixed = assert_json(run("translate " + model + " --json -p 'the end hello'"));
  TEST_ASSERT_TRUE(summary == prefixed);
}

TEST("translate: wrong models, empty and long texts fail with what is wrong") {
  assert_fails(run("translate " + converted("llama", "f32") + " --ids 1"), 1,
               "does not generate over a source");
  assert_fails(run("summarize " + converted("bert", "f32") + " --ids 1"), 1, "it is an encoder");
  assert_fails(run("translate " + converted("marian", "f32") + " -p hello"), 1, "--ids");
  assert_fails(run("translate " + converted("marian", "f32") + " --ids 1,x"), 2, "--ids");
  const std::string model = with_text("mbart", "lines", {{"eos_token_id", 2}, {"max_new_tokens", 6}});
  assert_fails(run("summarize " + model + " -p ''"), 1, "the text is empty");
  std::string words;
  for (int i = 0; i < 400; ++i) words += "hello ";
  assert_fails(run("summarize " + model + " -p '" + words + "'"), 1, "give it in parts");
}

TEST("forward --hidden: an encoder-decoder's layers, the last of the encoder as its output") {
  const std::string in = golden("t5") + "/golden.safetensors", out = (scratch() / "hidden.out").string();
  assert_works(run("forward " + converted("t5", "f32") + " --hidden --input " + in + " --output " + out));
  const SafetensorsFile got(out);
  for (const std::string prefix : {"", "padded."}) {
    CAPTURE(prefix);
    const auto& hidden = got.shape(prefix + "encoder_hidden");
    for (const char* name : {"encoder.hidden.0", "encoder.hidden.1", "encoder.hidden.2"})
      TEST_ASSERT_TRUE(got.shape(prefix + name) == hidden);
    TEST_ASSERT_TRUE(got.f32(prefix + "encoder.hidden.2") == got.f32(prefix + "encoder_hidden"));
    TEST_ASSERT_EQUAL_UINT64(got.shape(prefix + "logits").at(1), got.shape(prefix + "hidden.2").at(1));
  }
  const SafetensorsFile golden_file(in);
  const std::vector<float> logits = got.f32("logits"), expected = golden_file.f32("logits");
  TEST_ASSERT_FLOAT_ARRAY_WITHIN(tolerance("t5"), expected.data(), logits.data(), expected.size());
}

TEST("bench: a model of pictures or sound is measured on a picture, its frames or ten seconds") {
  const auto rows = [](const std::string& model, const std::string& options = "") {
    const json result = assert_json(run("bench " + converted(model, "f32") + " --repeat 1 --json" + options));
    TEST_ASSERT_TRUE(result.at("prompt_ms").get<double>() > 0);
    TEST_ASSERT_TRUE(result.at("prompt_processor_ms").get<double>() > 0);
    return result.at("prompt").get<int32_t>();
  };
  TEST_ASSERT_EQUAL_INT32(17, rows("vit_classifier"));  // 24 / 6 patches each way, and the class
  TEST_ASSERT_EQUAL_INT32(2 * 24, rows("whisper", " --decode 3"));
  TEST_ASSERT_EQUAL_INT32(7, rows("parakeet_ctc", " --prompt 7 --batch 2"));
}

TEST("bench: an encoder-decoder encodes sources and decodes over them, in batches too") {
  const std::string model = converted("t5", "f32");
  for (const uint32_t batch : {1u, 3u}) {
    const json result = assert_json(run(
        fmt::format("bench {} --prompt 7 --decode 5 --depth 2 --batch {} --repeat 2 --json", model, batch)));
    TEST_ASSERT_EQUAL_UINT32(batch, result.at("batch").get<uint32_t>());
    TEST_ASSERT_TRUE(result.at("prompt_tokens_per_s").get<double>() > 0);
    TEST_ASSERT_TRUE(result.at("decode_tokens_per_s").get<double>() > 0);
    TEST_ASSERT_TRUE(result.at("bytes_per_token").get<uint64_t>() > 0);
  }
  const json beams =
      assert_json(run("bench " + model + " --prompt 7 --decode 5 --batch 2 --beams 3 --repeat 1 --json"));
  TEST_ASSERT_TRUE(beams.at("decode_tokens_per_s").get<double>() > 0);
  assert_fails(run("bench " + converted("llama", "f32") + " --beams 2"), 1,
               "--beams is for models with a source");
  const auto bytes = [&](uint32_t prompt) {
    const std::string line = fmt::format("bench {} --prompt {} --decode 4 --repeat 1 --json", model, prompt);
    return assert_json(run(line)).at("bytes_per_token").get<int64_t>();
  };
  // 2 layers, 4 bytes, keys and values of the heads.
  const json config = json::parse(read_text(golden("t5") + "/config.json"));
  const int64_t row = 2 * 2 * 4 * config.at("num_heads").get<int64_t>() * config.at("d_kv").get<int64_t>();
  TEST_ASSERT_EQUAL_INT32(10 * row, bytes(20) - bytes(10));
  TEST_ASSERT_TRUE(
      contains(assert_works(run("bench " + model + " --prompt 6 --decode 4 --repeat 1")), "encode"));
  assert_fails(run("bench " + model + " --prompt 0"), 1, "decodes over a source");
  assert_fails(run("bench " + model + " --ops"), 1, "--ops is not for models with a source");
}
