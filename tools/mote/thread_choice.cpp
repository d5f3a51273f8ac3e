// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/thread_choice.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "host/base/error.h"
#include "host/base/json_text.h"
#include "host/base/output_file.h"
#include "kernels/families.h"
#include "mote/posix.h"
#include "tools/mote/output.h"
#include "tools/mote/session_flags.h"
#include "tools/mote/system.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

constexpr int kVersion = 1;             // of the file
constexpr size_t kMostModels = 256;     // that the file keeps
constexpr size_t kMostBytes = 1 << 16;  // of a file that is read
constexpr int kDeepest = 8;             // of its values

/// Empty where the user has no folder for caches.
std::filesystem::path cache_path() {
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / "mote" / "threads.json";
}

/// Returns the properties of the machine that a measurement depends on.
std::string machine() {
  const mote_isa isa = mote_platform_default().isa;
  return fmt::format("{}, {} cores, {} of them big",
                     isa == MOTE_ISA_AUTO ? isa_name(best_isa()) : mote_isa_name(isa), usable_cores(),
                     mote_posix_big_cores());
}

std::string key_of(const mote_model_info& model) { return fmt::format("{:016x}", model.hash); }

/// Null where there is no file; a note, and null, where there is another one than keep_threads() writes here.
nlohmann::json read_kept() {
  const std::filesystem::path path = cache_path();
  std::ifstream file(path, std::ios::binary);
  if (path.empty() || !file) return nullptr;
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  nlohmann::json kept;
  try {
    kept = convert::parse_json_object(std::as_bytes(std::span(text)), path.string(), kDeepest);
  } catch (const convert::Error&) {
  }
  if (!kept.is_object() || kept.value("version", nlohmann::json()) != kVersion ||
      !kept.value("models", nlohmann::json()).is_object()) {
    note("{} is damaged or from another version of mote, and ignored; mote bench --tune writes it anew",
         path.string());
    return nullptr;
  }
  if (kept.value("machine", nlohmann::json()) != machine()) {
    note("{} was measured with other cores or kernels, and is ignored; mote bench --tune measures again",
         path.string());
    return nullptr;
  }
  return kept;
}

}  // namespace

std::string ThreadCounts::text() const {
  const std::string all = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  return decode_threads == threads ? all : fmt::format("{}, {} to decode", all, decode_threads);
}

std::optional<ThreadCounts> kept_threads(const mote_model_info& model) {
  const nlohmann::json kept = read_kept();
  if (kept.is_null() || !kept.at("models").contains(key_of(model))) return std::nullopt;
  const nlohmann::json& counts = kept.at("models").at(key_of(model));
  const auto read = [&](size_t index) {
    const bool there = counts.is_array() && counts.size() == 2 && counts[index].is_number_unsigned();
    return there ? counts[index].get<uint64_t>() : 0;
  };
  const uint64_t threads = read(0), decode_threads = read(1);
  if (decode_threads == 0 || decode_threads > threads || threads > usable_cores()) {
    note("{} is damaged for this model, and ignored; mote bench --tune measures again",
         cache_path().string());
    return std::nullopt;
  }
  return ThreadCounts{static_cast<uint32_t>(threads), static_cast<uint32_t>(decode_threads)};
}

std::filesystem::path keep_threads(const mote_model_info& model, const ThreadCounts& counts) {
  const std::filesystem::path path = cache_path();
  if (path.empty()) convert::fail("{} names a folder to keep the result in", cache_variables());
  nlohmann::json kept = read_kept();
  if (kept.is_null() || kept.at("models").size() >= kMostModels) {
    kept = {{"version", kVersion}, {"machine", machine()}, {"models", nlohmann::json::object()}};
  }
  kept.at("models")[key_of(model)] = {counts.threads, counts.decode_threads};
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) convert::fail("{}: {}", path.parent_path().string(), error.message());
  const std::string text = kept.dump() + "\n";
  convert::OutputFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
  return path;
}

ThreadCounts choose_threads(const mote_model_info& model, const SessionFlags& flags) {
  ThreadCounts counts{flags.threads, flags.threads};
  if (flags.threads == 0) {
    const uint32_t cores = mote_posix_big_cores();
    counts = kept_threads(model).value_or(ThreadCounts{cores, cores});
  }
  if (flags.decode_threads == 0) return counts;
  if (flags.decode_threads > counts.threads) {
    usage_fail("--decode-threads: {} of {} threads; more are had with --threads", flags.decode_threads,
               counts.threads);
  }
  counts.decode_threads = flags.decode_threads;
  return counts;
}

}  // namespace mote::cli
