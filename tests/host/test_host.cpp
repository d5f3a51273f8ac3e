// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h as a stranger might use it: wrong arguments, several threads, cancelled calls, a fork, damaged
// files.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "tests/host/host_calls.h"

using namespace mote::testing;
namespace fs = std::filesystem;
using namespace mote::testing;

namespace {

std::vector<float> embed(mote_host* model, const char* words) {
  const mote_host_input input = text(words);
  const Got got(mote_host_embed(model, &input, 1, nullptr, nullptr));
  return got.status() == MOTE_OK ? got.values() : std::vector<float>();
}

int at_once(void*) { return 1; }

}  // namespace

TEST_CASE("host: options are refused by their name") {
  const Opened model(decoder());
  const mote_host_input input = text("hello");
  const auto generate = [&](const char* options) {
    return Got(mote_host_generate(model.get(), &input, 1, options, nullptr));
  };
  assert_fails(generate(R"({"token": 3})"), MOTE_INVALID_ARGUMENT,
               "no option \"token\", did you mean 'tokens'?");
  assert_fails(generate(R"({"tokens": "3"})"), MOTE_INVALID_ARGUMENT,
               "option \"tokens\": expected a whole number");
  assert_fails(generate(R"({"tokens": -1})"), MOTE_INVALID_ARGUMENT, "option \"tokens\"");
  assert_fails(generate(R"({"top-p": 1.5})"), MOTE_INVALID_ARGUMENT, "option \"top-p\": expected a number");
  assert_fails(generate(R"({"stop": [1]})"), MOTE_INVALID_ARGUMENT, "option \"stop\": expected a text");
  assert_fails(generate(R"({"greedy": true, "temp": 1})"), MOTE_INVALID_ARGUMENT, "exclude each other");
  assert_fails(generate(R"({"context-full": "x"})"), MOTE_INVALID_ARGUMENT, "one of stop, slide");
  assert_fails(generate("[1]"), MOTE_INVALID_ARGUMENT, "options");
  assert_fails(generate("{"), MOTE_INVALID_ARGUMENT, "options");
  TEST_ASSERT_EQUAL_STRING("length", assert_ok(generate(R"({"tokens": 2})")).at("finish").get<std::string>());
}

TEST_CASE("host: null pointers and wrong inputs are failures with a sentence") {
  mote_host* none = nullptr;
  assert_fails(Got(mote_host_open(nullptr, nullptr, &none)), MOTE_INVALID_ARGUMENT, "null pointer");
  assert_fails(Got(mote_host_open("x", nullptr, nullptr)), MOTE_INVALID_ARGUMENT, "null pointer");
  assert_fails(Got(mote_host_open("/no/such/file", nullptr, &none)), MOTE_BAD_INPUT, "/no/such/file");
  assert_fails(Got(mote_host_info(nullptr)), MOTE_INVALID_ARGUMENT, "null pointer");
  assert_fails(Got(mote_host_embed(nullptr, nullptr, 0, nullptr, nullptr)), MOTE_INVALID_ARGUMENT,
               "null pointer");
  assert_fails(Got(mote_host_chat_say(nullptr, nullptr, 0, nullptr)), MOTE_INVALID_ARGUMENT, "null pointer");
  const Opened model(encoder());
  assert_fails(Got(mote_host_embed(model.get(), nullptr, 3, nullptr, nullptr)), MOTE_INVALID_ARGUMENT,
               "null pointer");
  assert_fails(Got(mote_host_speak(model.get(), nullptr, nullptr, nullptr)), MOTE_INVALID_ARGUMENT,
               "null pointer");
  const mote_host_input nothing = {};
  assert_fails(Got(mote_host_embed(model.get(), &nothing, 1, nullptr, nullptr)), MOTE_INVALID_ARGUMENT,
               "no text");
  assert_fails(Got(mote_host_generate(model.get(), &nothing, 1, nullptr, nullptr)), MOTE_INVALID_ARGUMENT,
               "continues no text");
  mote_host_free(nullptr);
  mote_host_close(nullptr);
  mote_host_cancel(nullptr);
  mote_host_chat_end(nullptr);
  TEST_ASSERT_EQUAL(MOTE_OUT_OF_MEMORY, mote_host_status(nullptr));
}

TEST_CASE("host: texts with zeros and broken UTF-8 give a vector or a sentence") {
  const Opened model(encoder());
  for (const std::string& words :
       {std::string("a\0b", 3), std::string("\xED\xA0\x80 x"), std::string("\xff\xfe")}) {
    mote_host_input input = text(words.data());
    input.text_bytes = words.size();
    const Got got(mote_host_embed(model.get(), &input, 1, nullptr, nullptr));
    TEST_ASSERT_TRUE(got.status() == MOTE_OK ? !got.values().empty() : !got.sentence().empty());
  }
}

TEST_CASE("host: a file that is cut anywhere is refused with its name") {
  std::ifstream in(encoder(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const fs::path cut = fs::path(encoder()).parent_path() / "cut.mote";
  for (size_t part = 0; part < 50; ++part) {
    std::ofstream(cut, std::ios::binary) << whole.substr(0, whole.size() * part / 50);
    mote_host* model = nullptr;
    const Got got(mote_host_open(cut.c_str(), nullptr, &model));
    INFO(part);
    TEST_ASSERT_TRUE(got.status() != MOTE_OK && model == nullptr);
    TEST_ASSERT_TRUE(got.sentence().find("cut.mote") != std::string::npos);
  }
}

TEST_CASE("host: eight threads on one model get the answers of one") {
  for (const char* options : {R"({"threads": 1})", R"({"threads": 2, "sessions": 3})"}) {
    const Opened model(encoder(), options);
    const std::vector<float> expected = embed(model.get(), "hello there");
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) wrong += embed(model.get(), "hello there") != expected ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) thread.join();
    TEST_ASSERT_EQUAL(0, wrong);
    TEST_ASSERT_TRUE(assert_ok(Got(mote_host_info(model.get()))).at("memory_bytes").get<uint64_t>() > 0);
  }
}

TEST_CASE("host: a call ends when its caller or another thread says so") {
  const Opened model(decoder());
  const mote_host_input input = text("hello");
  mote_host_calls calls = {};
  calls.stop = at_once;
  const json stopped = assert_ok(
      Got(mote_host_generate(model.get(), &input, 1, R"({"tokens": 0, "ignore-stop": true})", &calls)));
  TEST_ASSERT_EQUAL_STRING("cancelled", stopped.at("finish").get<std::string>());
  std::atomic<bool> running{false};
  mote_host_calls heard = {};
  heard.user = &running;
  heard.text = [](void* user, const char*, size_t, int32_t) {
    *static_cast<std::atomic<bool>*>(user) = true;
  };
  std::thread other([&] {
    while (!running) std::this_thread::yield();
    mote_host_cancel(model.get());
  });
  const json cancelled = assert_ok(
      Got(mote_host_generate(model.get(), &input, 1, R"({"tokens": 0, "ignore-stop": true})", &heard)));
  other.join();
  TEST_ASSERT_EQUAL_STRING("cancelled", cancelled.at("finish").get<std::string>());
  // The next call is not touched.
  TEST_ASSERT_EQUAL_STRING(
      "length", assert_ok(Got(mote_host_generate(model.get(), &input, 1, R"({"tokens": 1})", nullptr)))
                    .at("finish")
                    .get<std::string>());
}

/// Holds a call's text callback until it is let go.
struct Gate {
  std::atomic<bool> reached{false}, open{false};
  static void wait(void* user, const char*, size_t, int32_t) {
    Gate& gate = *static_cast<Gate*>(user);
    gate.reached = true;
    while (!gate.open) std::this_thread::yield();
  }
};

TEST_CASE("host: a call that waits for its turn ends when its caller or another thread says so") {
  const Opened model(decoder(), R"({"sessions": 1})");
  const mote_host_input input = text("hello");
  const auto generate = [&](const mote_host_calls& calls) {
    return Got(mote_host_generate(model.get(), &input, 1, R"({"tokens": 2, "ignore-stop": true})", &calls));
  };
  Gate gate;
  mote_host_calls holding = {}, stopping = {};
  holding.user = &gate;
  holding.text = Gate::wait;
  std::thread holder([&] { generate(holding); });
  while (!gate.reached) std::this_thread::yield();
  stopping.stop = at_once;
  assert_fails(generate(stopping), MOTE_CANCELLED, "cancelled");
  // One whose caller lets it wait.
  std::atomic<int> looks{0};
  mote_host_calls patient = {};
  patient.user = &looks;
  patient.stop = [](void* user) -> int {
    ++*static_cast<std::atomic<int>*>(user);
    return 0;
  };
  mote_status waited = MOTE_OK;
  std::thread other([&] { waited = generate(patient).status(); });
  while (looks == 0) std::this_thread::yield();
  mote_host_cancel(model.get());
  other.join();
  TEST_ASSERT_EQUAL(MOTE_CANCELLED, waited);
  gate.open = true;
  holder.join();
  TEST_ASSERT_EQUAL_STRING("length", assert_ok(generate({})).at("finish").get<std::string>());
}

/// Returns how many other threads of the process do not sleep.
size_t awake_threads() {
  size_t awake = 0;
  for (const fs::directory_entry& task : fs::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(task.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    if (!stat.empty() && stat.compare(stat.rfind(')') + 1, 3, " S ") != 0) ++awake;
  }
  return awake;
}

/// Waits until the pool's threads sleep. A thread that still starts holds locks of AddressSanitizer's
/// allocator, which a child of fork() would wait for; the C library's allocator takes its own at fork().
void wait_until_threads_sleep() {
  for (int looks = 0, quiet = 0; quiet < 5 && looks < 10000; ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    quiet = awake_threads() == 0 ? quiet + 1 : 0;
  }
}

TEST_CASE("host: a child of fork has a working model, and its parent's chat fails by a sentence") {
#ifdef __SANITIZE_THREAD__
  WARN("ThreadSanitizer ends a child that starts threads");
  return;
#endif
  const Opened model(decoder(), R"({"threads": 2})");
  mote_host_chat* chat = nullptr;
  assert_ok(Got(mote_host_chat_begin(model.get(), R"({"tokens": 3, "greedy": true})", &chat)));
  const mote_host_input input = text("hello");
  const json before = assert_ok(Got(mote_host_generate(model.get(), &input, 1, R"({"tokens": 5})", nullptr)));
  wait_until_threads_sleep();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // instead of waiting for threads that are not there
    const Got answer(mote_host_generate(model.get(), &input, 1, R"({"tokens": 5})", nullptr));
    if (answer.status() != MOTE_OK || answer.answer().at("output_ids") != before.at("output_ids")) _exit(1);
    const Got said(mote_host_chat_say(chat, &input, 1, nullptr));
    if (said.status() != MOTE_WRONG_STATE || said.sentence().find("fork") == std::string::npos) _exit(2);
    mote_host_chat_end(chat);
    mote_host_close(model.get());
    _exit(0);
  }
  int status = -1;
  TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
  TEST_ASSERT_TRUE(WIFEXITED(status));
  TEST_ASSERT_EQUAL(0, WEXITSTATUS(status));
  assert_ok(Got(mote_host_chat_say(chat, &input, 1, nullptr)));
  mote_host_chat_end(chat);
}

TEST_CASE("host: a chat keeps what it computed, serves one call at a time, and is saved and taken up") {
  const Opened model(decoder());
  const auto begin = [&] {
    mote_host_chat* chat = nullptr;
    assert_ok(Got(
        mote_host_chat_begin(model.get(), R"({"tokens": 6, "greedy": true, "ignore-stop": true})", &chat)));
    return chat;
  };
  mote_host_chat* const chat = begin();
  const mote_host_input first = text("hello"), second = text("and then?");
  TEST_ASSERT_EQUAL(
      0, assert_ok(Got(mote_host_chat_say(chat, &first, 1, nullptr))).at("reused_tokens").get<int>());
  const std::string saved = Got(mote_host_chat_save(chat)).bytes();
  // A call on the chat from within one of its own.
  mote_host_calls calls = {};
  calls.user = chat;
  calls.stop = [](void* user) -> int {
    const mote_host_input again = text("again");
    assert_fails(Got(mote_host_chat_say(static_cast<mote_host_chat*>(user), &again, 1, nullptr)),
                 MOTE_WRONG_STATE, "busy");
    return 0;
  };
  const json expected = assert_ok(Got(mote_host_chat_say(chat, &second, 1, &calls)));
  TEST_ASSERT_TRUE(expected.at("reused_tokens").get<int>() > 0);

  mote_host_chat* const other = begin();
  assert_ok(Got(mote_host_chat_load(other, saved.data(), saved.size())));
  const json continued = assert_ok(Got(mote_host_chat_say(other, &second, 1, nullptr)));
  for (const char* key : {"output_ids", "text", "reused_tokens", "prompt_tokens"})
    TEST_ASSERT_TRUE(continued.at(key) == expected.at(key));
  // Damaged bytes leave the chat as it was.
  for (size_t size = 0; size < saved.size(); size += 1 + saved.size() / 64)
    TEST_ASSERT_EQUAL(MOTE_WRONG_SNAPSHOT, Got(mote_host_chat_load(other, saved.data(), size)).status());
  std::string wrong = saved;
  wrong[8] = 9;
  assert_fails(Got(mote_host_chat_load(other, wrong.data(), wrong.size())), MOTE_WRONG_SNAPSHOT, "version 9");
  assert_ok(Got(mote_host_chat_say(other, &first, 1, nullptr)));
  mote_host_chat_end(other);
  mote_host_chat_end(chat);
}

TEST_CASE("host: vectors of many texts are those of each, and a ranking is in their order") {
  const Opened model(encoder());
  std::vector<std::string> words;
  for (int i = 0; i < 150; ++i)
    words.push_back("text " + std::string(static_cast<size_t>(i % 7), 'a') + " end");
  std::vector<mote_host_input> inputs;
  for (const std::string& each : words) inputs.push_back(text(each.c_str()));
  const Got got(mote_host_embed(model.get(), inputs.data(), inputs.size(), nullptr, nullptr));
  const auto width = assert_ok(got).at("width").get<size_t>();
  const std::vector<float> all = got.values();
  TEST_ASSERT_EQUAL(words.size() * width, all.size());
  for (const size_t i : {size_t{0}, size_t{63}, size_t{64}, size_t{149}}) {
    const std::vector<float> one(all.begin() + static_cast<std::ptrdiff_t>(i * width),
                                 all.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    TEST_ASSERT_TRUE(one == embed(model.get(), words[i].c_str()));
  }
  const Got ranked(mote_host_rank(model.get(), inputs.data(), 9, R"({"top": 3})", nullptr));
  const json best = assert_ok(ranked);
  TEST_ASSERT_EQUAL(3, best.size());
  TEST_ASSERT_EQUAL(6, best[0].at("index").get<int>());  // the same text as the query
  TEST_ASSERT_EQUAL(8, ranked.values().size());
}

TEST_CASE("convert: options are refused by their name, and a stopped conversion leaves nothing") {
  const fs::path folder = fs::path(encoder()).parent_path();
  const auto convert = [&](const char* options, const mote_convert_calls* calls) {
    mote_convert_result* done = mote_convert(folder.c_str(), (folder / "other.mote").c_str(), options, calls);
    const std::pair<mote_status, std::string> got{mote_convert_status(done), mote_convert_sentence(done)};
    mote_convert_free(done);
    return got;
  };
  TEST_ASSERT_TRUE(convert(R"({"typ": "q8"})", nullptr).second.find("did you mean 'type'?") !=
                   std::string::npos);
  TEST_ASSERT_TRUE(convert(R"({"type": "q9"})", nullptr).second.find("q9") != std::string::npos);
  mote_convert_calls calls = {};
  calls.stop = at_once;
  TEST_ASSERT_EQUAL(MOTE_CANCELLED, convert(nullptr, &calls).first);
  TEST_ASSERT_FALSE(fs::exists(folder / "other.mote"));
}
