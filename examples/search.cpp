// SPDX-License-Identifier: Apache-2.0
//
// Lines of standard input, nearest to a text first: search MODEL.mote TEXT <LINES
#include <cstdio>
#include <iostream>
#include <map>
#include <mote/mote.hpp>

int main(int count, char** arguments) try {
  if (count != 3) return 2;
  mote::Session session = mote::Session::open(arguments[1]).value();
  const std::vector<float> query = session.embed(arguments[2], "query", MOTE_TRUNCATE).value();
  std::multimap<float, std::string, std::greater<>> found;
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<float> vector = session.embed(line, "document", MOTE_TRUNCATE).value();
    found.emplace(session.similarity(query, vector), line);
  }
  for (const auto& [score, line] : found) std::printf("%.4f  %s\n", static_cast<double>(score), line.c_str());
} catch (const std::exception& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
