// SPDX-License-Identifier: Apache-2.0
//
// What the commands print and write when all is well.
#include <cmath>
#include <fstream>
#include <sstream>

#include "converter/readers/safetensors.h"
#include "tests/tools/command.h"

using namespace mote::testing;
using mote::convert::SafetensorsFile;
using nlohmann::json;

namespace {

std::string llama() { return converted("llama", "f32"); }

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  TEST_ASSERT_EQUAL_UINT64(a.size(), b.size());
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(double{a[i]} - double{b[i]});
    if (!(difference <= most)) most = difference;
  }
  return most;
}

void write_ids(const std::string& path, std::vector<uint64_t> shape, const std::vector<int64_t>& ids,
               const std::vector<int64_t>& positions = {}) {
  mote::convert::NamedTensors tensors{{"input_ids", mote::convert::i64_tensor(shape, ids)}};
  if (!positions.empty()) tensors["position_ids"] = mote::convert::i64_tensor(shape, positions);
  mote::convert::write_safetensors(path, tensors);
}

}  // namespace

TEST_CASE("convert: prints tensors, flash and RAM, and a list of names") {
  const std::string out = (scratch() / "table.mote").string();
  const std::string table = assert_works(run("convert " + golden("llama") + " --type q8 -o " + out));
  TEST_ASSERT_TRUE(contains(table, "layer.*."));
  TEST_ASSERT_TRUE(contains(table, "of flash"));
  TEST_ASSERT_TRUE(contains(table, "context"));
  const std::string all = assert_works(run("convert --verbose " + golden("llama") + " --type q8 -o " + out));
  TEST_ASSERT_TRUE(contains(all, "layer.1."));
  const std::string head =
      assert_works(run("convert " + golden("llama") + " --type q4 --head-type q4mg32 -o " + out));
  TEST_ASSERT_TRUE(contains(head, "q4, head q4mg32: "));
  assert_fails(run("convert " + golden("llama") + " --head-type q4 -o " + out), 2,
               "--head-type: no type 'q4'");
  const std::string list = assert_works(run("convert --list"));
  for (const char* name : {"llama", "gpt2", "q4mg32"}) TEST_ASSERT_TRUE(contains(list, name));
}

TEST_CASE("forward: logits, hidden rows and greedy ids are the golden ones, padded cases too") {
  for (const std::string name : {"llama", "gpt2", "qwen2"}) {
    CAPTURE(name);
    const std::string in = golden(name) + "/golden.safetensors";
    const std::string out = (scratch() / "forward.safetensors").string();
    assert_works(run("forward " + converted(name, "f32") + " --hidden --generate 24 --input " + in +
                     " --output " + out));
    const SafetensorsFile expected(in), got(out);
    for (const auto& [tensor, view] : expected.tensors()) {
      CAPTURE(tensor);
      if (view.dtype == "F32") {
        TEST_ASSERT_TRUE(got.shape(tensor) == view.shape);
        TEST_ASSERT_TRUE(largest_difference(expected.f32(tensor), got.f32(tensor)) <= tolerance(name));
      } else if (tensor.ends_with("greedy_ids")) {
        TEST_ASSERT_TRUE(got.i64(tensor) == expected.i64(tensor));
      }
    }
  }
}

TEST_CASE("forward: segments of a session give the bits of the whole, whatever the threads and chunks") {
  const std::vector<int64_t> ids{5, 17, 80, 3, 44, 9, 61, 28, 70, 12};
  const auto path = [](const char* name) { return (scratch() / name).string(); };
  write_ids(path("whole.st"), {1, 10}, ids);
  write_ids(path("first.st"), {1, 4}, {ids.begin(), ids.begin() + 4});
  write_ids(path("second.st"), {1, 6}, {ids.begin() + 4, ids.end()}, {4, 5, 6, 7, 8, 9});
  assert_works(run("forward " + llama() + " --threads 1 --input " + path("whole.st") + " --output " +
                   path("whole.out")));
  assert_works(run("forward " + llama() + " --threads 3 --chunk 3 --generate 5 --input " + path("first.st") +
                   " --output " + path("first.out") + " --input " + path("second.st") + " --output " +
                   path("second.out")));
  std::vector<float> joined = SafetensorsFile(path("first.out")).f32("logits");
  const SafetensorsFile second(path("second.out"));
  for (const float value : second.f32("logits")) joined.push_back(value);
  const std::vector<float> whole = SafetensorsFile(path("whole.out")).f32("logits");
  TEST_ASSERT_EQUAL_UINT64(whole.size(), joined.size());
  TEST_ASSERT_EQUAL_MEMORY(whole.data(), joined.data(), whole.size() * sizeof(float));
  TEST_ASSERT_EQUAL_UINT64(5, second.i64("greedy_ids").size());
}

TEST_CASE("forward: positions other than those that follow one another are refused") {
  const std::string in = (scratch() / "positions.st").string(), out = (scratch() / "positions.out").string();
  write_ids(in, {1, 3}, {5, 6, 7}, {0, 1, 3});
  assert_fails(run("forward " + llama() + " --input " + in + " --output " + out), 1,
               "position_ids[0][2] is 3");
  TEST_ASSERT_FALSE(std::filesystem::exists(out));
}

TEST_CASE("forward: after the stop id a row repeats it") {
  const std::string in = golden("llama") + "/golden.safetensors", out = (scratch() / "stop.st").string();
  const std::vector<int64_t> greedy = SafetensorsFile(in).i64("greedy_ids");
  assert_works(run("forward " + llama() + " --generate 24 --stop-id " + std::to_string(greedy[3]) +
                   " --input " + in + " --output " + out));
  const std::vector<int64_t> got = SafetensorsFile(out).i64("greedy_ids");
  TEST_ASSERT_EQUAL_UINT64(24, got.size());
  for (size_t i = 0; i < got.size(); ++i) TEST_ASSERT_TRUE(got[i] == greedy[std::min<size_t>(i, 3)]);
}

TEST_CASE("run: streams the golden ids, and prints the same ones as JSON") {
  const SafetensorsFile file(golden("llama") + "/golden.safetensors");
  const std::vector<int64_t> greedy = file.i64("greedy_ids");
  std::ostringstream prompt, expected;
  for (const int64_t id : file.i64("input_ids")) prompt << id << ",";
  for (size_t i = 0; i < greedy.size(); ++i) expected << (i == 0 ? "" : " ") << greedy[i];
  const std::string arguments = "run " + llama() + " -n 24 --ids " + prompt.str();
  const Outcome outcome = run(arguments);
  TEST_ASSERT_TRUE(assert_works(outcome) == expected.str() + "\n");
  TEST_ASSERT_TRUE(contains(outcome.err, "per second"));
  TEST_ASSERT_TRUE(contains(outcome.err, "arena"));
  const json result = assert_json(run(arguments + " --json"));
  TEST_ASSERT_TRUE(result.at("output_ids").get<std::vector<int64_t>>() == greedy);
  TEST_ASSERT_TRUE(result.at("prompt_ids").get<std::vector<int64_t>>() == file.i64("input_ids"));
  TEST_ASSERT_TRUE(result.at("text") == "");
  TEST_ASSERT_TRUE(result.at("finish") == "length");
}

TEST_CASE("run: sampling depends on the seed and on nothing else") {
  const auto sample = [](int seed, const char* options) {
    return assert_json(run("run " + llama() +
                           " --json --ids 5,6 -n 20 --ignore-stop --temp 1.5 --top-k 50 --top-p 0.99 " +
                           options + " --seed " + std::to_string(seed)))
        .at("output_ids")
        .dump();
  };
  TEST_ASSERT_TRUE(sample(1, "--threads 1") == sample(1, "--threads 2 --chunk 1"));
  TEST_ASSERT_TRUE(sample(1, "") != sample(2, ""));
}

TEST_CASE("run: huge pages change where the weights lie and nothing else") {
  const std::string command = "run " + llama() + " --json --ids 5,6 -n 20 --ignore-stop";
  const Outcome outcome = run(command + " --huge-pages");
  if (outcome.code != 0) return assert_fails(outcome, 1, "--huge-pages: this system has none");
  TEST_ASSERT_TRUE(assert_json(outcome).at("output_ids") == assert_json(run(command)).at("output_ids"));
}

TEST_CASE("bench: measures what it is asked for") {
  const json result =
      assert_json(run("bench " + llama() + " --prompt 8 --decode 4 --depth 5 --threads 2 --repeat 2 --json"));
  for (const char* key : {"prompt_tokens_per_s", "decode_tokens_per_s", "load_ms", "arena_bytes",
                          "model_bytes", "bytes_per_token", "read_bandwidth_gb_s", "share_of_bandwidth"}) {
    CAPTURE(key);
    TEST_ASSERT_TRUE(result.at(key).get<double>() > 0.0);
  }
  TEST_ASSERT_EQUAL_INT(2, result.at("threads").get<int>());
  TEST_ASSERT_TRUE(result.at("model_bytes").get<uint64_t>() == std::filesystem::file_size(llama()));
  const std::string table = assert_works(run("bench " + llama() + " --prompt 8 --decode 4 --repeat 1"));
  TEST_ASSERT_TRUE(contains(table, "GB/s"));
}

TEST_CASE("bench --ops: every operation of a run is counted once") {
  const std::string work = " --prompt 20 --decode 4 --depth 5 --chunk 8 --repeat 1 --ops ";
  const json result = assert_json(run("bench " + llama() + work + "--json"));
  const auto find = [](const json& ops, const std::string& kind) {
    json sum = {{"calls", 0}, {"multiply_adds", 0}};
    for (const json& op : ops) {
      if (op.at("op").get<std::string>().rfind(kind, 0) != 0) continue;
      sum["calls"] = sum["calls"].get<int>() + op.at("calls").get<int>();
      sum["multiply_adds"] = sum["multiply_adds"].get<int64_t>() + op.at("multiply_adds").get<int64_t>();
      TEST_ASSERT_TRUE(op.at("ms").get<double>() > 0.0 && op.at("bytes").get<int64_t>() > 0);
    }
    return sum;
  };
  const json &prompt = result.at("prompt_ops"), &decode = result.at("decode_ops");
  const json info = assert_json(run("inspect --ops --json " + llama()));
  int layers = 0;
  for (const json& op : info.at("programs")[0].at("ops"))
    layers += op.at("op").get<std::string>() == "Attention";
  TEST_ASSERT_EQUAL_INT(3 * layers, find(prompt, "Attention").at("calls").get<int>());  // 3 chunks of 8
  TEST_ASSERT_EQUAL_INT(4 * layers, find(decode, "Attention").at("calls").get<int>());
  TEST_ASSERT_EQUAL_INT(1, find(prompt, "Sample").at("calls").get<int>());
  TEST_ASSERT_EQUAL_INT(4, find(decode, "Sample").at("calls").get<int>());
  TEST_ASSERT_EQUAL_INT(4, find(decode, "Select").at("calls").get<int>());
  const std::string text = assert_works(run("bench " + llama() + work));
  for (const char* title : {"operations, prompt", "operations, decode"})
    TEST_ASSERT_TRUE(contains(text, title));

  const std::string encoder = converted("bert", "f32");
  const json encoded = assert_json(run("bench " + encoder + " --prompt 6 --batch 2 --repeat 1 --ops --json"));
  TEST_ASSERT_TRUE(find(encoded.at("prompt_ops"), "Linear").at("multiply_adds").get<int64_t>() > 0);
  assert_fails(run("bench " + llama() + " --batch 2 --ops"), 1, "one sequence");
}

TEST_CASE("bench: the process holds the file, the arena and little besides", "[native]") {
  const json result = assert_json(run("bench " + llama() + " --prompt 8 --decode 4 --threads 2 --json"));
  if (!result.contains("arena_resident_bytes")) {
    WARN("no /proc/self/smaps here");
    return;
  }
  const uint64_t page = 4096;
  const auto pages = [&](const char* key) { return (result.at(key).get<uint64_t>() + page - 1) / page; };
  TEST_ASSERT_TRUE(pages("model_resident_bytes") > 0);
  TEST_ASSERT_TRUE(pages("model_resident_bytes") <= pages("model_bytes"));
  TEST_ASSERT_TRUE(pages("arena_resident_bytes") > 0);
#ifndef MOTE_SANITIZED  // whose own memory may lie beside the arena in one mapping
  TEST_ASSERT_TRUE(pages("arena_resident_bytes") <= pages("arena_bytes"));
  // The command's own lists and buffers.
  TEST_ASSERT_TRUE(pages("other_resident_bytes") < 32);
#endif
}

TEST_CASE("bench: batches of an encoder and of a decoder") {
  const std::string encoder = converted("bert", "f32");
  const json encoded = assert_json(run("bench " + encoder + " --prompt 8 --batch 3 --repeat 2 --json"));
  TEST_ASSERT_TRUE(encoded.at("prompt_tokens_per_s").get<double>() > 0.0);
  TEST_ASSERT_TRUE(encoded.at("decode_tokens_per_s") == 0.0);
  assert_fails(run("bench " + encoder + " --decode 4"), 1, "is an encoder");
  const json decoded = assert_json(run("bench " + llama() + " --prompt 0 --decode 4 --batch 3 --json"));
  TEST_ASSERT_EQUAL_INT(3, decoded.at("batch").get<int>());
  TEST_ASSERT_TRUE(decoded.at("decode_tokens_per_s").get<double>() > 0.0);
}

TEST_CASE("backend: xnnpack computes f32 matrices and its memory is printed, or says that it is not built in",
          "[native]") {
  const std::string model = converted("llama", "f32");
#ifdef MOTE_HAS_XNNPACK
  TEST_ASSERT_TRUE(
      contains(assert_works(run("verify --threads 2 --backend xnnpack " + model)), "ok: self test"));
  const std::string some = " --prompt 8 --decode 4 --repeat 1 --threads 2 ";
  const json with = assert_json(run("bench --json --backend xnnpack " + model + some));
  const json without = assert_json(run("bench --json " + model + some));
  const json tensors =
      assert_json(run("inspect --json --plan --tensors --threads 2 --backend xnnpack " + model));
  uint64_t matrices = 0;
  for (const json& tensor : tensors.at("tensor_list")) {
    if (tensor.at("packing") == "p16k4") matrices += tensor.at("bytes").get<uint64_t>();
  }
  TEST_ASSERT_GREATER_THAN(uint64_t{0}, matrices);
  TEST_ASSERT_GREATER_OR_EQUAL(matrices, with.at("backend_bytes").get<uint64_t>());
  TEST_ASSERT_TRUE(tensors.at("memory").at("backend_bytes") == with.at("backend_bytes"));
  TEST_ASSERT_EQUAL_UINT64(0, without.at("backend_bytes").get<uint64_t>());
  const Outcome text = run("bench --backend xnnpack " + model + some);
  TEST_ASSERT_TRUE(contains(assert_works(text), std::to_string(with.at("backend_bytes").get<uint64_t>())));
  const Outcome idle = run("bench --backend xnnpack " + converted("llama", "q8g32") + some);
  assert_works(idle);
  TEST_ASSERT_TRUE(contains(idle.err, "nothing to do"));
#else
  assert_fails(run("verify --backend xnnpack " + model), 1, "built without it; install");
#endif
  assert_fails(run("verify --backend blas " + model), 2, "--backend");
}

TEST_CASE("inspect: operations, plan and tensors as tables and as JSON") {
  const std::string text = assert_works(run("inspect --ops --plan --tensors " + llama()));
  for (const char* part : {"architecture", "Attention", "kv_cache", "p16k4"}) {
    CAPTURE(part);
    TEST_ASSERT_TRUE(contains(text, part));
  }
  const json result = assert_json(run("inspect --json --ops --plan --tensors " + llama()));
  TEST_ASSERT_TRUE(result.at("vocab") == 100);
  TEST_ASSERT_TRUE(result.at("tensor_list").size() > 10);
  TEST_ASSERT_TRUE(result.at("programs").at(0).at("ops").size() > 10);
  TEST_ASSERT_TRUE(result.at("states").at(0).at("kind") == "kv");
  uint64_t sum = 0;
  const json& memory = result.at("memory");
  for (const char* part : {"session", "activations", "scratch", "kv_cache", "states", "sampler"})
    sum += memory.at(part).get<uint64_t>();
  TEST_ASSERT_EQUAL_UINT64(memory.at("arena_bytes").get<uint64_t>(), sum);
}

TEST_CASE("eval: perplexity is that of the golden logits") {
  const SafetensorsFile file(golden("llama") + "/golden.safetensors");
  const std::vector<int64_t> ids = file.i64("input_ids");
  const std::vector<float> logits = file.f32("logits");
  const size_t vocab = file.shape("logits")[2];
  double nll = 0;
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    double sum = 0;
    for (size_t v = 0; v < vocab; ++v) sum += std::exp(double{logits[i * vocab + v]});
    nll += std::log(sum) - logits[i * vocab + static_cast<size_t>(ids[i + 1])];
  }
  const std::string path = (scratch() / "ids.txt").string();
  std::ofstream text(path);
  for (const int64_t id : ids) text << id << "\n";
  text.close();
  const std::string arguments = "eval " + llama() + " --ids --json --chunk 7 --perplexity " + path;
  const json whole = assert_json(run(arguments + " --window 40"));
  TEST_ASSERT_EQUAL_UINT64(ids.size() - 1, whole.at("tokens").get<uint64_t>());
  TEST_ASSERT_FLOAT_WITHIN(1e-3f, static_cast<float>(std::exp(nll / static_cast<double>(ids.size() - 1))),
                           whole.at("perplexity").get<float>());
  // 20 ids in windows of 8, 8 and 4: the first of each is not scored.
  const json limited = assert_json(run(arguments + " --window 8 --limit 20"));
  TEST_ASSERT_EQUAL_UINT64(17, limited.at("tokens").get<uint64_t>());
}

TEST_CASE("eval: a file agrees with itself and nearly with its quantized version") {
  const std::string path = (scratch() / "compare.txt").string();
  write_text(path, "5 17 80 3 44 9 61 28 70 12 33 90 2 41");
  const std::string arguments = " --ids --json --perplexity " + path + " --compare " + llama();
  const json same = assert_json(run("eval " + llama() + arguments));
  TEST_ASSERT_TRUE(same.at("mean_kl") == 0.0);
  TEST_ASSERT_TRUE(same.at("top1_agreement") == 1.0);
  const json quantized = assert_json(run("eval " + converted("llama", "q8g32") + arguments));
  TEST_ASSERT_TRUE(quantized.at("mean_kl").get<double>() > 0.0);
  TEST_ASSERT_TRUE(quantized.at("mean_kl").get<double>() < 0.01);
}

TEST_CASE("verify: replays the self test, and finds a changed weight") {
  const std::string text = assert_works(run("verify " + llama()));
  TEST_ASSERT_TRUE(contains(text, "ok: hashes"));
  TEST_ASSERT_TRUE(contains(text, "ok: self test"));
  std::string bytes = read_text(llama());
  const std::string path = (scratch() / "damaged.mote").string();
  bytes[bytes.size() - 4096] = static_cast<char>(bytes[bytes.size() - 4096] ^ 1);
  write_text(path, bytes);
  assert_fails(run("verify " + path), 1, path);
}

TEST_CASE("textbook: prints the worked numbers, and docs/attention.md what it prints") {
  const json stored = json::parse(read_text(MOTE_SOURCE_DIR "/tests/golden/worked_examples.json"));
  const json& attention = stored.at("self_attention");
  const json computed = assert_json(run("textbook --json"));
  std::vector<std::pair<std::string, json>> steps = {
      {"residual", stored.at("residual").at("output")},
      {"layer_norm", json::array({stored.at("layer_norm").at("output")})}};
  for (const char* name : {"x", "q", "k", "v", "weights", "output"})
    steps.emplace_back(name, attention.at(name));
  for (const auto& [name, key] : {std::pair("hidden", "h"), std::pair("ffn", "y")}) {
    json rows = json::array();
    for (const json& one : stored.at("ffn").at("cases")) rows.push_back(one.at(key));
    steps.emplace_back(name, rows);
  }
  for (const auto& [name, expected] : steps) {
    CAPTURE(name);
    const json& rows = computed.at(name);
    TEST_ASSERT_EQUAL_UINT64(expected.size(), rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      TEST_ASSERT_TRUE(largest_difference(expected[row].get<std::vector<float>>(),
                                          rows[row].get<std::vector<float>>()) <= 0.006);
    }
  }
  const std::string document = read_text(MOTE_SOURCE_DIR "/docs/attention.md");
  TEST_ASSERT_TRUE(contains(document, "```\n" + assert_works(run("textbook", "MOTE_ISA=ref")) + "```\n"));
}
