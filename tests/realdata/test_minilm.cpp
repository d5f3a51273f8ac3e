// SPDX-License-Identifier: Apache-2.0
//
// all-MiniLM-L6-v2 in 8 bits against itself in f32, whose vectors have cosine 1.000000 to PyTorch's, over 100
// sentences of wikitext-2: `scripts/get_model minilm` fetches the model.
#include <algorithm>
#include <cmath>

#include "tests/support/realdata.h"
#include "tests/support/test_model.h"

namespace {

using Vectors = std::vector<std::vector<float>>;

/// The text is tokenized in words with blanks around them; " . " ends a sentence, "=" starts a heading.
std::vector<std::string> sentences(const std::filesystem::path& path) {
  const std::string end = " . ", blanks = " \n";
  std::vector<std::string> found;
  std::ifstream in(path);
  for (std::string line; found.size() < 100 && std::getline(in, line);) {
    line.erase(0, std::min(line.find_first_not_of(blanks), line.size()));
    line.erase(line.find_last_not_of(blanks) + 1);
    if (line.starts_with("=")) continue;
    for (size_t begin = 0; begin <= line.size() && found.size() < 100;) {
      const size_t stop = std::min(line.find(end, begin), line.size());
      if (stop > begin + 20) found.push_back(line.substr(begin, stop - begin));
      begin = stop + end.size();
    }
  }
  return found;
}

Vectors embed(const std::vector<std::string>& texts, const std::string& type) {
  const std::filesystem::path path = test::temporary_folder() / ("minilm." + type + ".mote");
  mote::convert::ConvertOptions options;
  options.type = type;
  mote::convert::convert(test::fetched_model("all-MiniLM-L6-v2"), path, options);
  const test::AlignedBytes file = test::read_file(path);
  const test::OpenModel model(file);
  const test::OpenSession session(model, mote_session_options_default(model.get()));
  Vectors vectors;
  for (const std::string& text : texts) {
    std::vector<float>& vector = vectors.emplace_back(model.info().width);
    mote_error error{};
    const mote_status status =
        mote_embed(session.get(), text.data(), text.size(), 0, vector.data(), model.info().width, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
  }
  return vectors;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * double{b[i]};
    aa += double{a[i]} * double{a[i]};
    bb += double{b[i]} * double{b[i]};
  }
  return ab / std::sqrt(aa * bb);
}

}  // namespace

TEST("MiniLM: vectors in 8 bits keep their cosine to those in f32") {
  const std::filesystem::path text = test::realdata("wikitext2/test.txt");
  SKIP_WITHOUT(test::fetched_model("all-MiniLM-L6-v2"));
  SKIP_WITHOUT(text);
  const std::vector<std::string> texts = sentences(text);
  TEST_ASSERT_EQUAL_UINT64(100, texts.size());
  const Vectors exact = embed(texts, "f32");
  struct Wanted {
    const char* type;
    double least, mean;
  };
  for (const auto& [type, least, mean] : {Wanted{"q8c", 0.995, 0.998}, Wanted{"q8g32", 0.9993, 0.9997}}) {
    const Vectors vectors = embed(texts, type);
    double lowest = 1, sum = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      const double similarity = cosine(exact[i], vectors[i]);
      lowest = std::min(lowest, similarity);
      sum += similarity;
    }
    WARN(type << ": cosine at least " << lowest << ", mean " << sum / 100);
    TEST_ASSERT_GREATER_OR_EQUAL(least, lowest);
    TEST_ASSERT_GREATER_OR_EQUAL(mean, sum / 100);
  }
}
