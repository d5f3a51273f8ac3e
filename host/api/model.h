// SPDX-License-Identifier: Apache-2.0
//
// An open model as mote/host.h has it: its file, and the workers that calls take turns on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/base/mapped_file.h"
#include "host/grammar/vocabulary.h"
#include "host/tasks/constraint.h"
#include "host/tasks/hooks.h"
#include "host/tasks/model.h"
#include "host/tasks/session.h"
#include "mote/host.h"
#include "mote/posix.h"

namespace mote::api {

/// Threads of one worker or chat. One thread needs no pool.
class Threads {
 public:
  /// Throws convert::Error where they cannot be had.
  explicit Threads(uint32_t count);
  mote_platform platform() const { return mote_posix_pool_platform(pool_.get()); }

 private:
  struct Destroy {
    void operator()(mote_posix_pool* pool) const { mote_posix_pool_destroy(pool); }
  };
  std::unique_ptr<mote_posix_pool, Destroy> pool_;
};

/// Runs one call at a time: has threads and the task of the last call, which the next call with the same
/// options goes on with.
class Worker {
 public:
  explicit Worker(uint32_t threads) : threads_(threads) {}
  mote_platform platform() const { return threads_.platform(); }

  /// Returns the kept task of this key, or makes one by make(), which returns a Result.
  template <class Task, class Make>
  host::Result<Task*> task(const std::string& key, Make make) {
    if (task_ == nullptr || key_ != key) {
      task_.reset();  // before the next takes memory
      key_.clear();
      bytes_ = 0;
      MOTE_TAKE(Task made, make());
      bytes_ = made.memory_bytes();
      task_ = std::make_shared<Task>(std::move(made));
      key_ = key;
    }
    return static_cast<Task*>(task_.get());
  }
  const std::string& key() const { return key_; }
  size_t bytes() const { return bytes_; }

 private:
  Threads threads_;
  std::string key_;
  std::shared_ptr<void> task_;
  std::atomic<size_t> bytes_{0};
};

/// The workers of a model in one process, at most `most`.
class Workers {
 public:
  Workers(uint32_t threads, uint32_t most) : threads_(threads), most_(most) {}
  /// Returns an idle worker, best one that keeps the task of this key; waits until there is one. Throws
  /// Stopped where the hooks end the call while it waits.
  Worker& take(const std::string& key, const host::Hooks& hooks);
  void give_back(Worker& worker);
  size_t bytes();
  void wait_until_idle();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t threads_, most_, waiting_ = 0;
  std::vector<std::unique_ptr<Worker>> all_;
  std::vector<Worker*> idle_;
};

/// The settings that a model was opened with.
struct Settings {
  uint32_t threads = 0, decode_threads = 0, context = 0, chunk = 0, sessions = 1;
  mote_kv_dtype kv = MOTE_KV_AUTO;
  std::string vision, text;  // files of towers
  std::string draft;         // file of a model that guesses tokens
  std::string name;          // that begins messages about bytes
  bool hashes = false;       // checked when the model is opened
};
Settings read_settings(const char* json);

/// A file of another model.
struct Tower {
  std::unique_ptr<convert::MappedFile> file;
  host::Model model;
};

}  // namespace mote::api

struct mote_host {
  std::optional<mote::convert::MappedFile> file;
  std::span<const std::byte> bytes;
  std::optional<mote::host::Model> model;
  mote::api::Settings settings;
  const mote_backend* backend = nullptr;  // the caller's
  std::atomic<uint64_t> cancelled{0};     // counts mote_host_cancel
  std::atomic<size_t> chat_bytes{0};      // of the chats' sessions
  std::atomic<uint32_t> chats{0};

  /// Returns the workers of this process: a child of fork() gets its own, since its parent's threads are not
  /// in it.
  mote::api::Workers& workers();
  /// Returns the bytes that the workers of this process hold.
  size_t worker_bytes() const;
  /// Says that calls have begun, whose sessions have the settings.
  bool has_begun() const { return of_process_ != nullptr || chats != 0; }
  mote::host::SessionChoices choices(const mote_platform& platform) const;
  /// Return the towers of pictures before messages and of texts beside pictures, which are opened when they
  /// are first asked for.
  mote::host::Result<const mote::host::Model*> vision_tower() const;
  mote::host::Result<const mote::host::Model*> text_tower() const;
  /// Returns the model that guesses tokens, opened when it is first asked for; null where there is none.
  mote::host::Result<const mote::host::Model*> draft_model() const;
  /// Returns the vocabulary's tables, which are opened or made when they are first asked for.
  mote::host::Result<std::shared_ptr<const mote::host::VocabularyTables>> vocabulary();
  /// Returns what the vocabulary's grammars share, once vocabulary() has opened it.
  const mote::grammar::VocabularyTrie& trie() const { return *trie_; }

 private:
  struct OfProcess {
    uint32_t process;
    mote::api::Workers workers;
  };
  std::atomic<OfProcess*> of_process_{nullptr};
  mutable std::mutex opens_tower_;
  mutable std::unique_ptr<mote::api::Tower> vision_tower_, text_tower_, draft_model_;
  std::mutex opens_vocabulary_;
  std::shared_ptr<const mote::host::VocabularyTables> vocabulary_;
  std::optional<mote::grammar::VocabularyTrie> trie_;

 public:
  mote_host() = default;
  ~mote_host();
};

namespace mote::api {

/// A worker for the time of a call.
class Turn {
 public:
  Turn(mote_host& model, const std::string& key, const host::Hooks& hooks)
      : workers_(model.workers()), worker_(workers_.take(key, hooks)) {}
  ~Turn() { workers_.give_back(worker_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  Worker* operator->() const { return &worker_; }

 private:
  Workers& workers_;
  Worker& worker_;
};

/// Fails for a null model.
host::Status require(const mote_host* model);

/// Returns what a task tells the caller: its callbacks, and a stop once mote_host_cancel was called. A call
/// makes them before it waits for its turn.
host::Hooks hooks_of(const mote_host& model, const mote_host_calls* calls);

}  // namespace mote::api
