// SPDX-License-Identifier: Apache-2.0
#include "host/api/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "host/api/result.h"
#include "host/base/error.h"
#include "host/base/options.h"
#include "host/base/system.h"
#include "host/tasks/vision.h"

namespace mote::api {
namespace {

// A call that waits for its turn looks so often whether it is to end: mote_host_cancel wakes nobody, so that
// a signal's handler may call it.
constexpr std::chrono::milliseconds kLook{10};

}  // namespace

Threads::Threads(uint32_t count) {
  if (count <= 1) return;
  pool_.reset(mote_posix_pool_create(count));
  if (pool_ == nullptr) {
    throw Failure(host::failed(host::Remedy::fewer_threads, "cannot start {} threads: {}", count,
                               std::strerror(errno)));
  }
}

Worker& Workers::take(const std::string& key, const host::Hooks& hooks) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  bool stopped = false;
  while (!stopped && idle_.empty() && all_.size() >= most_) {
    changed_.wait_for(lock, kLook);
    lock.unlock();  // a caller's function may call the model
    stopped = hooks.stopped();
    lock.lock();
  }
  --waiting_;
  if (stopped) {
    changed_.notify_all();  // nobody waits for this call any longer
    throw Stopped();
  }
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Worker>(threads_));
    return *all_.back();
  }
  auto found = std::find_if(idle_.begin(), idle_.end(), [&](const Worker* one) { return one->key() == key; });
  if (found == idle_.end()) found = idle_.end() - 1;
  Worker& worker = **found;
  idle_.erase(found);
  return worker;
}

void Workers::give_back(Worker& worker) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(&worker);
  changed_.notify_all();
}

size_t Workers::bytes() {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& worker : all_) sum += worker->bytes();
  return sum;
}

void Workers::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return idle_.size() == all_.size() && waiting_ == 0; });
}

Settings read_settings(const char* json) {
  Settings settings;
  Options options(json);
  options.read("threads", settings.threads, 1, 256);
  options.read("decode-threads", settings.decode_threads, 1, 256);
  options.read("context", settings.context, 1);
  options.read("chunk", settings.chunk, 1, 4096);
  options.read("sessions", settings.sessions, 1, 256);
  options.read("vision", settings.vision);
  options.read("text-model", settings.text);
  options.read("draft", settings.draft);
  options.read("name", settings.name);
  options.read("hashes", settings.hashes);
  std::string kv;
  options.read_word("kv", kv, {"f16", "bf16", "f32", "i8"});
  options.finish();
  if (kv == "f16") settings.kv = MOTE_KV_F16;
  if (kv == "f32") settings.kv = MOTE_KV_F32;
  if (kv == "bf16") settings.kv = MOTE_KV_BF16;
  if (kv == "i8") settings.kv = MOTE_KV_I8;
  if (settings.threads == 0) settings.threads = mote_posix_big_cores();
  if (settings.decode_threads > settings.threads) {
    throw OptionError(fmt::format("option \"decode-threads\": {} of {} threads", settings.decode_threads,
                                  settings.threads));
  }
  return settings;
}

namespace {

/// Throws convert::Error for a file that cannot be read.
host::Result<std::unique_ptr<Tower>> open_tower(const std::string& path) {
  auto file = std::make_unique<convert::MappedFile>(path);
  MOTE_TAKE(host::Model model, host::Model::open(file->bytes(), path));
  return std::make_unique<Tower>(Tower{std::move(file), std::move(model)});
}

}  // namespace

host::Status require(const mote_host* model) {
  if (model == nullptr) return host::failed("no model: a null pointer");
  return {};
}

host::Hooks hooks_of(const mote_host& model, const mote_host_calls* calls) {
  const uint64_t before = model.cancelled;
  const mote_host_calls heard = calls == nullptr ? mote_host_calls{} : *calls;
  host::Hooks hooks;
  hooks.stop = [&model, before, heard] {
    return model.cancelled != before || (heard.stop != nullptr && heard.stop(heard.user) != 0);
  };
  if (heard.note != nullptr)
    hooks.note = [heard](const std::string& text) { heard.note(heard.user, text.c_str()); };
  if (heard.progress != nullptr)
    hooks.progress = [heard](const char* stage, double part) { heard.progress(heard.user, stage, part); };
  return hooks;
}

}  // namespace mote::api

mote::api::Workers& mote_host::workers() {
  const uint32_t process = mote::convert::process_number();
  OfProcess* held = of_process_;
  while (held == nullptr || held->process != process) {
    // Workers of a parent stay as they are: their threads and perhaps a holder of their lock are not here.
    auto* const own = new OfProcess{process, {settings.threads, settings.sessions}};
    if (of_process_.compare_exchange_strong(held, own)) return own->workers;
    delete own;
  }
  return held->workers;
}

size_t mote_host::worker_bytes() const {
  OfProcess* const held = of_process_;
  return held == nullptr || held->process != mote::convert::process_number() ? 0 : held->workers.bytes();
}

mote::host::Result<const mote::host::Model*> mote_host::vision_tower() const {
  const std::lock_guard lock(opens_tower_);
  if (vision_tower_ == nullptr) {
    if (settings.vision.empty())
      return mote::host::failed("{} was opened without a vision tower, which pictures take", model->name());
    MOTE_TAKE(vision_tower_, mote::api::open_tower(settings.vision));
  }
  MOTE_TRY(mote::host::require_vision(vision_tower_->model));
  return &vision_tower_->model;
}

mote::host::Result<const mote::host::Model*> mote_host::text_tower() const {
  const std::lock_guard lock(opens_tower_);
  if (text_tower_ == nullptr) {
    if (settings.text.empty())
      return mote::host::failed(mote::host::Remedy::text_model, "{} has no head that labels anything",
                                model->name());
    MOTE_TAKE(text_tower_, mote::api::open_tower(settings.text));
  }
  return &text_tower_->model;
}

mote::host::Result<const mote::host::Model*> mote_host::draft_model() const {
  const std::lock_guard lock(opens_tower_);
  if (draft_model_ == nullptr) {
    if (settings.draft.empty()) return nullptr;
    MOTE_TAKE(draft_model_, mote::api::open_tower(settings.draft));
  }
  return &draft_model_->model;
}

mote_host::~mote_host() {
  OfProcess* const held = of_process_;
  if (held != nullptr && held->process == mote::convert::process_number()) delete held;
}

mote::host::SessionChoices mote_host::choices(const mote_platform& platform) const {
  mote::host::SessionChoices choices;
  choices.platform = platform;
  choices.decode_threads = settings.decode_threads;
  choices.context = settings.context;
  choices.chunk = settings.chunk;
  choices.kv = settings.kv;
  choices.backend = backend;
  return choices;
}
