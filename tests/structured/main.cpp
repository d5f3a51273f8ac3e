// SPDX-License-Identifier: Apache-2.0
//
// Answers questions about grammars, a line of JSON each, for bench/structured.py and
// scripts/check_structured.
//
//     mote_structured_lines VOCABULARY.gguf|bytes < questions > answers
//
// {"do":"vocabulary"}                         {"tokens":[hex],"special":[ids],"stop":id}
// {"do":"encode","text":T}                    {"ids":[...]}
// {"do":"compile","json_schema":T}            {"ms":x,"bytes":n}; also of "regex", "gbnf", "any_json" and
//                                             "choices", with "whitespace", "masks" and "depth"
// {"do":"masks","answers":[[ids]],"rounds":n} {"micros":[...]} of the grammar that was compiled last; "left"
//                                             is how many tokens an answer may have
// {"do":"accept","texts":[...]}               {"accepted":[...]}
// {"do":"random","count":n,"tokens":[a,b],"seed":s} {"answers":[{"text":T,"limit":n,"tokens":n,...}]}; bytes
//                                             of a text are its code points
//
// A grammar that is refused gives {"refused":sentence}, everything else that fails {"failed":sentence}.
#include <iostream>
#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "tests/structured/answers.h"

namespace {

using Json = nlohmann::ordered_json;

std::string hex(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out.push_back("0123456789abcdef"[static_cast<uint8_t>(c) >> 4]);
    out.push_back("0123456789abcdef"[c & 15]);
  }
  return out;
}

/// Returns UTF-8 of code points that are the text's bytes.
std::string as_points(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x80) out.push_back(static_cast<char>(0xC0 | byte >> 6));
    out.push_back(static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3F)));
  }
  return out;
}

mote::grammar::GrammarRequest request_of(const Json& question) {
  mote::grammar::GrammarRequest request;
  const auto text = [&](const char* key) -> std::optional<std::string> {
    if (!question.contains(key)) return std::nullopt;
    return question[key].get<std::string>();
  };
  request.json_schema = text("json_schema");
  request.regex = text("regex");
  request.gbnf = text("gbnf");
  request.any_json = question.value("any_json", false);
  request.choices = question.value("choices", std::vector<std::string>());
  const std::string whitespace = question.value("whitespace", "one");
  request.json.whitespace = whitespace == "none"  ? mote::grammar::Whitespace::none
                            : whitespace == "one" ? mote::grammar::Whitespace::one
                                                  : mote::grammar::Whitespace::lines;
  request.limits.depth = question.value("depth", request.limits.depth);
  request.limits.seconds = question.value("seconds", request.limits.seconds);
  return request;
}

class Questions {
 public:
  explicit Questions(const std::string& path) : words_(path) {}

  Json answer(const Json& question) {
    const auto what = question["do"].get<std::string>();
    if (what == "vocabulary") return vocabulary();
    if (what == "encode") return {{"ids", words_.encode(question["text"].get<std::string>())}};
    if (what == "compile") return compile(question);
    if (grammar_ == nullptr) mote::convert::fail("no grammar is compiled");
    if (what == "masks") return masks(question);
    if (what == "accept") return accept(question);
    if (what == "random") return random(question);
    mote::convert::fail("\"{}\" is no question", what);
  }

 private:
  Json vocabulary() const {
    Json tokens = Json::array(), special = Json::array();
    for (size_t id = 0; id < words_.count(); ++id) {
      tokens.push_back(hex(words_.text(id)));
      if (words_.special(id)) special.push_back(id);
    }
    return {{"tokens", tokens}, {"special", special}, {"stop", words_.stop()}};
  }
  Json compile(const Json& question) {
    grammar_.reset();
    try {
      grammar_ =
          std::make_unique<test::AnswerGrammar>(words_, request_of(question), question.value("masks", true));
    } catch (const mote::convert::Error& error) {
      return {{"refused", error.what()}};
    }
    return {{"ms", grammar_->compile_ms()}, {"bytes", grammar_->bytes()}};
  }
  Json masks(const Json& question) const {
    std::vector<double> micros;
    for (int round = question.value("rounds", 1); round > 0; --round) {
      for (const Json& ids : question["answers"])
        grammar_->time_masks(ids.get<std::vector<int32_t>>(), question.value("left", UINT32_MAX), &micros);
    }
    return {{"micros", micros}};
  }
  Json accept(const Json& question) const {
    Json accepted = Json::array();
    for (const Json& text : question["texts"]) accepted.push_back(grammar_->accepts(text.get<std::string>()));
    return {{"accepted", accepted}};
  }
  Json random(const Json& question) const {
    std::mt19937_64 random(question["seed"].get<uint64_t>());
    const auto least = question["tokens"][0].get<uint32_t>(), most = question["tokens"][1].get<uint32_t>();
    Json answers = Json::array();
    for (uint32_t i = question["count"].get<uint32_t>(); i > 0; --i) {
      const auto limit = static_cast<uint32_t>(least + random() % (most - least + 1));
      const test::RandomAnswer answer = grammar_->random_answer(limit, random);
      answers.push_back({{"text", as_points(answer.text)},
                         {"limit", limit},
                         {"tokens", answer.tokens},
                         {"too_short", answer.too_short},
                         {"finished", answer.finished}});
    }
    return {{"answers", answers}};
  }

  test::AnswerWords words_;
  std::unique_ptr<test::AnswerGrammar> grammar_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: mote_structured_lines VOCABULARY.gguf|bytes < questions\n";
    return 2;
  }
  try {
    Questions questions(std::string(argv[1]) == "bytes" ? "" : argv[1]);
    for (std::string line; std::getline(std::cin, line);) {
      Json answer;
      try {
        answer = questions.answer(Json::parse(line));
      } catch (const std::exception& error) {
        answer = {{"failed", error.what()}};
      }
      std::cout << answer.dump() << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << "mote_structured_lines: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
