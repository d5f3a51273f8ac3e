// SPDX-License-Identifier: Apache-2.0
//
// Words of a Parakeet TDT at the times that transformers gives their tokens
// (scripts/make_written_parakeet_words), and
// words in every form of a transcript.
#include <algorithm>
#include <cmath>

#include "tests/tools/command.h"
#include "tests/tools/hearers.h"
#include "tests/tools/sound_files.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Converts the golden transducer with pieces for its tokens.
std::string of_pieces(const json& pieces, const std::string& name) {
  const fs::path folder = scratch() / name;
  const std::string file = (folder / "out.mote").string();
  if (fs::exists(file)) return file;
  fs::copy(golden("parakeet_tdt"), folder, fs::copy_options::recursive);
  json root = letters_tokenizer(12);
  root["model"]["vocab"] = json::object();
  for (size_t i = 0; i < pieces.size(); ++i) root["model"]["vocab"][pieces[i].get<std::string>()] = i;
  write_text(folder / "tokenizer.json", root.dump());
  assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
  return file;
}

struct KnownWord {
  std::string text;
  double begin, end;
};

/// Returns the words of tokens: one begins with a space. Nothing lies behind the sound.
std::vector<KnownWord> words_of(const json& tokens, double seconds) {
  std::vector<KnownWord> words;
  for (const json& token : tokens) {
    const std::string text = token.at("text");
    const double begin = std::min(seconds, token.at("start").get<double>()),
                 end = std::min(seconds, token.at("end").get<double>());
    if (words.empty() || text.rfind(' ', 0) == 0) {
      words.push_back({text, begin, end});
    } else {
      words.back().text += text;
      words.back().end = end;
    }
  }
  return words;
}

std::string without_space(const std::string& text) { return text.rfind(' ', 0) == 0 ? text.substr(1) : text; }

/// Returns the seconds of a time in a subtitle, "00:00:01,250" or with a point.
double seconds_at(const std::string& text, size_t at) {
  const auto number = [&](size_t from, size_t count) { return std::stod(text.substr(at + from, count)); };
  return number(0, 2) * 3600 + number(3, 2) * 60 + number(6, 2) + number(9, 3) / 1000;
}

}  // namespace

TEST("a transducer's words begin and end where transformers says that their tokens do", "[words]") {
  const json known =
      json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/sound/parakeet_words.json"));
  size_t many = 0, marks = 0;
  for (const json& one : known.at("cases")) {
    const size_t samples = one.at("samples");
    CAPTURE(samples, one.at("pieces").dump());
    const std::string file = of_pieces(
        one.at("pieces"), "pieces" + std::to_string(std::hash<std::string>()(one.at("pieces").dump())));
    const std::string sound = wav("of_pieces" + std::to_string(samples) + ".wav", noise(samples));
    const json found =
        assert_json(run("transcribe " + file + " " + sound + " --json --words")).at("segments");
    TEST_ASSERT_EQUAL_UINT64(1, found.size());
    const json words = found[0].at("words");
    const std::vector<KnownWord> expected = words_of(one.at("tokens"), static_cast<double>(samples) / 16000);
    TEST_ASSERT_EQUAL_UINT64(expected.size(), words.size());
    many += words.size() > 1;
    for (size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i, words[i].dump());
      TEST_ASSERT_EQUAL_STRING(without_space(expected[i].text),
                               without_space(words[i].at("word").get<std::string>()));
      TEST_ASSERT_DOUBLE_WITHIN(6e-4, expected[i].begin, words[i].at("start").get<double>());
      TEST_ASSERT_DOUBLE_WITHIN(6e-4, expected[i].end, words[i].at("end").get<double>());
      TEST_ASSERT_TRUE(words[i].at("probability") > 0 && words[i].at("probability") <= 1);
      marks += expected[i].text.find_first_of(",.?!") != std::string::npos;
    }
  }
  TEST_ASSERT_GREATER_THAN(2u, many);
  TEST_ASSERT_GREATER_THAN(2u, marks);
}

TEST("words are in JSON, SRT and VTT by each kind of model that says when they are said", "[words]") {
  const std::string sound = wav("of_words.wav", noise(40000));
  for (const std::string& path : hearers()) {
    CAPTURE(path);
    const std::string command = "transcribe " + path + " " + sound + " --words ";
    if (contains(path, "moonshine")) {
      assert_fails(run(command), 1, "does not say when a word is said");
      continue;
    }
    const json segments = assert_json(run(command + "--json")).at("segments");
    std::vector<json> words;
    for (const json& segment : segments) {
      std::string text;
      for (const json& word : segment.at("words")) {
        words.push_back(word);
        text += word.at("word").get<std::string>();
      }
      std::string whole = segment.at("text");
      for (std::string* one : {&text, &whole}) std::erase(*one, ' ');
      TEST_ASSERT_EQUAL_STRING(whole, text);
    }
    TEST_ASSERT_FALSE(words.empty());
    for (const auto& [format, mark] :
         {std::pair<std::string, std::string>{"--srt", "1\n"}, {"--vtt", "WEBVTT\n\n"}}) {
      CAPTURE(format);
      const std::string titles = assert_works(run(command + format));
      TEST_ASSERT_EQUAL_INT(0, static_cast<int>(titles.rfind(mark, 0)));
      TEST_ASSERT_DOUBLE_WITHIN(1e-3, words.front().at("start").get<double>(),
                                seconds_at(titles, mark.size()));
      const size_t last = titles.rfind(" --> ");
      TEST_ASSERT_DOUBLE_WITHIN(1e-3, words.back().at("end").get<double>(), seconds_at(titles, last + 5));
      for (const json& word : words)
        TEST_ASSERT_TRUE(contains(titles, without_space(word.at("word").get<std::string>())));
    }
  }
}
