// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/host_model.h"

#include <algorithm>
#include <utility>

#include "tools/mote/advice.h"
#include "tools/mote/output.h"
#include "tools/mote/signals.h"

namespace mote::cli {

HostResult::HostResult(mote_host_result* result) : result_(result) {
  const mote_status status = mote_host_status(result);
  if (status == MOTE_OK) return;
  if (status == MOTE_CANCELLED) throw Interrupted();
  const mote_remedy remedy = mote_host_remedy(result);
  throw HostFailure(std::string(mote_host_sentence(result)) + advice(remedy), status, remedy);
}

std::span<const float> HostResult::values() const {
  uint64_t count = 0;
  const float* const values = mote_host_values(result_.get(), &count);
  return {values, static_cast<size_t>(count)};
}

std::span<const int32_t> HostResult::ids() const {
  uint64_t count = 0;
  const int32_t* const ids = mote_host_ids(result_.get(), &count);
  return {ids, static_cast<size_t>(count)};
}

std::string_view HostResult::text() const {
  uint64_t count = 0;
  const auto* const bytes = static_cast<const char*>(mote_host_bytes(result_.get(), &count));
  return {bytes, static_cast<size_t>(count)};
}

template <class Body>
void HostCalls::run(Body body) {
  if (thrown_) return;
  try {
    body();
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

HostCalls::HostCalls() {
  calls_.user = this;
  calls_.stop = [](void* user) {
    return static_cast<HostCalls*>(user)->thrown_ != nullptr || InterruptGuard::interrupted() ? 1 : 0;
  };
  calls_.note = [](void*, const char* sentence) { note("{}", sentence); };
  calls_.text = [](void* user, const char* text, size_t bytes, int32_t id) {
    auto* const self = static_cast<HostCalls*>(user);
    if (self->on_text) self->run([&] { self->on_text({text, bytes}, id); });
  };
  calls_.samples = [](void* user, const float* samples, uint64_t count, uint32_t rate) {
    auto* const self = static_cast<HostCalls*>(user);
    if (self->on_samples) self->run([&] { self->on_samples({samples, static_cast<size_t>(count)}, rate); });
  };
  calls_.progress = [](void* user, const char* stage, double part) {
    auto* const self = static_cast<HostCalls*>(user);
    if (self->on_progress) self->run([&] { self->on_progress(stage, part); });
  };
  calls_.partial = [](void* user, const char* text, size_t bytes, size_t agreed) {
    auto* const self = static_cast<HostCalls*>(user);
    if (self->on_partial) self->run([&] { self->on_partial({text, bytes}, agreed); });
  };
  calls_.segment = [](void* user, const char* text, size_t bytes, double begin, double end) {
    auto* const self = static_cast<HostCalls*>(user);
    if (self->on_segment) self->run([&] { self->on_segment({text, bytes}, begin, end); });
  };
}

HostResult HostCalls::take(mote_host_result* result) {
  if (!thrown_) return HostResult(result);
  mote_host_free(result);
  std::rethrow_exception(std::exchange(thrown_, nullptr));
}

std::string text_of(const nlohmann::ordered_json& options) {
  try {
    return options.dump();
  } catch (const nlohmann::ordered_json::exception&) {
    convert::fail("a text among the options is no UTF-8");
  }
}

mote_host_input text_input(const std::string& text) {
  mote_host_input input = {};
  input.text = text.c_str();
  input.text_bytes = text.size();
  return input;
}

mote_host_input ids_input(const std::vector<int32_t>& ids, const char* name) {
  static constexpr int32_t kNone = 0;
  mote_host_input input = {};
  input.ids = ids.empty() ? &kNone : ids.data();
  input.id_count = ids.size();
  input.path = name;
  return input;
}

mote_host_input file_input(const std::string& path) {
  mote_host_input input = {};
  input.path = path.c_str();
  return input;
}

std::vector<mote_host_input> text_inputs(std::span<const std::string> texts) {
  std::vector<mote_host_input> inputs;
  for (const std::string& text : texts) inputs.push_back(text_input(text));
  return inputs;
}

HostModel::HostModel(const std::string& path, const SessionFlags& flags, nlohmann::json options)
    : path_(path), flags_(flags), bytes_(path, flags.huge_pages) {
  options["name"] = path;
  if (flags.context != 0) options["context"] = flags.context;
  if (flags.chunk != 0) options["chunk"] = flags.chunk;
  if (!flags.kv.empty()) options["kv"] = flags.kv;
  mote_host* opened = nullptr;
  const std::span<const std::byte> bytes = bytes_.bytes();
  const std::string text = options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const HostResult result(mote_host_open_bytes(bytes.data(), bytes.size(), text.c_str(), &opened));
  host_.reset(opened);
  about_ = result.json();
  mote_model_get_info(model(), &info_);
  mote_model_get_output(model(), &output_);
  bytes_.read_ahead();
}

void HostModel::begin() {
  threads_ = choose_threads(info_, flags_);
  mote_host_set_threads(get(), threads_.threads, threads_.decode_threads);
  if (flags_.backend.empty()) return;
  backend_.emplace(model(), flags_.backend, threads_.threads);
  mote_host_set_backend(get(), backend_->get());
}

void HostModel::refuse_source(const char* command) const {
  mote_program_info second;
  mote_model_get_program(model(), 1, &second);
  if (encodes() || second.whole == 0) return;
  convert::fail("{} is an encoder-decoder, for which mote {} has no source; mote {}", path_, command,
                takes_sound() ? "transcribe takes sound" : "forward takes its arrays");
}

std::string HostModel::memory_text(size_t arena_bytes) const {
  std::string text = fmt::format("arena {} bytes ({})", arena_bytes, human_bytes(arena_bytes));
  if (const size_t bytes = backend_bytes(); bytes != 0)
    text += fmt::format(", backend {} bytes ({})", bytes, human_bytes(bytes));
  return text;
}

bool HostModel::is_for(const char* task) const {
  const nlohmann::json& tasks = about_.at("tasks");
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

}  // namespace mote::cli
