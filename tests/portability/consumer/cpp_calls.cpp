// SPDX-License-Identifier: Apache-2.0
//
// Every class of mote.hpp, without exceptions: cpp_calls TEXT EMBED CLASSIFY PICTURE VOICE SOUND, one model
// each.
#include <cmath>
#include <cstdio>
#include <mote/mote.hpp>

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) return std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition), 1; \
  } while (false)

namespace {

int check_owners(const char* path) {
  const mote::Result<mote::File> missing = mote::File::open("/no/such/file");
  CHECK(!missing.ok() && missing.status().code() == MOTE_BAD_INPUT &&
        std::strstr(missing.text(), "/no/such/file: No such file") != nullptr);
  CHECK(!mote::File::open("/").ok());
  mote::Result<mote::File> file = mote::File::open(path);
  CHECK(file.ok() && file->bytes() > 64);
  const mote::Result<mote::Model> borrowed =
      mote::Model::open(file->data(), file->bytes(), MOTE_OPEN_CHECK_HASHES);
  CHECK(borrowed.ok() && borrowed->info().vocab != 0);
  const mote::Result<mote::Model> cut = mote::Model::open(file->data(), 40);
  CHECK(!cut.ok() && cut.status().text()[0] != '\0');
  mote::File moved = std::move(*file);
  *file = std::move(moved);
  CHECK(!mote::Arena::of(0).ok());
  const mote::Result<mote::Arena> arena = mote::Arena::of(100);
  CHECK(arena.ok() && reinterpret_cast<uintptr_t>(arena->data()) % MOTE_ALIGNMENT == 0);
  mote_session_options options = borrowed->options();
  options.context = UINT32_MAX;
  const mote::Result<mote::Session> refused = mote::Session::of(*borrowed, *mote::Pool::of(2), options);
  CHECK(!refused.ok() && std::strstr(refused.text(), "context") != nullptr);
  return 0;
}

int check_texts(const char* path) {
  mote::Result<mote::Session> opened = mote::Session::open(path);
  CHECK(opened.ok());
  mote::Session session = std::move(*opened);
  const mote::Result<std::vector<int32_t>> ids = session.tokenize("hello the end", 0);
  CHECK(ids.ok() && !ids->empty());
  const mote::Result<std::string> text = session.detokenize(*ids);
  CHECK(text.ok() && *text == "hello the end");
  CHECK(!session.detokenize({-5}).ok() && !session.embed("a vector of a decoder").ok());

  mote::Answering wanted;
  wanted.max_tokens = 12;
  std::string streamed;
  wanted.on_text = [&](std::string_view part) { streamed += part; };
  mote::Result<mote::Answer> whole = session.generate("hello", wanted);
  CHECK(whole.ok() && whole->ids.size() == 12 && whole->finish == MOTE_FINISH_LENGTH &&
        streamed == whole->text);

  // Greedy, so states and stops can be compared with it.
  CHECK(session.truncate(0).ok());
  const mote::Result<std::vector<int32_t>> hello = session.tokenize("hello");
  wanted.max_tokens = 6;
  CHECK(hello.ok() && session.generate(*hello, wanted).ok());
  const mote::Result<std::vector<std::byte>> state = session.save();
  CHECK(state.ok() && session.truncate(0).ok() && session.restore(*state).ok());
  CHECK(session.length() == hello->size() + 5);
  CHECK(!session.restore({}).ok());

  CHECK(session.truncate(0).ok());
  wanted.max_tokens = 12;
  wanted.stops = {"", whole->text.substr(2, 3)};
  const mote::Result<mote::Answer> stopped = session.generate("hello", wanted);
  CHECK(stopped.ok() && stopped->finish == MOTE_FINISH_STOP);
  CHECK(stopped->text == whole->text.substr(0, whole->text.find(wanted.stops[1])));

  CHECK(session.truncate(0).ok());
  wanted.stops.clear();
  int asked = 0;
  wanted.stopped = [&] { return ++asked > 3; };
  const mote::Result<mote::Answer> cancelled = session.generate("hello", wanted);
  CHECK(cancelled.ok() && cancelled->finish == MOTE_FINISH_CANCELLED && asked == 4);
  return 0;
}

int check_chat(const char* path) {
  mote::Result<mote::Session> session = mote::Session::open(path);
  CHECK(session.ok());
  mote::Answering wanted;
  wanted.max_tokens = 8;
  mote::Chat chat(*session, "the system");
  const mote::Result<mote::Answer> first = chat.say("hello", wanted);
  const mote::Result<mote::Answer> second = chat.say("the end", wanted);
  CHECK(first.ok() && second.ok() && first->reused_tokens == 0);
  CHECK(second->reused_tokens >= first->prompt_tokens - 1 && second->prompt_tokens > second->reused_tokens);
  mote::Result<mote::Session> other = mote::Session::open(path);  // without what is kept
  CHECK(other.ok());
  mote::Chat again(*other, "the system");
  CHECK(again.say("hello", wanted).ok() && other->truncate(0).ok());
  const mote::Result<mote::Answer> same = mote::Chat(std::move(again)).say("the end", wanted);
  CHECK(same.ok() && same->text == second->text && same->reused_tokens == 0);
  wanted.stopped = [] { return true; };
  CHECK(chat.say("hello", wanted)->finish == MOTE_FINISH_CANCELLED);
  wanted.stopped = nullptr;
  CHECK(chat.say("hello", wanted).ok());
  const mote::Result<mote::Answer> longest = chat.say(std::string(100000, 'x'), wanted);
  CHECK(!longest.ok() && longest.text()[0] != '\0' && chat.say("hello", wanted).ok());
  return 0;
}

int check_beams(const char* path) {
  const mote::Result<mote::Model> model = mote::Model::open(path);
  const mote::Result<mote::Pool> pool = mote::Pool::of(1);
  CHECK(model.ok() && pool.ok());
  mote_session_options options = model->options();
  options.batch = 3;
  options.logit_rows = 3;
  mote::Result<mote::Session> session = mote::Session::of(*model, *pool, options);
  CHECK(session.ok());
  mote_beam_options beams = mote_beam_options_default();
  beams.beams = 3;
  beams.max_tokens = 5;
  CHECK(!session->search(beams).ok());  // no logits yet
  const int32_t ids[] = {1, 5, 7};
  CHECK(mote_prefill(session->get(), 0, ids, 3, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
  const mote::Result<std::vector<mote::Hypothesis>> found = session->search(beams);
  CHECK(found.ok() && found->size() == 3 && found->front().score >= found->back().score);
  CHECK(found->front().ids.size() <= 5);
  return 0;
}

int check_encoders(const char* embedder, const char* classifier) {
  mote::Result<mote::Session> session = mote::Session::open(embedder);
  CHECK(session.ok());
  const mote::Result<std::vector<float>> a = session->embed("hello there"),
                                         b = session->embed("hello there", "query");
  const mote::Result<std::vector<float>> c = session->embed("123 the tokenizer", "");
  CHECK(a.ok() && b.ok() && c.ok() && *a == *b && *a != *c);
  CHECK(std::fabs(session->similarity(*a, *b) - 1.0f) < 1e-5f && session->similarity(*a, *c) < 0.9999f);
  const mote::Result<std::vector<float>> unknown = session->embed("a", "no such prompt");
  CHECK(!unknown.ok() && std::strstr(unknown.text(), "'no such prompt'") != nullptr);
  mote::Result<mote::Session> labels = mote::Session::open(classifier);
  CHECK(labels.ok());
  const mote::Result<std::vector<mote::Label>> found = labels->classify("hello there");
  CHECK(found.ok() && found->size() > 1 && found->front().probability >= found->back().probability);
  CHECK(!labels->classify(mote::Sound{16000, {0.0f}}).ok());
  return 0;
}

int check_media(const char* picture, const char* voice, const char* sound) {
  mote::Result<mote::Session> sees = mote::Session::open(picture);
  CHECK(sees.ok() && sees->model().picture().ok());
  const mote_picture_info info = *sees->model().picture();
  const std::vector<float> pixels(size_t{info.channels} * info.height * info.width, 0.25f);
  const mote::Result<std::vector<mote::Label>> seen = sees->classify_picture(pixels);
  CHECK(seen.ok() && seen->size() > 1);
  CHECK(sees->see(pixels)->size() == sees->model().output().width && !sees->see({1.0f}).ok());

  mote::Result<mote::Session> speaks = mote::Session::open(voice);
  CHECK(speaks.ok());
  const mote::Result<mote::Sound> said = speaks->speak({1, 2, 3, 4});
  CHECK(said.ok() && said->rate != 0 && !said->samples.empty());
  CHECK(!sees->speak({1}).ok() && !speaks->model().picture().ok());

  mote::Result<mote::Session> hears = mote::Session::open(sound);
  CHECK(hears.ok());
  for (const uint32_t rate : {8000u, 16000u, 44100u}) {
    const mote::Result<std::vector<mote::Label>> heard =
        hears->classify(mote::Sound{rate, std::vector<float>(rate)});
    CHECK(heard.ok() && !heard->front().name.empty());
  }
  CHECK(!hears->classify(mote::Sound{0, {}}).ok());
  return 0;
}

/// The bytes of a WAV of two frames on two channels.
std::string wav(uint16_t kind, uint16_t bits, const std::string& samples) {
  const auto little = [](uint32_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
  };
  return "RIFF....WAVEnote" + little(3, 4) + "odd." + "fmt " + little(16, 4) + little(kind, 2) +
         little(2, 2) + little(22050, 4) + little(0, 4) + little(0, 2) + little(bits, 2) + "data" +
         little(static_cast<uint32_t>(samples.size()), 4) + samples;
}

int check_wav() {
  const struct {
    uint16_t kind, bits;
    std::string samples;
  } files[] = {{1, 8, {'\x80', '\xC0', '\x40', '\x80'}},
               {1, 16, {0, 0, 0, 0x40, 0, '\xC0', 0, 0}},
               {1, 24, {0, 0, 0, 0, 0, 0x40, 0, 0, '\xC0', 0, 0, 0}},
               {1, 32, {0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, '\xC0', 0, 0, 0, 0}},
               {3, 32, {0, 0, 0, 0, 0, 0, 0, 0x3F, 0, 0, 0, '\xBF', 0, 0, 0, 0}}};
  for (const auto& one : files) {
    const std::string bytes = wav(one.kind, one.bits, one.samples);
    const mote::Result<mote::Sound> sound = mote::WavReader::read(bytes.data(), bytes.size());
    CHECK(sound.ok() && sound->rate == 22050 && sound->samples.size() == 2);
    CHECK(sound->samples[0] == 0.25f && sound->samples[1] == -0.25f);
    for (size_t cut = 0; cut < bytes.size() - one.samples.size(); ++cut)
      CHECK(!mote::WavReader::read(bytes.data(), cut).ok() || cut >= bytes.size() - one.samples.size());
  }
  const std::string other = wav(2, 4, "xxxx");
  CHECK(!mote::WavReader::read(other.data(), other.size()).ok());
  CHECK(!mote::WavReader::read(std::string("/no/such.wav")).ok());
  return 0;
}

int check_stops() {
  mote::StopTexts stops({"END", "", "E\n"});
  std::string said;
  for (const char* part : {"one E", "N", "T E", "ND two"}) said += stops.next(part);
  CHECK(said == "one ENT " && stops.stopped() && stops.next("more").empty());
  mote::StopTexts none({"xyz"});
  said = none.next("ab x");
  said += none.next("y");
  said += none.finish();
  CHECK(said == "ab xy" && !none.stopped());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 7) return 2;
  const int failed = check_owners(arguments[1]) + check_texts(arguments[1]) + check_chat(arguments[1]) +
                     check_beams(arguments[1]) + check_encoders(arguments[2], arguments[3]) +
                     check_media(arguments[4], arguments[5], arguments[6]) + check_wav() + check_stops();
  if (failed == 0) std::printf("all calls of mote.hpp\n");
  return failed;
}
