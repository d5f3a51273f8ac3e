// SPDX-License-Identifier: Apache-2.0
//
// Encoders on the command line: forward, embed, classify and eval.
#include <cmath>
#include <fstream>
#include <map>

#include "converter/readers/safetensors.h"
#include "tests/support/families.h"
#include "tests/tools/command.h"
#include "tests/tools/encoders.h"

using namespace mote::testing;
using mote::convert::SafetensorsFile;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const char* const kEncoders[] = {
    "bert",      "bert_classifier",       "distilbert_classifier", "roberta_masked_lm", "xlm_roberta_tokens",
    "albert_qa", "electra_discriminator", "mpnet_sentence"};

std::string lines_file(const std::string& text) {
  const std::string path = (scratch() / "lines.txt").string();
  write_text(path, text);
  return path;
}

void assert_near(const SafetensorsFile& expected, const std::string& stored, const SafetensorsFile& got,
                 const std::string& name, double allowed) {
  REQUIRE(got.has(name));
  TEST_ASSERT_TRUE(got.shape(name) == expected.shape(stored));
  const std::vector<float> a = expected.f32(stored), b = got.f32(name);
  for (size_t i = 0; i < a.size(); ++i) TEST_ASSERT_TRUE(std::abs(double{a[i]} - double{b[i]}) <= allowed);
}

void check_forward(const std::string& name, const std::string& isa, const std::string& options) {
  CAPTURE(name, isa, options);
  const std::string in = golden(name) + "/golden.safetensors", out = (scratch() / "encoder.out").string();
  assert_works(
      run("forward " + converted(name, "f32") + " --hidden --input " + in + " --output " + out + options,
          "MOTE_ISA=" + isa));
  const SafetensorsFile expected(in), got(out);
  const double allowed = tolerance(name);
  for (const auto& [tensor, view] : expected.tensors()) {
    if (view.dtype != "F32") continue;
    CAPTURE(tensor);
    assert_near(expected, tensor, got, tensor, allowed);
  }
}

}  // namespace

TEST_CASE("forward: every golden encoder's outputs, masked rows 0, on every kernel family", "[native]") {
  for (const char* name : kEncoders) {
    for (const mote_isa isa : test::all_families())
      check_forward(name, mote_isa_name(isa), isa == MOTE_ISA_REF ? "" : " --threads 2");
#ifdef MOTE_HAS_XNNPACK
    check_forward(name, "", " --threads 2 --backend xnnpack");
#endif
  }
}

TEST_CASE("forward: an encoder takes one input and generates nothing") {
  const std::string in = golden("bert") + "/golden.safetensors", out = (scratch() / "twice.out").string();
  const std::string once = " --input " + in + " --output " + out;
  assert_fails(run("forward " + converted("bert", "f32") + once + once), 1, "single --input");
  assert_fails(run("forward " + converted("bert", "f32") + once + " --generate 2"), 1, "generates nothing");
}

TEST_CASE(
    "forward: a further segment sees the memory that the one before left, of XLNet and Transformer-XL") {
  using mote::convert::i64_tensor;
  for (const auto& [name, output] :
       {std::pair("xlnet", "last_hidden_state"), std::pair("transformer_xl", "logits")}) {
    CAPTURE(name);
    const SafetensorsFile stored(golden(name) + "/golden.safetensors");
    std::string arguments = "forward " + converted(name, "f32");
    for (const std::string prefix : {"", "second."}) {
      const std::string path = (scratch() / (prefix + "segment")).string();
      std::map<std::string, std::vector<int64_t>> values;
      mote::convert::NamedTensors tensors;
      for (const char* ids : {"input_ids", "token_type_ids"}) {
        if (!stored.has(prefix + ids)) continue;
        values[ids] = stored.i64(prefix + ids);
        tensors[ids] = i64_tensor(stored.shape(prefix + ids), values[ids]);
      }
      mote::convert::write_safetensors(path, tensors);
      arguments += " --input " + path + " --output " + path + ".out";
    }
    assert_works(run(arguments));
    for (const std::string prefix : {"", "second."}) {
      const SafetensorsFile got((scratch() / (prefix + "segment.out")).string());
      assert_near(stored, prefix + output, got, output, tolerance(name));
    }
  }
}

TEST_CASE("convert: a pooling makes a bare encoder give vectors, and decoders of keys and values") {
  const std::string out = (scratch() / "pooled.mote").string();
  assert_works(run("convert " + golden("bert") + " -o " + out + " --pooling max --normalize"));
  TEST_ASSERT_TRUE(contains(assert_works(run("verify " + out)), "ok: self test"));
  const std::string operations = assert_works(run("inspect " + out + " --ops"));
  TEST_ASSERT_TRUE(contains(operations, "Pool"));
  TEST_ASSERT_TRUE(contains(operations, "layer.0.up.columns (f32 1 x "));
  assert_works(run("convert " + golden("llama") + " -o " + out + " --pooling last"));
  TEST_ASSERT_TRUE(contains(assert_works(run("verify " + out)), "ok: self test"));
  assert_fails(run("convert " + golden("mamba") + " -o " + out + " --pooling mean"), 1,
               "whose layers go on from a state");
  assert_fails(run("convert " + golden("bert") + " -o " + out + " --normalize"), 2, "--pooling");
}

TEST_CASE("embed: a vector a line, the same in any batch, as JSON and as NumPy file") {
  const std::string model = with_tokenizer("mpnet_sentence");
  const std::string lines = lines_file("the tokenizer\nhello there\nstop\n");
  const std::vector<json> vectors = json_lines(run("embed " + model + " --file " + lines));
  TEST_ASSERT_EQUAL_UINT64(3, vectors.size());
  TEST_ASSERT_TRUE(vectors[1].at("text") == "hello there");
  for (const json& line : vectors) {
    double length = 0;
    for (const double value : line.at("embedding")) length += value * value;
    TEST_ASSERT_FLOAT_WITHIN(1e-5, 1.0, length);
  }
  const std::string alone = lines_file("hello there\n");
  TEST_ASSERT_TRUE(json_lines(run("embed " + model + " --file " + alone))[0] == vectors[1]);

  const std::string npy = (scratch() / "out.npy").string();
  assert_works(
      run("embed " + model + " --file " + lines_file("the tokenizer\nhello there\n") + " --npy " + npy));
  const std::string bytes = read_text(npy);
  TEST_ASSERT_TRUE(bytes.starts_with("\x93NUMPY") && contains(bytes, "(2, 24)"));
  const size_t header = bytes.size() - 2 * 24 * sizeof(float);
  TEST_ASSERT_EQUAL_UINT64(0, header % 64);
  float first;
  std::memcpy(&first, bytes.data() + header + 24 * sizeof(float), sizeof first);
  TEST_ASSERT_FLOAT_WITHIN(1e-7, vectors[1].at("embedding")[0].get<double>(), first);
}

TEST_CASE("embed: ranks lines by their cosine with the query, the query itself first") {
  const std::string model = with_tokenizer("mpnet_sentence");
  const std::string lines = lines_file("stop 123\nhello there\nthe tokenizer\n");
  const std::vector<json> ranked =
      json_lines(run("embed " + model + " --file " + lines + " --rank 'hello there' --json"));
  TEST_ASSERT_EQUAL_UINT64(3, ranked.size());
  TEST_ASSERT_TRUE(ranked[0].at("text") == "hello there");
  TEST_ASSERT_EQUAL_UINT64(2, ranked[0].at("line").get<size_t>());
  TEST_ASSERT_FLOAT_WITHIN(1e-5, 1.0, ranked[0].at("score").get<double>());
  TEST_ASSERT_TRUE(ranked[1].at("score").get<double>() >= ranked[2].at("score").get<double>());
  const std::string top =
      assert_works(run("embed " + model + " --file " + lines + " --rank 'hello there' --top 1"));
  TEST_ASSERT_TRUE(contains(top, "1.0000  hello there\n"));
}

TEST_CASE("embed: a text that is too long fails, and is cut on request") {
  const std::string model = with_tokenizer("mpnet_sentence");
  std::string text;
  for (int i = 0; i < 60; ++i) text += "q7 ";
  const std::string lines = lines_file(text + "\n");
  assert_fails(run("embed " + model + " --file " + lines), 1, "--truncate");
  const Outcome cut = run("embed " + model + " --truncate --file " + lines);
  assert_works(cut);
  TEST_ASSERT_TRUE(contains(cut.err, "the first 23 of"));
  assert_fails(run("embed " + with_tokenizer("bert_classifier") + " --file " + lines), 1, "--pooling");
  assert_fails(run("embed " + converted("llama", "f32") + " --file " + lines), 1, "decoder");
}

TEST_CASE("classify: labels with probabilities that add up to 1") {
  const std::vector<json> result =
      json_lines(run("classify " + with_tokenizer("bert_classifier") + " --text 'hello there' --json"));
  TEST_ASSERT_EQUAL_UINT64(1, result.size());
  double total = 0, before = 1;
  for (const json& label : result[0].at("labels")) {
    const double probability = label.at("probability");
    TEST_ASSERT_TRUE(label.at("label").get<std::string>().starts_with("LABEL_"));
    TEST_ASSERT_TRUE(probability <= before);
    total += before = probability;
  }
  TEST_ASSERT_FLOAT_WITHIN(1e-5, 1.0, total);
  const std::string pairs = lines_file("hello\tthere\n");
  const std::string shown =
      assert_works(run("classify " + with_tokenizer("bert_classifier") + " --pairs --top 1 --file " + pairs));
  TEST_ASSERT_TRUE(contains(shown, "LABEL_"));
  assert_fails(run("classify " + with_tokenizer("mpnet_sentence") + " --text a"), 1, "mote embed");
}

TEST_CASE("classify: entities and answers come with the characters they span") {
  const std::string text = "h\xc3\xa9llo there stop";
  const json entities = json_lines(
      run("classify " + with_tokenizer("xlm_roberta_tokens") + " --json --text '" + text + "'"))[0];
  TEST_ASSERT_FALSE(entities.at("entities").empty());
  const json answers = json_lines(run("classify " + with_tokenizer("albert_qa") +
                                      " --question who --top 3 --json --text '" + text + "'"))[0];
  TEST_ASSERT_EQUAL_UINT64(3, answers.at("answers").size());
  const std::string characters = "h?llo there stop";  // as many as the text has
  for (const json& list : {entities.at("entities"), answers.at("answers")}) {
    for (const json& span : list) {
      const size_t start = span.at("start"), end = span.at("end");
      TEST_ASSERT_TRUE(start < end && end <= characters.size());
      std::string part = span.at("text");
      if (const size_t at = part.find("\xc3\xa9"); at != std::string::npos) part.replace(at, 2, "?");
      TEST_ASSERT_EQUAL_STRING(characters.substr(start, end - start), part);
    }
  }
  assert_fails(run("classify " + with_tokenizer("albert_qa") + " --text a"), 2, "--question");
}

TEST_CASE("classify: fills each mask with the likeliest words") {
  const json result = json_lines(run("classify " + with_tokenizer("roberta_masked_lm") +
                                     " --top 2 --json --text 'the <mask> says <mask>'"))[0];
  TEST_ASSERT_EQUAL_UINT64(2, result.at("masks").size());
  for (const json& mask : result.at("masks")) {
    TEST_ASSERT_EQUAL_UINT64(2, mask.size());
    TEST_ASSERT_TRUE(mask[0].at("probability").get<double>() >= mask[1].at("probability").get<double>());
  }
  assert_fails(run("classify " + with_tokenizer("roberta_masked_lm") + " --text hello"), 1, "<mask>");
}

TEST_CASE("classify: finds the mask where decoded words begin with a space, as WordPiece's do") {
  const fs::path folder = scratch() / "wordpiece";
  fs::copy(golden("roberta_masked_lm"), folder, fs::copy_options::recursive);
  json added{{"id", 4},         {"content", "[MASK]"}, {"single_word", false}, {"lstrip", false},
             {"rstrip", false}, {"normalized", false}, {"special", true}};
  json vocab{{"[UNK]", 0}, {"the", 1}, {"cat", 2}, {"says", 3}, {"[MASK]", 4}};
  const json tokenizer{{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"added_tokens", json::array({std::move(added)})},
                       {"normalizer", nullptr},
                       {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                       {"post_processor", nullptr},
                       {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
                       {"model",
                        {{"type", "WordPiece"},
                         {"unk_token", "[UNK]"},
                         {"continuing_subword_prefix", "##"},
                         {"max_input_chars_per_word", 100},
                         {"vocab", std::move(vocab)}}}};
  write_text(folder / "tokenizer.json", tokenizer.dump());
  const std::string file = (scratch() / "wordpiece.mote").string();
  assert_works(run("convert " + folder.string() + " --type f32 -o " + file));
  const json result = json_lines(run("classify " + file + " --json --text 'the cat says [MASK]'"))[0];
  TEST_ASSERT_EQUAL_UINT64(1, result.at("masks").size());
}

TEST_CASE("eval: accuracy counts the labels that classify gives, and spearman ranks pairs") {
  const std::string model = with_tokenizer("bert_classifier");
  const auto likeliest = [&](const std::string& text) {
    return json_lines(run("classify " + model + " --json --text '" + text + "'"))[0]
        .at("labels")[0]
        .at("label")
        .get<std::string>();
  };
  const std::string right = likeliest("hello there");
  const std::string wrong = likeliest("stop") == "LABEL_0" ? "1" : "LABEL_0";
  const std::string lines = lines_file("sentence\tlabel\nhello there\t" + right + "\nstop\t" + wrong + "\n");
  const json score = assert_json(run("eval " + model + " --json --accuracy " + lines));
  TEST_ASSERT_TRUE(score.at("accuracy") == 0.5);
  TEST_ASSERT_EQUAL_UINT64(2, score.at("lines").get<size_t>());
  TEST_ASSERT_EQUAL_UINT64(3, score.at("f1").size());
  assert_fails(run("eval " + model + " --accuracy " + lines_file("hello\tLABEL_9\n")), 1, "LABEL_9");

  const std::string pairs = lines_file("hello\thello\t5\nhello there\tstop 123\t1\n");
  const json ranks =
      assert_json(run("eval " + with_tokenizer("mpnet_sentence") + " --json --spearman " + pairs));
  TEST_ASSERT_FLOAT_WITHIN(1e-9, 1.0, ranks.at("spearman").get<double>());
}
