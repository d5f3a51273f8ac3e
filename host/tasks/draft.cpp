// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/draft.h"

#include <algorithm>

#include "host/base/timer.h"
#include "host/tasks/bounded_steps.h"
#include "mote/text.h"

namespace mote::host {
namespace {

constexpr double kNewTime = 0.2;  // weight of a call in the time of a guess
constexpr size_t kFewTokens = 4;  // that a call computes before its guesses; of more its time is no price

bool same_token(const Model& a, const Model& b, int32_t id) {
  size_t a_bytes = 0, b_bytes = 0;
  const char* const a_text = mote_token_text(a.get(), id, &a_bytes);
  const char* const b_text = mote_token_text(b.get(), id, &b_bytes);
  if (a_text == nullptr || b_text == nullptr) return a_text == b_text;
  return a_bytes == b_bytes && std::equal(a_text, a_text + a_bytes, b_text) &&
         mote_token_is_special(a.get(), id) == mote_token_is_special(b.get(), id);
}

bool same_vocabulary(const Model& a, const Model& b) {
  const uint32_t tokens = a.info().tokens;
  if (tokens != b.info().tokens) return false;
  // Models pad their vocabularies with ids that stand for nothing.
  if (tokens == 0) return a.info().vocab == b.info().vocab;
  for (uint32_t id = 0; id < tokens; ++id) {
    if (!same_token(a, b, static_cast<int32_t>(id))) return false;
  }
  return true;
}

}  // namespace

Status require_same_vocabulary(const Model& model, const Model& draft) {
  if (same_vocabulary(model, draft)) return {};
  return failed(
      "{} and {} have different vocabularies: a draft is of a model with the same tokens, such as a smaller "
      "one of the same family",
      model.name(), draft.name());
}

Status require_draft(const Model& model, const Model& draft) {
  if (draft.task() != model.task()) {
    return failed("{} is for another task ({}) than {}, so it drafts nothing for it", draft.name(),
                  mote_model_task_name(draft.task()), model.name());
  }
  const mote_sound_info &own = model.sound(), &other = draft.sound();
  if (own.rate != other.rate || own.bins != other.bins || own.frames != other.frames ||
      own.hop != other.hop) {
    return failed("{} and {} hear other features of a sound, so one drafts nothing for the other",
                  draft.name(), model.name());
  }
  return require_same_vocabulary(model, draft);
}

Result<Draft> Draft::begin(const Model& model, const Model& draft, SessionChoices choices, uint32_t context) {
  MOTE_TRY(require_draft(model, draft));
  choices.context = std::min(context, draft.info().context);
  choices.chunk = draft.has_source() ? std::max(draft.sound().frames, choices.context) : 0;
  choices.kv = MOTE_KV_AUTO;
  choices.backend = nullptr;
  choices.logit_rows = 2;  // that it could have guesses itself says that it can take tokens back
  const mote_session_options options = session_options(draft, choices);
  Draft begun(draft);
  begun.context_ = options.context;
  MOTE_TAKE(begun.session_, Session::begin(draft, options));
  if (const char* hindrance = mote_speculation_hindrance(begun.session_.get()); hindrance != nullptr)
    return failed("{} drafts nothing: {}", draft.name(), hindrance);
  return begun;
}

/// Returns the end of the text that the draft reads: all of it as long as there is room.
std::span<const int32_t> Draft::readable(const Session& session, int32_t last, uint32_t most) {
  const int32_t* const ids = mote_session_ids(session.get(), 0);
  text_.assign(ids, ids + mote_session_length(session.get(), 0));
  text_.push_back(last);
  const auto vocab = static_cast<int32_t>(model_->info().vocab);
  const auto unknown =
      std::find_if(text_.rbegin(), text_.rend(), [&](int32_t id) { return id < 0 || id >= vocab; });
  const auto first = static_cast<size_t>(text_.rend() - unknown);  // behind rows that were no ids
  if (skipped_ < first || skipped_ >= text_.size()) skipped_ = first;
  // The draft forgets the older half once its context is full.
  if (text_.size() - skipped_ + most > context_)
    skipped_ = std::max(first, text_.size() - std::min<size_t>(text_.size(), (context_ + 1) / 2));
  return std::span<const int32_t>(text_).subspan(skipped_);
}

/// Computes what the draft's session does not have of a text. It then has the logits behind it.
Result<size_t> Draft::follow(std::span<const int32_t> text, const Hooks& hooks) {
  const auto shared = static_cast<size_t>(
      std::mismatch(held_.begin(), held_.end(), text.begin(), text.end()).first - held_.begin());
  size_t kept = std::min(shared, text.size() - 1);
  mote_error error = {};
  if (mote_session_truncate(session_.get(), 0, static_cast<uint32_t>(kept), &error) != MOTE_OK) {
    kept = 0;  // a sliding window has left it behind
    MOTE_TRY(from_core(mote_session_truncate(session_.get(), 0, 0, &error), error, model_->name()));
  }
  held_.clear();  // until it is computed
  MOTE_TRY(prefill(session_, text.subspan(kept), hooks, model_->name()));
  held_.assign(text.begin(), text.end());
  return text.size() - kept;
}

int32_t Draft::pick(const DraftPick& pick) const {
  const std::span<const float> logits(mote_session_logits(session_.get(), 0), model_->info().vocab);
  if (pick) return pick(logits, found_);
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

void Draft::hear(std::span<const float> features) { heard_ = features; }

/// Encodes the source, of which tokens are guessed then.
Status Draft::encode_heard(const Hooks& hooks) {
  if (heard_.empty()) return {};
  const Timer timer;
  held_.clear();
  mote_error error = {};
  MOTE_TRY(from_core(mote_session_truncate(session_.get(), 0, 0, &error), error, model_->name()));
  const auto rows = static_cast<uint32_t>(heard_.size() / model_->sound().bins);
  MOTE_TRY(encode_values(session_, heard_.data(), rows, hooks, model_->name()));
  heard_ = {};
  source_ms_ = timer.ms();
  return {};
}

Result<std::span<const int32_t>> Draft::next(const Session& session, int32_t last, uint32_t most,
                                             const Hooks& hooks, const DraftPick& picks) {
  found_.clear();
  const std::span<const int32_t> text = readable(session, last, most);
  if (text.empty() || most == 0 || text.size() + most > context_) return std::span<const int32_t>();
  if (const Status encoded = encode_heard(hooks); !encoded.ok()) {
    if (encoded.code() == MOTE_CANCELLED) return std::span<const int32_t>();
    return encoded;
  }
  const Timer timer;
  Result<size_t> computed = follow(text, hooks);
  if (computed.status().code() == MOTE_CANCELLED) return std::span<const int32_t>();
  MOTE_TRY(computed.status());
  mote_error error = {};
  for (found_.push_back(pick(picks)); found_.size() < most && !model_->stops_at(found_.back());
       found_.push_back(pick(picks))) {
    MOTE_TRY(from_core(mote_prefill(session_.get(), 0, &found_.back(), 1, MOTE_LOGITS_LAST, &error), error,
                       model_->name()));
    held_.push_back(found_.back());
  }
  const double ms = timer.ms() / static_cast<double>(found_.size());
  if (*computed <= kFewTokens) token_ms_ = token_ms_ == 0 ? ms : token_ms_ + kNewTime * (ms - token_ms_);
  return std::span<const int32_t>(found_);
}

}  // namespace mote::host
