// SPDX-License-Identifier: Apache-2.0
//
// A session that owns its memory: texts to tokens and vectors, labels of texts, sounds and pictures, answers,
// beams, speech, states.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>

#include "mote/beams.h"
#include "mote/owners.hpp"
#include "mote/sounds.hpp"
#include "mote/texts.hpp"

namespace mote {
inline namespace v0 {

struct Label {
  std::string name;
  float probability;
};

struct Hypothesis {
  std::vector<int32_t> ids;
  float score;
};

/// The part of an answer's making that a program decides.
struct Answering {
  uint32_t max_tokens = 0;         // 0: until the context is full
  std::vector<std::string> stops;  // texts that end the answer and are no part of it
  /// null: the model's authors' (mote_model_sampling).
  std::optional<mote_sampling> sampling = std::nullopt;
  std::function<void(std::string_view)> on_text = nullptr;  // gets whole characters as they come
  std::function<bool()> stopped =
      nullptr;  // asked between short steps, of the prompt too: true ends the answer
};

struct Answer {
  std::string text;
  std::vector<int32_t> ids;  // of the answer, the stop id included
  mote_finish finish = MOTE_FINISH_NONE;
  uint32_t prompt_tokens = 0;
  uint32_t reused_tokens = 0;  // of the prompt, whose work the session still had
};

/// For one thread at a time. Moved, not copied.
class Session {
 public:
  /// Makes a session with the options, in memory of its own, on the pool's threads.
  static Result<Session> of(const Model& model, const Pool& pool, mote_session_options options) {
    options.platform = pool.platform();
    mote_error error = {};
    mote_memory memory = {};
    if (mote_session_memory(model.get(), &options, &memory, &error) != MOTE_OK) return Status(error);
    Result<Arena> arena = Arena::of(mote_session_bytes(model.get(), &options));
    if (!arena.ok()) return arena.status();
    Session made(model, pool, std::move(*arena));
    const mote_status status = mote_session_init(model.get(), &options, made.arena_.data(),
                                                 made.arena_.bytes(), &made.session_, &error);
    if (status != MOTE_OK) return Status(error);
    return made;
  }
  static Result<Session> of(const Model& model, const Pool& pool) { return of(model, pool, model.options()); }
  /// Opens a file and makes a session with the default options on all fast cores.
  static Result<Session> open(const std::string& path) {
    Result<Model> model = Model::open(path);
    if (!model.ok()) return model.status();
    Result<Pool> pool = Pool::of();
    if (!pool.ok()) return pool.status();
    return of(*model, *pool);
  }

  const Model& model() const { return model_; }
  /// For the calls of mote.h that have no member here.
  mote_session* get() const { return session_; }
  uint32_t length(uint32_t sequence = 0) const { return mote_session_length(session_, sequence); }
  Status truncate(uint32_t length, uint32_t sequence = 0) {
    return call([&](mote_error* error) { return mote_session_truncate(session_, sequence, length, error); });
  }

  // ---- Texts ----

  Result<std::vector<int32_t>> tokenize(std::string_view text, uint32_t flags = MOTE_ADD_SPECIAL) {
    return ids_of(text.size() + 16, [&](int32_t* ids, uint32_t room, uint32_t* count, mote_error* error) {
      return mote_tokenize(session_, text.data(), text.size(), flags, ids, room, count, nullptr, error);
    });
  }
  Result<std::string> detokenize(const std::vector<int32_t>& ids) const {
    Result<Detokenizer> made = Detokenizer::of(model_);
    if (!made.ok()) return made.status();
    std::string text;
    for (const int32_t id : ids) {
      const Result<std::string_view> part = made->next(id);
      if (!part.ok()) return part.status();
      text += *part;
    }
    text += made->finish();
    return text;
  }
  /// The tokens of a conversation, by the model's chat format, up to where the model's answer begins.
  Result<std::vector<int32_t>> tokenize(const std::vector<mote_message>& messages) {
    const auto count = static_cast<uint32_t>(messages.size());
    size_t bytes = 0;
    const Status rendered = call([&](mote_error* error) {
      return mote_chat_render(model_.get(), messages.data(), count, 1, nullptr, 0, &bytes, error);
    });
    if (!rendered.ok()) return rendered;
    std::string text(bytes, '\0');
    return ids_of(bytes + 16, [&](int32_t* ids, uint32_t room, uint32_t* n, mote_error* error) {
      return mote_chat_tokenize(session_, messages.data(), count, 1, text.data(), text.size(), ids, room, n,
                                error);
    });
  }

  // ---- Encoders ----

  /// The vector of a text behind the prompt of a name: by default the model's own, "": none, as of "query"
  /// and "document" where the model has none of that name. `flags` of mote_embed.
  Result<std::vector<float>> embed(std::string_view text, std::optional<std::string> prompt = std::nullopt,
                                   uint32_t flags = 0) {
    int32_t number = mote_model_default_prompt(model_.get());
    if (prompt) {
      const std::optional<int32_t> found = model_.prompt(*prompt);
      if (!found && !prompt->empty() && *prompt != "query" && *prompt != "document")
        return Status(MOTE_INVALID_ARGUMENT, "the model has no prompt '" + *prompt + "'");
      number = found.value_or(-1);
    }
    return outputs([&](float* out, uint32_t width, mote_error* error) {
      return mote_embed_as(session_, number, text.data(), text.size(), flags, out, width, error);
    });
  }
  /// How near two vectors are, as the model's authors compare them: more is nearer.
  float similarity(const std::vector<float>& a, const std::vector<float>& b) const {
    const mote_similarity kind = mote_model_similarity(model_.get());
    double dot = 0, a_square = 0, b_square = 0, manhattan = 0;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const double x = double{a[i]}, y = double{b[i]};
      dot += x * y;
      a_square += x * x;
      b_square += y * y;
      manhattan += std::fabs(x - y);
    }
    if (kind == MOTE_SIMILARITY_DOT) return static_cast<float>(dot);
    if (kind == MOTE_SIMILARITY_MANHATTAN) return static_cast<float>(-manhattan);
    if (kind == MOTE_SIMILARITY_EUCLIDEAN)
      return static_cast<float>(-std::sqrt(std::max(0.0, a_square + b_square - 2 * dot)));
    const double lengths = std::sqrt(a_square * b_square);
    return lengths > 0 ? static_cast<float>(dot / lengths) : 0.0f;
  }
  /// The labels of a text, the likeliest first.
  Result<std::vector<Label>> classify(std::string_view text, uint32_t flags = 0) {
    return labels(outputs([&](float* out, uint32_t width, mote_error* error) {
      return mote_classify(session_, text.data(), text.size(), flags, out, width, error);
    }));
  }
  /// The labels of a sound of any rate, the likeliest first.
  Result<std::vector<Label>> classify(const Sound& sound) {
    Result<Arena> memory =
        Arena::of(std::max<size_t>(1, mote_classify_sound_bytes(model_.get(), sound.rate)));
    if (!memory.ok()) return memory.status();
    return labels(outputs([&](float* out, uint32_t width, mote_error* error) {
      return mote_classify_sound(session_, sound.samples.data(), sound.samples.size(), sound.rate,
                                 memory->data(), memory->bytes(), out, width, error);
    }));
  }
  /// All outputs [rows, width] of a picture's pixel values [channels, height, width] (mote/pictures.h), or of
  /// another size that the model takes.
  Result<std::vector<float>> see(const std::vector<float>& pixels, uint32_t height = 0, uint32_t width = 0) {
    mote_picture_info info = {};
    const Status found = call([&](mote_error* error) {
      return height == 0 ? mote_model_get_picture(model_.get(), &info, error)
                         : mote_picture_of_size(model_.get(), height, width, &info, error);
    });
    if (!found.ok()) return found;
    if (pixels.size() != size_t{info.channels} * info.height * info.width) {
      return Status(MOTE_INVALID_ARGUMENT, std::to_string(pixels.size()) + " pixel values; the model takes " +
                                               std::to_string(info.channels) + " x " +
                                               std::to_string(info.height) + " x " +
                                               std::to_string(info.width));
    }
    std::vector<float> rows(size_t{info.rows} * info.row_width);
    mote_picture_rows(&info, pixels.data(), rows.data());
    mote_batch batch = {};
    batch.lengths = &info.rows;
    batch.count = 1;
    batch.values = rows.data();
    const Status encoded = call([&](mote_error* error) { return mote_encode(session_, &batch, error); });
    if (!encoded.ok()) return encoded;
    const uint32_t columns = model_.output().width;
    std::vector<float> all;
    for (uint32_t row = 0; const float* output = mote_session_output(session_, row); ++row)
      all.insert(all.end(), output, output + columns);
    return all;
  }
  /// The labels of a picture's pixel values, the likeliest first.
  Result<std::vector<Label>> classify_picture(const std::vector<float>& pixels) {
    const Result<std::vector<float>> seen = see(pixels);
    if (!seen.ok()) return seen.status();
    return labels(outputs([&](float* out, uint32_t width, mote_error* error) {
      return mote_probabilities(session_, 0, out, width, error);
    }));
  }

  // ---- Answers ----

  /// Goes on from `ids`, behind the tokens that sequence 0 has.
  Result<Answer> generate(const std::vector<int32_t>& ids, const Answering& wanted = {}) {
    constexpr uint32_t kOpsBetweenQuestions = 64;
    mote_token_rules rules = mote_model_token_rules(model_.get());
    mote_generation generation = mote_generation_default();
    generation.sampling = wanted.sampling ? *wanted.sampling : mote_model_sampling(model_.get());
    generation.rules = &rules;
    generation.max_tokens = wanted.max_tokens;
    Result<Detokenizer> text = Detokenizer::of(model_, MOTE_SKIP_SPECIAL | MOTE_KEEP_LEADING_SPACE);
    StopTexts stops(wanted.stops);
    Answer answer;
    answer.prompt_tokens = static_cast<uint32_t>(ids.size());
    const auto say = [&](const std::string& more) {
      answer.text += more;
      if (wanted.on_text && !more.empty()) wanted.on_text(more);
    };
    Status status = call([&](mote_error* error) {
      return mote_generation_begin(session_, ids.data(), static_cast<uint32_t>(ids.size()), &generation,
                                   error);
    });
    while (status.ok() && answer.finish == MOTE_FINISH_NONE) {
      if (wanted.stopped && wanted.stopped()) {
        answer.finish = MOTE_FINISH_CANCELLED;
        break;
      }
      mote_event event = {};
      status = call([&](mote_error* error) {
        return mote_session_step(session_, wanted.stopped ? kOpsBetweenQuestions : 0, &event, error);
      });
      if (!status.ok()) break;
      answer.finish = event.finish;
      if (event.has_token == 0) continue;
      answer.ids.push_back(event.id);
      if (event.finish == MOTE_FINISH_STOP || !text.ok()) continue;
      const Result<std::string_view> part = text->next(event.id);
      if (!part.ok()) return part.status();
      say(stops.next(*part));
      if (stops.stopped()) answer.finish = MOTE_FINISH_STOP;
    }
    if (!status.ok()) return status;
    if (text.ok() && !stops.stopped()) {
      say(stops.next(text->finish()));
      say(stops.finish());
    }
    return answer;
  }
  Result<Answer> generate(std::string_view prompt, const Answering& wanted = {}) {
    const Result<std::vector<int32_t>> ids = tokenize(prompt);
    return ids.ok() ? generate(*ids, wanted) : ids.status();
  }
  /// Searches on from the logits of sequence 0 (mote_beam_search); the best hypothesis first.
  Result<std::vector<Hypothesis>> search(const mote_beam_options& options) {
    Result<Arena> memory = Arena::of(std::max<size_t>(1, mote_beam_bytes(session_, &options)));
    if (!memory.ok()) return memory.status();
    std::vector<mote_beam> beams(options.beams);
    const Status status = call([&](mote_error* error) {
      return mote_beam_search(session_, &options, memory->data(), memory->bytes(), beams.data(), error);
    });
    if (!status.ok()) return status;
    std::vector<Hypothesis> found;
    for (const mote_beam& beam : beams) {
      if (beam.count != 0) found.push_back({{beam.ids, beam.ids + beam.count}, beam.score});
    }
    return found;
  }
  /// A text as speech, of a model that speaks.
  Result<Sound> speak(const std::vector<int32_t>& ids, const mote_speak_options* given = nullptr) {
    const mote_speak_options options = given != nullptr ? *given : mote_speak_options_default(model_.get());
    const mote_voice_info voice = model_.voice();
    Result<Arena> memory = Arena::of(std::max<size_t>(1, mote_speak_bytes(session_)));
    if (!memory.ok()) return memory.status();
    mote_utterance* utterance = nullptr;
    Status status = call([&](mote_error* error) {
      return mote_speak_begin(session_, ids.data(), static_cast<uint32_t>(ids.size()), &options,
                              memory->data(), memory->bytes(), &utterance, error);
    });
    Sound sound{voice.rate, {}};
    std::vector<float> piece(size_t{voice.piece} * voice.hop);
    for (size_t count = 1; status.ok() && count != 0;) {
      status = call([&](mote_error* error) {
        return mote_speak_next(session_, utterance, piece.data(), piece.size(), &count, error);
      });
      if (status.ok()) sound.samples.insert(sound.samples.end(), piece.data(), piece.data() + count);
    }
    if (!status.ok()) return status;
    return sound;
  }

  // ---- States ----

  Result<std::vector<std::byte>> save() const {
    std::vector<std::byte> state(mote_session_state_bytes(session_));
    size_t written = 0;
    mote_error error = {};
    const mote_status status = mote_session_save(session_, state.data(), state.size(), &written, &error);
    if (status != MOTE_OK) return Status(error);
    state.resize(written);
    return state;
  }
  Status restore(const std::vector<std::byte>& state) {
    return call(
        [&](mote_error* error) { return mote_session_restore(session_, state.data(), state.size(), error); });
  }

 private:
  Session(const Model& model, const Pool& pool, Arena arena)
      : model_(model), pool_(pool), arena_(std::move(arena)) {}

  template <class Call>
  static Status call(const Call& run) {
    mote_error error = {};
    const mote_status status = run(&error);
    return Status::of(status, error);
  }
  /// Ids that take(ids, room, count, error) writes, asked again where there is too little room.
  template <class Take>
  static Result<std::vector<int32_t>> ids_of(size_t room, const Take& take) {
    std::vector<int32_t> ids(std::min<size_t>(room, 1u << 30));
    uint32_t count = 0;
    mote_error error = {};
    mote_status status = take(ids.data(), static_cast<uint32_t>(ids.size()), &count, &error);
    if (status == MOTE_TOO_SMALL && count > ids.size()) {
      ids.resize(count);
      status = take(ids.data(), count, &count, &error);
    }
    if (status != MOTE_OK) return Status(error);
    ids.resize(count);
    return ids;
  }
  template <class Fill>
  Result<std::vector<float>> outputs(const Fill& fill) {
    std::vector<float> out(model_.output().width);
    const Status status =
        call([&](mote_error* error) { return fill(out.data(), static_cast<uint32_t>(out.size()), error); });
    if (!status.ok()) return status;
    return out;
  }
  Result<std::vector<Label>> labels(const Result<std::vector<float>>& probabilities) const {
    if (!probabilities.ok()) return probabilities.status();
    std::vector<Label> found;
    for (uint32_t i = 0; i < probabilities->size(); ++i)
      found.push_back({model_.label(i), (*probabilities)[i]});
    std::stable_sort(found.begin(), found.end(),
                     [](const Label& a, const Label& b) { return a.probability > b.probability; });
    return found;
  }

  Model model_;
  Pool pool_;
  Arena arena_;
  mote_session* session_ = nullptr;
};

}  // namespace v0
}  // namespace mote
