// SPDX-License-Identifier: Apache-2.0
//
// The lines that embed and classify take: empty ones, tables, JSON, and jobs that were ended and go on.
#include <algorithm>
#include <filesystem>

#include "tests/tools/command.h"
#include "tests/tools/encoders.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

std::string written(const std::string& name, const std::string& text) {
  const std::string path = (scratch() / name).string();
  write_text(path, text);
  return path;
}

std::vector<std::string> texts_of(const std::vector<json>& lines) {
  std::vector<std::string> texts;
  for (const json& line : lines) texts.push_back(line.at("text"));
  return texts;
}

std::string embedder() { return with_tokenizer("mpnet_sentence"); }

/// Returns the file's text behind the line that says "rows, width".
std::string npy_of(const std::string& options) {
  const std::string path = (scratch() / "lines.npy").string();
  assert_works(run("embed " + embedder() + " " + options + " --npy " + path));
  return read_text(path);
}

}  // namespace

TEST_CASE("lines: an empty line has a row, which is the empty text's, zeros, none, or an error") {
  const std::string file = written("empty.txt", "the cat\n\nhello there\n\r\n");
  const std::vector<json> rows = json_lines(run("embed " + embedder() + " --file " + file));
  TEST_ASSERT_EQUAL_UINT64(4, rows.size());
  TEST_ASSERT_TRUE(texts_of(rows) == (std::vector<std::string>{"the cat", "", "hello there", ""}));
  TEST_ASSERT_TRUE(rows[1] == rows[3]);
  TEST_ASSERT_TRUE(rows[1].at("embedding") != rows[0].at("embedding"));

  const std::vector<json> zeros = json_lines(run("embed " + embedder() + " --empty zero --file " + file));
  TEST_ASSERT_EQUAL_UINT64(4, zeros.size());
  TEST_ASSERT_TRUE(zeros[2] == rows[2]);
  for (const json& value : zeros[1].at("embedding")) TEST_ASSERT_TRUE(value == 0.0);
  TEST_ASSERT_TRUE(contains(npy_of("--empty zero --file " + file), "(4, 24)"));

  const std::vector<json> some = json_lines(run("embed " + embedder() + " --empty skip --file " + file));
  TEST_ASSERT_TRUE(texts_of(some) == (std::vector<std::string>{"the cat", "hello there"}));
  assert_fails(run("embed " + embedder() + " --empty fail --file " + file), 1,
               "empty.txt: line 2: an empty text");
  assert_fails(run("embed " + embedder() + " --empty none --file " + file), 2, "--empty");
  assert_fails(run("embed " + embedder() + " --empty zero --rank a --file " + file), 2, "--empty zero");

  const std::string classifier = with_tokenizer("bert_classifier");
  TEST_ASSERT_EQUAL_UINT64(4, json_lines(run("classify " + classifier + " --json --file " + file)).size());
  TEST_ASSERT_EQUAL_UINT64(
      2, json_lines(run("classify " + classifier + " --json --empty skip --file " + file)).size());
}

TEST_CASE("lines: ranked lines have the numbers that they have in the file") {
  const std::string file = written("ranked.txt", "stop 123\n\nhello there\n");
  const std::string command = "embed " + embedder() + " --json --rank 'hello there' --file " + file;
  TEST_ASSERT_TRUE(json_lines(run(command))[0].at("line") == 3);
  TEST_ASSERT_TRUE(json_lines(run(command + " --empty skip"))[0].at("line") == 3);
}

TEST_CASE("lines: a line that is refused is named by its number") {
  std::string too_long;
  for (int i = 0; i < 60; ++i) too_long += "q7 ";
  std::string text;
  for (int i = 0; i < 70; ++i) text += "hello\n";
  const std::string file = written("long.txt", text + too_long + "\n");
  assert_fails(run("embed " + embedder() + " --file " + file), 1, "long.txt: line 71: ");
  assert_fails(run("embed " + embedder() + " --rank hello --file " + file), 1, "long.txt: line 71: ");
  assert_fails(run("classify " + with_tokenizer("bert_classifier") + " --pairs --file " + file), 1,
               "long.txt: line 1: --pairs");
}

TEST_CASE("lines: a column of a table, whose cells may hold separators, quotes and ends of lines") {
  const std::string table = written("table.csv",
                                    "\xEF\xBB\xBFid,text,note\r\n"
                                    "1,the cat,x\r\n"
                                    "\r\n"
                                    "2,\"hello, \"\"there\"\"\r\n\r\nstop\",y\r\n"
                                    "3,,z\n"
                                    "4,\"\",\n");
  const std::string command = "embed " + embedder() + " --file ";
  const std::vector<std::string> expected = {"the cat", "hello, \"there\"\n\nstop", "", ""};
  TEST_ASSERT_TRUE(texts_of(json_lines(run(command + table + " --csv text"))) == expected);
  TEST_ASSERT_TRUE(texts_of(json_lines(run(command + table + " --csv 2"))) == expected);
  TEST_ASSERT_TRUE(texts_of(json_lines(run(command + table + " --csv id"))) ==
                   (std::vector<std::string>{"1", "2", "3", "4"}));
  assert_fails(run(command + table + " --csv 4"), 1,
               "no column \"4\"; the header has \"id\", \"text\", \"note\"");
  assert_fails(run(command + table + " --csv text --empty fail"), 1, "table.csv: line 7: an empty text");

  const std::string tabs = written("tabs.tsv", "a, b\tc\nx, y\tz\n");
  TEST_ASSERT_TRUE(texts_of(json_lines(run(command + tabs + " --csv 'a, b'"))) ==
                   std::vector<std::string>{"x, y"});
  const std::string ragged = written("ragged.csv", "a,b\n1,2\n3\n");
  assert_fails(run(command + ragged + " --csv b"), 1, "ragged.csv: line 3: 1 columns");
  const std::string open = written("open.csv", "a,b\n1,\"2\n3,4\n");
  assert_fails(run(command + open + " --csv b"), 1, "open.csv: line 2: a quote that is never closed");
  assert_fails(run(command + written("nothing.csv", "") + " --csv b"), 1, "nothing.csv: there is no header");
  assert_fails(run(command + table + " --csv text --jsonl text"), 2, "--csv");
}

TEST_CASE("lines: a key of JSON lines") {
  const std::string file =
      written("lines.jsonl", "{\"text\": \"the cat\", \"n\": 1}\n\n{\"text\": \"hello\\nthere\"}\r\n");
  const std::string command = "embed " + embedder() + " --file ";
  TEST_ASSERT_TRUE(texts_of(json_lines(run(command + file + " --jsonl text"))) ==
                   (std::vector<std::string>{"the cat", "hello\nthere"}));
  assert_fails(run(command + file + " --jsonl n"), 1, "lines.jsonl: line 1: \"n\" is no text");
  assert_fails(run(command + file + " --jsonl m"), 1, "lines.jsonl: line 1: there is no key \"m\"");
  assert_fails(run(command + written("bad.jsonl", "{\"a\": \"b\"}\n[1]\n") + " --jsonl a"), 1,
               "bad.jsonl: line 2: not a JSON object");
  assert_fails(run(command + written("bad.jsonl", "{\"a\": ") + " --jsonl a"), 1,
               "bad.jsonl: line 1: not a JSON object");
}

TEST_CASE("lines: a job that was ended goes on behind its last whole batch and gives the same file") {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the cat " + std::to_string(i) + "\n";
  const std::string file = written("job.txt", text), out = (scratch() / "job.npy").string(),
                    part = out + ".part";
  const std::string command = "embed " + embedder() + " --batch 8 --resume --npy " + out + " --file ";
  const std::string whole = npy_of("--batch 8 --file " + file);

  // The seventeenth line ends the job behind two batches.
  std::string broken = text;
  std::string too_long;
  for (int i = 0; i < 60; ++i) too_long += "q7 ";
  const size_t at = broken.find("the cat 16\n");
  broken.replace(at, 10, too_long);
  assert_fails(run(command + written("broken.txt", broken)), 1, "broken.txt: line 17: ");
  TEST_ASSERT_TRUE(std::filesystem::exists(part) && !std::filesystem::exists(out));
  const std::string two_batches = read_text(part);

  assert_works(run(command + file));
  TEST_ASSERT_TRUE(read_text(out) == whole);
  TEST_ASSERT_TRUE(!std::filesystem::exists(part));

  // A process that is killed leaves any number of bytes, of which only whole batches count.
  for (const size_t bytes :
       {size_t{0}, size_t{17}, size_t{64}, size_t{100}, two_batches.size() / 2, two_batches.size() - 1}) {
    CAPTURE(bytes);
    std::filesystem::remove(out);
    write_text(part, two_batches.substr(0, bytes));
    assert_works(run(command + file));
    TEST_ASSERT_TRUE(read_text(out) == whole);
  }
  // Values that never reached the disk are zeros behind a power cut.
  std::filesystem::remove(out);
  std::string torn = two_batches;
  std::fill(torn.end() - 100, torn.end(), '\0');
  write_text(part, torn);
  assert_works(run(command + file));
  TEST_ASSERT_TRUE(read_text(out) == whole);
}

TEST_CASE("lines: a job does not go on with another model, other options, other texts or a foreign file") {
  const std::string out = (scratch() / "other.npy").string(), part = out + ".part";
  const std::string texts = written("other.txt", "the cat\nhello\nstop\n");
  const auto command = [&](const std::string& model, const std::string& file, const std::string& options) {
    return run("embed " + model + " --batch 1 --resume --npy " + out + " --file " + file + options);
  };
  std::string too_long;
  for (int i = 0; i < 60; ++i) too_long += "q7 ";
  assert_fails(command(embedder(), written("begun.txt", "the cat\nhello\n" + too_long + "\n"), ""), 1,
               "line 3");
  const std::string begun = read_text(part);
  const std::string other = (scratch() / "other.mote").string();
  assert_works(
      run("convert " + (scratch() / "text_mpnet_sentence").string() + " -o " + other + " --type q8g32"));
  assert_fails(command(other, texts, ""), 1, "another model or other options");
  assert_fails(command(embedder(), texts, " --prompt a"), 1, "another model or other options");
  assert_fails(command(embedder(), written("fewer.txt", "the cat\n"), ""), 1, "other texts from line 2");
  assert_fails(command(embedder(), written("changed.txt", "the cat\nhallo\nstop\n"), ""), 1,
               "other texts from line 2");
  TEST_ASSERT_TRUE(read_text(part) == begun);
  write_text(part, "a diary");
  assert_fails(command(embedder(), texts, ""), 1, "another model or other options");
  TEST_ASSERT_TRUE(read_text(part) == "a diary");
  assert_fails(run("embed " + embedder() + " --resume --file " + texts), 2, "--npy");
}
