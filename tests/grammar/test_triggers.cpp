// SPDX-License-Identifier: Apache-2.0
//
// Tokens that end a trigger and go on with what may not follow it.
#include <cstring>

#include "host/grammar/source.h"
#include "runtime/grammar/matcher.h"
#include "tests/grammar/grammar_case.h"

namespace {

/// Returns the ids that are left of the mask where the model finds the token likeliest.
std::vector<int32_t> led(const test::Tables& tables, const std::string& before,
                         const std::string& likeliest) {
  test::Matcher matcher(tables);
  REQUIRE(matcher.accept_text(before));
  const test::Words& words = tables.words();
  std::vector<uint32_t> mask((words.count() + 31) / 32);
  for (const int32_t id : matcher.allowed()) mask[static_cast<size_t>(id) / 32] |= 1u << id % 32;
  uint32_t token = 0;
  while (words.text(static_cast<int32_t>(token)) != likeliest) ++token;
  mote::lead_to_trigger(*matcher.get(), token, mask.data());
  std::vector<int32_t> ids;
  for (uint32_t id = 0; id < words.count(); ++id) {
    if ((mask[id / 32] >> id % 32 & 1) != 0) ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

}  // namespace

TEST("A token that goes on behind a trigger with what may not follow leads to the trigger", "[grammar]") {
  const auto words = test::byte_level_words();
  mote::grammar::Node free;
  free.kind = mote::grammar::Node::Kind::free;
  free.texts = {"room\":"};
  free.parts = {mote::grammar::rule(1)};
  free.again = true;
  free.least = 0;
  mote::grammar::Source source;
  const auto digit = mote::grammar::characters(mote::grammar::CodePoints({{'0', '9'}}));
  source.rules = {{"the text", std::make_shared<const mote::grammar::Node>(free)},
                  {"a number", mote::grammar::repeat(digit, 1, 5)}};
  const test::Tables tables(source, *words, true);
  const std::vector<int32_t> one = led(tables, "the room", "\":\"");
  REQUIRE(one.size() == 1);
  CHECK(words->text(one[0]) == "\":");
  // What may follow stays as it is, as do tokens that end no trigger.
  CHECK(led(tables, "the room", "\":").size() > 100);
  CHECK(led(tables, "the door", "\":\"").size() > 100);
}
