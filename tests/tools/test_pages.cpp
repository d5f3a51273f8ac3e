// SPDX-License-Identifier: Apache-2.0
//
// The pages of mote inspect: their structure and their numbers. A browser shows them; none is needed here.
#include <cmath>

#include "tests/tools/command.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

/// A golden model with a small tokenizer.
std::string model_with_text(const std::string& name) {
  const std::filesystem::path folder = scratch() / ("page_" + name);
  const std::string path = (scratch() / ("page_" + name + ".mote")).string();
  if (std::filesystem::exists(path)) return path;
  std::filesystem::copy(golden(name), folder, std::filesystem::copy_options::recursive);
  std::filesystem::copy(golden("../tokenizers/small/tokenizer.json"), folder);
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32"));
  return path;
}

std::string page(const std::string& arguments) {
  const std::string path = (scratch() / "page.html").string();
  assert_works(run("inspect " + arguments + " --html " + path));
  return read_text(path);
}

/// What the page's script reads.
json data_of(const std::string& html) {
  const std::string before = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = html.find(before);
  TEST_ASSERT_TRUE(begin != std::string::npos);
  const size_t first = begin + before.size();
  return json::parse(html.substr(first, html.find("</script>", first) - first));
}

/// One file: no address of another.
void assert_self_contained(const std::string& html) {
  for (const char* other : {"src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest"}) {
    CAPTURE(other);
    TEST_ASSERT_FALSE(contains(html, other));
  }
  for (const char* needed : {"<!DOCTYPE html>", "name=\"viewport\"", "default-src 'none'", "ArrowLeft"}) {
    CAPTURE(needed);
    TEST_ASSERT_TRUE(contains(html, needed));
  }
}

/// Buffers of one stream that share bytes hold values at different operations; 1 if they share bytes.
size_t assert_apart(const json& a, const json& b) {
  const auto begin = [](const json& buffer) { return buffer.at("offset").get<size_t>(); };
  const auto end = [&](const json& buffer) { return begin(buffer) + buffer.at("row_bytes").get<size_t>(); };
  if (a.at("stream") != b.at("stream") || end(a) <= begin(b) || end(b) <= begin(a)) return 0;
  for (const json& one : a.at("stretches")) {
    for (const json& other : b.at("stretches")) {
      CAPTURE(a.dump(), b.dump());
      TEST_ASSERT_TRUE(one[1].get<size_t>() < other[0].get<size_t>() ||
                       other[1].get<size_t>() < one[0].get<size_t>());
    }
  }
  return 1;
}

}  // namespace

TEST_CASE(
    "inspect --attention: a map for each layer and head, whose rows are probabilities of earlier tokens") {
  const std::string html = page(model_with_text("llama") + " --attention -p 'the cat sat on the mat'");
  assert_self_contained(html);
  const json data = data_of(html).at("parts").at(0);
  const size_t count = data.at("rows").size();
  TEST_ASSERT_TRUE(count > 5);
  TEST_ASSERT_TRUE(data.at("maps").size() > 1);
  double off_diagonal = 0;
  for (const json& layer : data.at("maps")) {
    for (const json& map : layer) {
      TEST_ASSERT_EQUAL_SIZE_T(count, map.size());
      for (size_t i = 0; i < count; ++i) {
        TEST_ASSERT_EQUAL_SIZE_T(i + 1, map[i].size());
        double sum = 0;
        for (const json& share : map[i]) sum += share.get<double>();
        TEST_ASSERT_FLOAT_WITHIN(0.5e-5 * static_cast<double>(i + 1) + 1e-6, 1.0, sum);
        off_diagonal += 1.0 - map[i][i].get<double>();
      }
    }
  }
  TEST_ASSERT_TRUE(off_diagonal > 0.1);
}

TEST_CASE("inspect --attention: an encoder's tokens see all of the text") {
  const json data =
      data_of(page(model_with_text("bert") + " --attention -p 'the cat sat'")).at("parts").at(0);
  const size_t count = data.at("rows").size();
  for (const json& row : data.at("maps").at(0).at(0)) TEST_ASSERT_EQUAL_SIZE_T(count, row.size());
}

TEST_CASE(
    "inspect --attention: an encoder-decoder has maps of its encoder, its decoder and from one to the "
    "other") {
  const json parts = data_of(page(model_with_text("t5") + " --attention -p 'the cat sat'")).at("parts");
  TEST_ASSERT_EQUAL_SIZE_T(3, parts.size());
  const size_t source = parts[0].at("rows").size(), target = parts[1].at("rows").size();
  for (const json& part : parts) {
    const std::string name = part.at("name").get<std::string>();
    CAPTURE(name);
    const size_t rows = name == "encoder" ? source : target, columns = name == "decoder" ? target : source;
    TEST_ASSERT_EQUAL_SIZE_T(rows, part.at("rows").size());
    TEST_ASSERT_EQUAL_SIZE_T(columns, part.at("columns").size());
    TEST_ASSERT_EQUAL_SIZE_T(2, part.at("maps").size());
    for (const json& map : part.at("maps").at(1)) {
      TEST_ASSERT_EQUAL_SIZE_T(rows, map.size());
      for (size_t i = 0; i < rows; ++i) {
        TEST_ASSERT_EQUAL_SIZE_T(name == "decoder" ? i + 1 : columns, map[i].size());
        double sum = 0;
        for (const json& share : map[i]) sum += share.get<double>();
        TEST_ASSERT_FLOAT_WITHIN(0.5e-5 * static_cast<double>(columns) + 1e-6, 1.0, sum);
      }
    }
  }
}

TEST_CASE("inspect --attention: a text that looks like markup stays text") {
  const std::string html =
      page(model_with_text("llama") + " --attention -p '</script><img onerror=alert(1)>&amp;'");
  TEST_ASSERT_FALSE(contains(html, "<img"));
  std::string joined;
  const json data = data_of(html);
  for (const json& token : data.at("parts").at(0).at("rows")) joined += token.get<std::string>();
  TEST_ASSERT_TRUE(contains(joined, "</script>"));
}

TEST_CASE("inspect --graph: every operation, and each buffer while it holds a value that is still read") {
  const std::string html = page(model_with_text("llama") + " --graph");
  assert_self_contained(html);
  const json listed =
      assert_json(run("inspect --json --ops --plan " + model_with_text("llama"))).at("programs").at(0);
  const json program = data_of(html).at(0);
  TEST_ASSERT_TRUE(program.at("ops") == listed.at("ops"));
  const json& buffers = program.at("plan").at("buffers");
  TEST_ASSERT_EQUAL_SIZE_T(listed.at("plan").at("buffers").size(), buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const std::string name = "b" + std::to_string(i) + "[";
    CAPTURE(name);
    const json& ops = program.at("ops");
    std::vector<bool> alive(ops.size());
    TEST_ASSERT_FALSE(buffers[i].at("stretches").empty());
    for (const json& stretch : buffers[i].at("stretches")) {
      const size_t first = stretch[0].get<size_t>(), last = stretch[1].get<size_t>();
      TEST_ASSERT_TRUE(first <= last && last < ops.size());
      TEST_ASSERT_TRUE(contains(ops[first].at("out").get<std::string>(), name));
      TEST_ASSERT_TRUE(contains(ops[last].dump(), name));
      for (size_t op = first; op <= last; ++op) alive[op] = true;
    }
    for (size_t op = 0; op < ops.size(); ++op) TEST_ASSERT_TRUE(alive[op] || !contains(ops[op].dump(), name));
  }
  // A layer's queries, keys and values are written anew in each layer, and are none between them.
  size_t most = 0;
  for (const json& buffer : buffers) most = std::max(most, buffer.at("stretches").size());
  TEST_ASSERT_TRUE(most > 1);
}

TEST_CASE("inspect --graph: no two boxes of a stream overlap") {
  for (const char* name :
       {"llama", "bert", "t5", "gemma3_text", "mamba2", "deepseek_v3", "whisper", "vit_classifier"}) {
    CAPTURE(name);
    const json programs = data_of(page(converted(name, "f32") + " --graph"));
    size_t pairs = 0;
    for (const json& program : programs) {
      const json& buffers = program.at("plan").at("buffers");
      for (size_t a = 0; a < buffers.size(); ++a) {
        for (size_t b = a + 1; b < buffers.size(); ++b) pairs += assert_apart(buffers[a], buffers[b]);
      }
    }
    TEST_ASSERT_TRUE(pairs > 0);
  }
}

TEST_CASE("inspect: pages that cannot be are refused with the reason") {
  const std::string model = model_with_text("llama");
  assert_fails(run("inspect " + model + " --attention -p x"), 2, "--attention makes a page; --html FILE");
  assert_fails(run("inspect " + model + " --graph"), 2, "--graph makes a page; --html FILE");
  assert_fails(run("inspect " + model + " --html x.html"), 2, "--attention or --graph: give one");
  assert_fails(run("inspect " + model + " --attention --html x.html"), 2, "-p TEXT");
  assert_fails(run("inspect " + converted("llama", "f32") + " --attention -p x --html x.html"), 1,
               "tokenizer");
}
