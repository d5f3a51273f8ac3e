// SPDX-License-Identifier: Apache-2.0
//
// mote chat: a conversation, turn by turn. The session keeps what earlier turns computed: a turn is rendered
// and tokenized as a whole, and only what differs from the tokens at hand is computed.
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>
#include <iostream>
#include <memory>
#include <optional>

#include "host/base/error.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/eyes.h"
#include "tools/mote/generation.h"
#include "tools/mote/measure/timer.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/signals.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct ChatArguments {
  std::string file;
  std::optional<std::string> prompt, system;
  std::string vision;
  std::vector<std::string> images;
  std::string context_full = "slide";
  bool json = false;
  GenerationFlags generation;
  SessionFlags session;
};

struct Turn {
  mote_role role;
  std::string text;
  std::vector<std::shared_ptr<const SeenPicture>> pictures = {};
};

class Conversation {
 public:
  Conversation(const ModelFile& file, Session& session, const ChatArguments& arguments,
               const mote_session_options& options)
      : file_(file),
        session_(session),
        arguments_(arguments),
        context_(options.context),
        chunk_(options.chunk),
        given_(arguments.images.begin(), arguments.images.end()) {
    if (arguments.vision.empty()) return;
    eyes_.emplace(arguments.vision, arguments.session);
    sight_.emplace(file, *eyes_);
  }

  /// Streams the answer. Throws convert::Error; then, and if Ctrl-C came before the answer, the turn is
  /// forgotten.
  void say(const std::string& text);
  void forget() { turns_.clear(); }
  size_t reused() const { return reused_; }
  size_t prompt_tokens() const { return prompt_.size(); }
  const Answer& answer() const { return answer_; }

 private:
  std::vector<int32_t> ids() const;
  /// Of the turns, in order.
  std::vector<const SeenPicture*> pictures() const;
  void drop_oldest();
  std::vector<int32_t> reuse(const std::vector<int32_t>& ids);

  const ModelFile& file_;
  Session& session_;
  const ChatArguments& arguments_;
  const uint32_t context_, chunk_;
  std::vector<std::string> given_;  // pictures for the next turn
  std::optional<Eyes> eyes_;
  std::optional<Sight> sight_;
  std::vector<const SeenPicture*> held_pictures_;  // whose tokens the session has
  std::deque<Turn> turns_;
  std::vector<int32_t> held_;    // the session's tokens
  std::vector<int32_t> prompt_;  // of the last turn, the whole conversation
  size_t reused_ = 0;
  double seen_ms_ = 0;  // of a prompt with pictures
  Answer answer_;
};

std::vector<int32_t> Conversation::ids() const {
  std::vector<mote_message> messages;
  const auto add = [&](mote_role role, const std::string& text, size_t pictures) {
    messages.push_back({role, text.data(), text.size(), static_cast<uint32_t>(pictures)});
  };
  if (arguments_.system) add(MOTE_ROLE_SYSTEM, *arguments_.system, 0);
  for (const Turn& turn : turns_) add(turn.role, turn.text, turn.pictures.size());
  std::vector<int32_t> all = tokenize_chat(file_, session_, messages, true);
  return sight_ ? sight_->expand(session_, all, pictures()) : all;
}

std::vector<const SeenPicture*> Conversation::pictures() const {
  std::vector<const SeenPicture*> all;
  for (const Turn& turn : turns_) {
    for (const auto& picture : turn.pictures) all.push_back(picture.get());
  }
  return all;
}

/// The oldest question and its answer.
void Conversation::drop_oldest() {
  const size_t pair = turns_.size() > 1 && turns_[1].role == MOTE_ROLE_ASSISTANT ? 2 : 1;
  turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(pair));
}

/// Truncates the session to what it shares with the ids; returns the rest of them, at least one.
std::vector<int32_t> Conversation::reuse(const std::vector<int32_t>& ids) {
  held_.resize(mote_session_length(session_.get(), 0));
  if (held_pictures_ != pictures()) held_.clear();  // ids do not tell them apart
  const auto shared = std::mismatch(held_.begin(), held_.end(), ids.begin(), ids.end()).first - held_.begin();
  reused_ = std::min(static_cast<size_t>(shared), ids.size() - 1);
  mote_error error = {};
  if (mote_session_truncate(session_.get(), 0, static_cast<uint32_t>(reused_), &error) != MOTE_OK) {
    reused_ = 0;  // a sliding window keeps no earlier state
    check(mote_session_truncate(session_.get(), 0, 0, &error), error, "chat");
  }
  std::vector<int32_t> rest = {ids.begin() + static_cast<std::ptrdiff_t>(reused_), ids.end()};
  if (!sight_ || !sight_->has_pictures(rest)) return rest;
  // Positions count pictures from the first token on.
  reused_ = 0;
  check(mote_session_truncate(session_.get(), 0, 0, &error), error, "chat");
  const Timer timer;
  sight_->prefill(session_, chunk_, ids, pictures());
  seen_ms_ = timer.ms();
  return {};
}

void Conversation::say(const std::string& text) {
  Turn turn{MOTE_ROLE_USER, text};
  for (const std::string& path : given_)
    turn.pictures.push_back(std::make_shared<const SeenPicture>(eyes_->see(path)));
  turns_.push_back(std::move(turn));
  given_.clear();
  try {
    prompt_ = ids();
    // Room for an answer of one token at the least.
    while (prompt_.size() >= context_ && arguments_.context_full == "slide" && turns_.size() > 1) {
      drop_oldest();
      prompt_ = ids();
      if (prompt_.size() < context_)
        note("the context of {} tokens is full: the oldest turns are forgotten", context_);
    }
    if (prompt_.size() >= context_) {
      convert::fail("the conversation takes {} tokens, the context has {}; {}", prompt_.size(), context_,
                    turns_.size() > 1 ? "/new begins another, --context-full slide forgets the oldest turns"
                                      : "say it shorter or give more with --context");
    }
    seen_ms_ = 0;
    const std::vector<int32_t> rest = reuse(prompt_);
    answer_ = generate(file_, session_, rest, arguments_.generation, [&](int32_t, const std::string& part) {
      if (arguments_.json) return;
      write_output(part);
      flush_output();
    });
    answer_.prompt_ms += seen_ms_;
  } catch (...) {
    turns_.pop_back();
    throw;
  }
  held_ = prompt_;
  held_pictures_ = pictures();
  held_.insert(held_.end(), answer_.ids.begin(), answer_.ids.end());
  if (answer_.ids.empty()) return turns_.pop_back();  // stopped before it began
  turns_.push_back({MOTE_ROLE_ASSISTANT, answer_.text});
}

void report(const ChatArguments& arguments, const Conversation& conversation, const Session& session,
            uint32_t context) {
  const Answer& answer = conversation.answer();
  if (arguments.json) {
    print_json({{"text", answer.text},
                {"output_ids", answer.ids},
                {"finish", finish_name(answer.finish)},
                {"prompt_tokens", conversation.prompt_tokens()},
                {"reused_tokens", conversation.reused()},
                {"prompt_ms", answer.prompt_ms},
                {"decode_ms", answer.decode_ms},
                {"decode_tokens_per_s", answer.decode_per_s()},
                {"arena_bytes", session.arena_bytes()},
                {"backend_bytes", session.backend_bytes()},
                {"isa", session.isa()}});
    flush_output();
    return;
  }
  print("\n");
  flush_output();
  if (answer.finish == MOTE_FINISH_CONTEXT)
    note("the context of {} tokens is full: the answer ends here", context);
  if (answer.finish == MOTE_FINISH_CANCELLED) note("stopped");
  if (answer.finish == MOTE_FINISH_LENGTH)
    note("cut at {} tokens; -n gives more", arguments.generation.tokens);
  note("({} tokens, {:.1f} per second; prompt {} tokens, {} of them reused; {})", answer.ids.size(),
       answer.decode_per_s(), conversation.prompt_tokens(), conversation.reused(), session.memory_text());
}

/// A line of standard input; none at its end. Ctrl-C at the prompt of a terminal drops the line.
std::optional<std::string> read_line(bool terminal) {
  for (;;) {
    InterruptGuard::clear();
    if (terminal) fmt::print(stderr, "> ");
    // A terminal gives whole lines: once there is something to read, getline does not wait.
    if (!terminal || InterruptGuard::wait_readable(STDIN_FILENO)) break;
    if (!InterruptGuard::interrupted()) return std::nullopt;
    note("\n(/exit or Ctrl-D ends)");
  }
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

void talk(Conversation& conversation, const ChatArguments& arguments, const Session& session,
          uint32_t context) {
  const bool terminal = isatty(STDIN_FILENO) != 0;
  if (terminal) note("Ctrl-C stops an answer, /new begins another conversation, /exit ends.");
  const InterruptGuard guard;
  while (const std::optional<std::string> line = read_line(terminal)) {
    if (line->empty()) continue;
    if (*line == "/exit") return;
    if (*line == "/new") {
      conversation.forget();
      continue;
    }
    try {
      conversation.say(*line);
    } catch (const convert::Error& error) {
      if (!terminal) throw;
      note("{}", one_line(error.what()));
      continue;
    }
    report(arguments, conversation, session, context);
  }
}

void chat(const ChatArguments& given) {
  ChatArguments arguments = given;
  if (arguments.images.empty() != arguments.vision.empty())
    usage_fail("--image PICTURE and --vision MODEL go together");
  const ModelFile file(arguments.file, arguments.session);
  refuse_source(file, "chat");
  require_tokenizer(file, "mote run --ids takes token ids");
  if (mote_chat_format(file.model()) == nullptr) {
    convert::fail("{} has no chat format; convert it with --chat-format NAME, or use mote run", file.path());
  }
  const std::string defaults = take_model_defaults(file, true, arguments.generation);
  if (!defaults.empty())
    note("as the model's authors say: {} (--greedy, --temp and --repeat-penalty say otherwise)", defaults);
  const ThreadPool pool(file, arguments.session);
  const mote_session_options options = session_options(file, arguments.session, pool);
  Session session(file, options);
  Conversation conversation(file, session, arguments, options);
  if (!arguments.prompt) return talk(conversation, arguments, session, options.context);
  const InterruptGuard guard;
  conversation.say(*arguments.prompt);
  report(arguments, conversation, session, options.context);
}

}  // namespace

void add_chat(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "chat", "Talk with a model, a line of standard input a turn", chat);
  command.option("-p,--prompt", &arguments.prompt, "Say this, print the answer and exit").type("TEXT");
  command.option("--system", &arguments.system, "The system message (default: the model's own, if any)")
      .type("TEXT");
  command.option("--image", &arguments.images, "A PNG or JPEG before the first message; as often as wanted")
      .type("PICTURE")
      .repeated();
  command.option("--vision", &arguments.vision, "The file of the model that sees").type("MODEL");
  add_generation_flags(command, arguments.generation, 1024);
  add_context_full_flag(command, arguments.context_full, "the oldest turns");
  add_session_flags(command, arguments.session);
  command.flag("--json", &arguments.json, "Print a JSON object for each answer instead of streaming");
}

}  // namespace mote::cli
