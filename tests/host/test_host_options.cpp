// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h as the command line uses it: remedies, ids, names in messages, settings of an open model,
// states.
#include <algorithm>
#include <string_view>

#include "mote/backend.h"
#include "mote/mote.h"
#include "tests/host/host_calls.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

mote_host_input numbers(const std::vector<int32_t>& ids, const char* name = nullptr) {
  mote_host_input input = {};
  input.ids = ids.data();
  input.id_count = ids.size();
  input.path = name;
  return input;
}

json generate(mote_host* model, const mote_host_input& input, const char* options) {
  return assert_ok(Got(mote_host_generate(model, &input, 1, options, nullptr)));
}

std::vector<int32_t> ids_of(mote_host_result* result) {
  uint64_t count = 0;
  const int32_t* const ids = mote_host_ids(result, &count);
  return {ids, ids + count};
}

}  // namespace

TEST_CASE("host: a failure has the remedy that its caller may name") {
  const Opened model(encoder(), R"({"context": 4})");
  const mote_host_input input = text("many words that do not fit a context of four");
  const auto remedy = [](mote_host_result* result) {
    const Got got(result);
    TEST_ASSERT_TRUE(got.status() != MOTE_OK);
    return mote_host_remedy(result);
  };
  TEST_ASSERT_EQUAL(MOTE_REMEDY_TRUNCATE, remedy(mote_host_embed(model.get(), &input, 1, nullptr, nullptr)));
  TEST_ASSERT_EQUAL(MOTE_REMEDY_RANK, remedy(mote_host_rerank(model.get(), nullptr, 0, nullptr, nullptr)));
  TEST_ASSERT_EQUAL(MOTE_REMEDY_NONE, remedy(mote_host_embed(model.get(), &input, 1, "{", nullptr)));
  TEST_ASSERT_EQUAL(MOTE_REMEDY_NONE, mote_host_remedy(nullptr));
  const Opened talker(decoder(), R"({"context": 4})");
  TEST_ASSERT_EQUAL(MOTE_REMEDY_MORE_CONTEXT,
                    remedy(mote_host_generate(talker.get(), &input, 1, nullptr, nullptr)));
}

TEST_CASE("host: no inputs say what is wrong with a model, and answer nothing") {
  const Opened model(encoder());
  const Got none(mote_host_embed(model.get(), nullptr, 0, nullptr, nullptr));
  TEST_ASSERT_EQUAL(0, assert_ok(none).at("rows").get<int>());
  TEST_ASSERT_TRUE(assert_ok(Got(mote_host_rank(model.get(), nullptr, 0, nullptr, nullptr))).empty());
  assert_fails(Got(mote_host_classify(model.get(), nullptr, 0, nullptr, nullptr)), MOTE_INVALID_ARGUMENT,
               "out.mote");
  assert_fails(Got(mote_host_translate(model.get(), nullptr, 0, nullptr, nullptr)), MOTE_INVALID_ARGUMENT,
               "out.mote");
}

TEST_CASE("host: ids stand in place of their text, and their name begins the message about a wrong one") {
  const Opened model(decoder());
  const mote_host_input words = text("hello there");
  mote_host_result* const tokens = mote_host_tokenize(model.get(), &words, 1, R"({"offsets": false})");
  const Got held(tokens);
  TEST_ASSERT_TRUE(assert_ok(held).is_null());
  const std::vector<int32_t> ids = ids_of(tokens);
  const json of_text = generate(model.get(), words, R"({"tokens": 6})");
  TEST_ASSERT_TRUE(of_text.at("prompt_ids") == json(ids));
  TEST_ASSERT_TRUE(of_text.at("output_ids") ==
                   generate(model.get(), numbers(ids), R"({"tokens": 6})").at("output_ids"));
  const std::vector<int32_t> wrong = {1, 1 << 30};
  const mote_host_input named = numbers(wrong, "--ids");
  assert_fails(Got(mote_host_generate(model.get(), &named, 1, nullptr, nullptr)), MOTE_INVALID_ARGUMENT,
               "--ids: id 1073741824 at index 1 is not in the vocabulary");
}

TEST_CASE("host: a session that was saved after a prompt is taken up by another call") {
  const Opened model(decoder());
  const std::string path = decoder() + ".state";
  const std::string saves = json{{"tokens", 4}, {"save-state", path}}.dump(),
                    loads = json{{"tokens", 4}, {"load-state", path}}.dump();
  const mote_host_input words = text("hello"), nothing = text("");
  const json first = generate(model.get(), words, saves.c_str());
  TEST_ASSERT_TRUE(generate(model.get(), words, R"({"tokens": 4})").at("output_ids") ==
                   first.at("output_ids"));
  TEST_ASSERT_TRUE(generate(model.get(), nothing, loads.c_str()).at("output_ids") == first.at("output_ids"));
  std::ofstream(path, std::ios::trunc).flush();
  const Got empty(mote_host_generate(model.get(), &words, 1, loads.c_str(), nullptr));
  assert_fails(empty, MOTE_INVALID_ARGUMENT, "is empty: it is no saved session");
}

TEST_CASE("host: threads and a backend are set before the first call only") {
  const Opened model(decoder(), R"({"threads": 1})");
  mote_model_info info;
  mote_model_get_info(mote_host_model(model.get()), &info);
  TEST_ASSERT_EQUAL(assert_ok(Got(mote_host_info(model.get()))).at("context").get<uint32_t>(), info.context);
  TEST_ASSERT_EQUAL(MOTE_INVALID_ARGUMENT, mote_host_set_threads(model.get(), 0, 0));
  TEST_ASSERT_EQUAL(MOTE_INVALID_ARGUMENT, mote_host_set_threads(model.get(), 2, 3));
  TEST_ASSERT_EQUAL(MOTE_OK, mote_host_set_threads(model.get(), 2, 1));
  TEST_ASSERT_EQUAL(2, assert_ok(Got(mote_host_info(model.get()))).at("threads").get<int>());
  const mote_backend other = {};
  TEST_ASSERT_EQUAL(MOTE_INVALID_ARGUMENT, mote_host_set_backend(model.get(), &other));
  TEST_ASSERT_EQUAL(MOTE_OK, mote_host_set_backend(model.get(), nullptr));
  generate(model.get(), text("hello"), R"({"tokens": 1})");
  TEST_ASSERT_EQUAL(MOTE_WRONG_STATE, mote_host_set_threads(model.get(), 1, 1));
  TEST_ASSERT_EQUAL(MOTE_WRONG_STATE, mote_host_set_backend(model.get(), nullptr));
  TEST_ASSERT_EQUAL(MOTE_INVALID_ARGUMENT, mote_host_set_threads(nullptr, 1, 1));
  TEST_ASSERT_NULL(mote_host_model(nullptr));
}

TEST_CASE("host: hashes are checked when the model is opened, where the caller asks") {
  const std::string file = model_file("bert", R"({"no-tokenizer": true})");
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  char& last = bytes[bytes.size() - 64];  // of a weight: what is aligned to 64 bytes is no padding
  last = static_cast<char>(last ^ 1);
  const std::string path = file + ".flipped";
  std::ofstream(path, std::ios::binary) << bytes;
  mote_host* model = nullptr;
  assert_fails(Got(mote_host_open(path.c_str(), R"({"hashes": true})", &model)), MOTE_CORRUPT_FILE, "hash");
  assert_ok(Got(mote_host_open(path.c_str(), nullptr, &model)));
  assert_fails(Got(mote_host_verify(model, nullptr)), MOTE_CORRUPT_FILE, "hash");
  mote_host_close(model);
  const Opened whole(file, R"({"hashes": true})");
  TEST_ASSERT_TRUE(assert_ok(Got(mote_host_verify(whole.get(), nullptr))).at("self_test").get<bool>());
}

TEST_CASE("host: a verification tells how many tensors are hashed, then that it replays") {
  struct Told {
    std::vector<double> hashes, replay;
  } told;
  mote_host_calls calls = {};
  calls.user = &told;
  calls.progress = [](void* user, const char* stage, double part) {
    auto* const all = static_cast<Told*>(user);
    (std::string_view(stage) == "hashes" ? all->hashes : all->replay).push_back(part);
  };
  const std::string file = model_file("bert", R"({"no-tokenizer": true})");
  const Opened model(file);
  assert_ok(Got(mote_host_verify(model.get(), &calls)));
  CHECK(told.hashes.size() > 10);
  CHECK(std::is_sorted(told.hashes.begin(), told.hashes.end()));
  CHECK(told.hashes.front() == 0);
  CHECK(told.hashes.back() == 1);
  CHECK(told.replay == std::vector<double>{0, 1});
  const Opened hashed(file, R"({"hashes": true})");
  told = {};
  assert_ok(Got(mote_host_verify(hashed.get(), &calls)));
  CHECK(told.hashes.empty());
  CHECK(told.replay == std::vector<double>{0, 1});
}

TEST_CASE("host: variables of a template keep the order of their keys, and inputs the names they are given") {
  mote_host_input inputs[] = {text("{% for key in v %}{{ key }} {% endfor %}"),
                              text(R"([{"role": "user", "content": "hi"}])")};
  const Got rendered(mote_host_template(inputs, 2, R"({"set": {"v": {"b": 1, "a": 2, "c": 3}}})"));
  TEST_ASSERT_EQUAL_STRING("b a c ", assert_ok(rendered).at("text").get<std::string>());
  TEST_ASSERT_EQUAL_STRING("b a c ", rendered.bytes());
  inputs[0] = text("{{ raise_exception('not so') }}");
  assert_fails(Got(mote_host_template(inputs, 2, nullptr)), MOTE_BAD_INPUT,
               "the template: refused: the template says: not so");
  inputs[0].path = "chat.jinja";
  inputs[1] = text("{");
  inputs[1].path = "talk.json";
  assert_fails(Got(mote_host_template(inputs, 2, nullptr)), MOTE_BAD_INPUT, "talk.json: not valid JSON");
}

TEST_CASE("host: a model is evaluated by one measure at a time, and beside itself it is the same") {
  const Opened model(decoder()), other(decoder());
  const mote_host_input words = text("hello there, and so on and on");
  const auto evaluate = [&](mote_host* beside, const mote_host_input& input, const char* options,
                            const mote_host_calls* calls = nullptr) {
    return mote_host_evaluate(model.get(), beside, &input, options, calls);
  };
  const json same = assert_ok(Got(evaluate(other.get(), words, R"({"perplexity": true, "window": 8})")));
  TEST_ASSERT_TRUE(same.at("perplexity") == same.at("other_perplexity"));
  TEST_ASSERT_TRUE(same.at("mean_kl").get<double>() == 0 && same.at("top1_agreement").get<double>() == 1);
  const json limited = assert_ok(Got(evaluate(nullptr, words, R"({"perplexity": true, "limit": 3})")));
  TEST_ASSERT_EQUAL(2, limited.at("tokens").get<int>());
  const Got none(evaluate(nullptr, words, nullptr));
  assert_fails(none, MOTE_INVALID_ARGUMENT, "one of the options");
  assert_fails(Got(evaluate(nullptr, words, R"({"perplexity": true, "exact": true})")), MOTE_INVALID_ARGUMENT,
               "one of the options");
  mote_host_input lines = text("a\tb\nc");
  lines.path = "questions.tsv";
  assert_fails(Got(evaluate(nullptr, lines, R"({"exact": true})")), MOTE_BAD_INPUT,
               "questions.tsv: line 2 has no tab");
  mote_host_calls calls = {};
  calls.stop = [](void*) { return 1; };
  TEST_ASSERT_EQUAL(MOTE_CANCELLED,
                    Got(evaluate(nullptr, words, R"({"perplexity": true})", &calls)).status());
}

TEST_CASE("host: information names how the model's authors compare vectors") {
  const std::filesystem::path folder = models_folder() / "compared", file = models_folder() / "compared.mote";
  std::filesystem::copy(std::filesystem::path(MOTE_SOURCE_DIR) / "tests/golden/models/bert_sentence_dense",
                        folder, std::filesystem::copy_options::recursive);
  for (const char* name : {"cosine", "dot", "euclidean", "manhattan"}) {
    std::ofstream(folder / "config_sentence_transformers.json")
        << json{{"similarity_fn_name", name}, {"prompts", {{"query", "the "}}}};
    mote_convert_result* done = mote_convert(folder.c_str(), file.c_str(), nullptr, nullptr);
    INFO(mote_convert_sentence(done));
    TEST_ASSERT_EQUAL(MOTE_OK, mote_convert_status(done));
    mote_convert_free(done);
    const Opened model(file);
    const json info = assert_ok(Got(mote_host_info(model.get())));
    TEST_ASSERT_TRUE(info.at("similarity") == name);
    TEST_ASSERT_TRUE(info.at("prompts") == json::array({"query"}));
  }
}
