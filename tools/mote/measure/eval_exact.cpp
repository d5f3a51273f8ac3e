// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/eval_exact.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "host/base/error.h"
#include "host/tasks/generation.h"
#include "host/tasks/text.h"
#include "tools/mote/output.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

struct Question {
  std::string text, answer;
};

std::vector<Question> read_questions(const std::string& path, uint64_t limit) {
  std::vector<Question> questions;
  std::istringstream lines(read_text(path));
  uint64_t number = 0;
  for (std::string line; std::getline(lines, line) && (limit == 0 || questions.size() < limit);) {
    ++number;
    if (trimmed(line).empty()) continue;
    const size_t tab = line.find('\t');
    if (tab == std::string::npos)
      convert::fail("{}: line {} has no tab between question and answer", path, number);
    questions.push_back({line.substr(0, tab), trimmed(line.substr(tab + 1))});
  }
  if (questions.empty())
    convert::fail("{}: no questions; each line is a question, a tab and the answer", path);
  return questions;
}

std::vector<int32_t> ids_of(const ModelFile& file, const Session& session, const std::string& text) {
  if (mote_chat_format(file.model()) == nullptr) return tokenize(file, session, text, MOTE_ADD_SPECIAL);
  const mote_message message{MOTE_ROLE_USER, text.data(), text.size(), 0, 0, {}};
  return take(host::tokenize_chat(file.host(), session, {&message, 1}, true));
}

}  // namespace

ExactScore score_exact(const ModelFile& file, Session& session, const std::string& path, uint64_t limit) {
  require_tokenizer(file, "--exact takes one");
  const std::vector<Question> questions = read_questions(path, limit);
  host::GenerationPlan plan{mote_generation_default(), {}, {}, ""};
  ExactScore score;
  for (const Question& question : questions) {
    show_progress("exact", static_cast<double>(score.questions) / static_cast<double>(questions.size()));
    mote_error error = {};
    check(mote_session_truncate(session.get(), 0, 0, &error), error, file.path());
    const std::vector<int32_t> ids = ids_of(file, session, question.text);
    const uint32_t expected = static_cast<uint32_t>(tokenize(file, session, question.answer, 0).size());
    plan.generation.max_tokens = expected + 8;  // a longer answer is wrong anyway
    const host::Answer answer = take(host::generate(file.host(), session, ids, plan, hooks(), {}));
    score.equal += trimmed(answer.text) == question.answer;
    ++score.questions;
  }
  clear_progress();
  return score;
}

}  // namespace mote::cli
