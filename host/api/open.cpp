// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: models opened, described, verified, cancelled and closed.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/api/model.h"
#include "host/api/result.h"
#include "host/base/error.h"
#include "host/base/options.h"
#include "host/tasks/picture_encoder.h"
#include "host/tasks/verify.h"
#include "mote/mote.h"
#include "mote/pictures.h"

namespace mote::api {
namespace {

bool talks(const host::Model& model) {
  return mote_chat_format(model.get()) != nullptr || mote_chat_template(model.get()) != nullptr;
}

/// Names the calls that a model is for.
nlohmann::json calls_of(const host::Model& model) {
  using Calls = std::vector<std::string>;
  switch (model.task()) {
    case MOTE_TASK_NONE:
    case MOTE_TASK_SEE:
      return nlohmann::json::array();
    case MOTE_TASK_GENERATE:
      return talks(model) ? Calls{"generate", "chat"} : Calls{"generate"};
    case MOTE_TASK_REWRITE:
      return model.has_tokenizer() ? Calls{"translate", "summarize"} : Calls{};
    case MOTE_TASK_EMBED_TEXTS:
      return Calls{"embed", "rank"};
    case MOTE_TASK_SCORE_PAIRS:
      return Calls{"classify", "rerank"};
    case MOTE_TASK_LABEL_TEXTS:
    case MOTE_TASK_LABEL_TOKENS:
    case MOTE_TASK_FIND_ANSWERS:
    case MOTE_TASK_FILL_MASKS:
    case MOTE_TASK_LABEL_PICTURES:
    case MOTE_TASK_LABEL_SOUNDS:
      return Calls{"classify"};
    case MOTE_TASK_EMBED_PICTURES:
    case MOTE_TASK_EMBED_SOUNDS:
      return Calls{"embed"};
    case MOTE_TASK_DETECT:
      return Calls{"detect"};
    case MOTE_TASK_MEASURE_DEPTH:
      return Calls{"depth"};
    case MOTE_TASK_READ_PICTURES:
    case MOTE_TASK_TRANSCRIBE_WORDS:
    case MOTE_TASK_TRANSCRIBE_TOKENS:
    case MOTE_TASK_TRANSCRIBE_TRANSDUCER:
    case MOTE_TASK_TRANSCRIBE_WINDOWS:
    case MOTE_TASK_TRANSCRIBE_GREEDY:
    case MOTE_TASK_TRANSCRIBE_BEAMS:
      return Calls{"transcribe"};
    case MOTE_TASK_SPEAK:
      return Calls{"speak"};
  }
  return nlohmann::json::array();
}

/// Names how the model's authors compare vectors.
const char* similarity_of(const host::Model& model) {
  switch (mote_model_similarity(model.get())) {
    case MOTE_SIMILARITY_DOT:
      return "dot";
    case MOTE_SIMILARITY_EUCLIDEAN:
      return "euclidean";
    case MOTE_SIMILARITY_MANHATTAN:
      return "manhattan";
    default:
      return "cosine";
  }
}

nlohmann::json info_of(mote_host& opened) {
  const host::Model& model = *opened.model;
  const mote_model_info& info = model.info();
  nlohmann::json labels = nlohmann::json::array();
  for (uint32_t i = 0; i < model.output().labels; ++i) labels.push_back(model.label(i));
  nlohmann::json prompts = nlohmann::json::array();
  const char* name = nullptr;
  for (uint32_t i = 0; mote_model_prompt(model.get(), i, &name) != nullptr; ++i) prompts.push_back(name);
  const char* chat = mote_chat_format(model.get());
  return {{"name", info.name},
          {"architecture", info.architecture},
          {"task", mote_model_task_name(model.task())},
          {"tasks", calls_of(model)},
          {"vocab", info.vocab},
          {"tokens", info.tokens},
          {"context", info.context},
          {"width", model.output().width},
          {"labels", labels},
          {"prompts", prompts},
          {"similarity", similarity_of(model)},
          {"chat_format", chat == nullptr ? nlohmann::json() : nlohmann::json(chat)},
          {"sample_rate", model.sound().rate},
          {"takes_pictures", host::takes_pictures(model)},
          {"weight_bytes", info.weight_bytes},
          {"file_bytes", opened.bytes.size()},
          {"threads", opened.settings.threads},
          {"sessions", opened.settings.sessions},
          {"chats", opened.chats.load()},
          {"memory_bytes", opened.worker_bytes() + opened.chat_bytes}};
}

/// Opens `bytes` of the model `opened`, whose settings it has read.
host::Status open_model(std::unique_ptr<mote_host> opened, std::string name, Reply& reply,
                        mote_host** model) {
  MOTE_TAKE(opened->model, host::Model::open(opened->bytes, std::move(name),
                                             opened->settings.hashes ? MOTE_OPEN_CHECK_HASHES : 0));
  reply.json = info_of(*opened);
  *model = opened.release();
  return {};
}

host::Status check_place(mote_host** model) {
  if (model == nullptr) return host::failed("no place for the model: a null pointer");
  *model = nullptr;
  return {};
}

}  // namespace
}  // namespace mote::api

using mote::api::Reply;
using mote::host::Status;

mote_host_result* mote_host_open(const char* path, const char* options, mote_host** model) {
  return mote::api::respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::check_place(model));
    if (path == nullptr) return mote::host::failed("no path: a null pointer");
    auto opened = std::make_unique<mote_host>();
    opened->settings = mote::api::read_settings(options);
    opened->file.emplace(path);
    opened->bytes = opened->file->bytes();
    return mote::api::open_model(std::move(opened), path, reply, model);
  });
}

mote_host_result* mote_host_open_bytes(const void* data, uint64_t bytes, const char* options,
                                       mote_host** model) {
  return mote::api::respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::check_place(model));
    if ((data == nullptr && bytes != 0) || bytes > SIZE_MAX) return mote::host::failed("no bytes of a model");
    auto opened = std::make_unique<mote_host>();
    opened->settings = mote::api::read_settings(options);
    opened->bytes = {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)};
    std::string name = opened->settings.name.empty() ? "model" : opened->settings.name;
    return mote::api::open_model(std::move(opened), std::move(name), reply, model);
  });
}

mote_host_result* mote_host_info(mote_host* model) {
  return mote::api::respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    reply.json = mote::api::info_of(*model);
    return {};
  });
}

mote_host_result* mote_host_verify(mote_host* model, const mote_host_calls* calls) {
  return mote::api::respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    const mote::host::Hooks hooks = mote::api::hooks_of(*model, calls);
    const mote::api::Turn turn(*model, "verify", hooks);
    const mote::host::SessionChoices choices = model->choices(turn->platform());
    if (!model->settings.hashes) MOTE_TRY(mote::host::check_hashes(*model->model, hooks));
    MOTE_TAKE(const mote::host::Verification found, mote::host::verify(*model->model, choices, hooks));
    reply.json = {{"self_test", found.has_self_test},
                  {"isa", found.isa},
                  {"largest_difference", found.result.largest_difference},
                  {"tolerance", found.result.tolerance},
                  {"equal_ids", found.result.equal_ids},
                  {"ids", found.result.ids}};
    return {};
  });
}

const struct mote_model* mote_host_model(const mote_host* model) {
  return model == nullptr ? nullptr : model->model->get();
}

mote_status mote_host_set_threads(mote_host* model, uint32_t threads, uint32_t decode_threads) {
  if (model == nullptr || threads == 0 || decode_threads > threads) return MOTE_INVALID_ARGUMENT;
  if (model->has_begun()) return MOTE_WRONG_STATE;
  model->settings.threads = threads;
  model->settings.decode_threads = decode_threads;
  return MOTE_OK;
}

mote_status mote_host_set_backend(mote_host* model, const struct mote_backend* backend) {
  if (model == nullptr || (backend != nullptr && backend->model != model->model->get()))
    return MOTE_INVALID_ARGUMENT;
  if (model->has_begun()) return MOTE_WRONG_STATE;
  model->backend = backend;
  return MOTE_OK;
}

void mote_host_cancel(mote_host* model) {
  if (model != nullptr) ++model->cancelled;
}

void mote_host_close(mote_host* model) {
  if (model == nullptr) return;
  ++model->cancelled;
  model->workers().wait_until_idle();
  delete model;
}
