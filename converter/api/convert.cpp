// SPDX-License-Identifier: Apache-2.0
//
// mote/convert.h over the converter.
#include "converter/convert.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "host/base/exception_status.h"
#include "host/base/options.h"
#include "mote/convert.h"

struct mote_convert_result {
  mote_status status = MOTE_OK;
  std::string sentence;
  std::string json = "null";
};

namespace mote::convert {
namespace {

using json = nlohmann::ordered_json;  // lists of names keep their order

/// A conversion that its caller ended.
class Cancelled : public std::exception {};

ConvertOptions read_options(const char* text) {
  api::Options given(text);
  ConvertOptions options;
  std::string thinking, picture_size, any_picture_size, calibration;
  given.read("type", options.type);
  given.read("head-type", options.head_type);
  given.read("calibrate", calibration);
  given.read("lora", options.adapters);
  given.read("chat-format", options.chat_format);
  given.read_word("thinking", thinking, {"on", "off"});
  given.read_word("pooling", options.pooling, {"mean", "cls", "max", "last", "none"});
  given.read("normalize", options.normalize);
  given.read_word("tower", options.tower, {"vision", "audio", "text"});
  given.read("picture-size", picture_size);
  given.read("any-picture-size", any_picture_size);
  given.read("language", options.language);
  given.read("ignore-key", options.ignored_keys);
  given.read("no-tokenizer", options.no_tokenizer);
  given.read("small-tables", options.small_tables);
  given.read("long-context", options.long_context);
  given.finish();
  options.calibration_text = calibration;
  if (!thinking.empty()) options.thinking = thinking == "on";
  if (!picture_size.empty() && !read_picture_size(picture_size, options.picture_size))
    throw api::OptionError("option \"picture-size\": expected pixels as WIDTHxHEIGHT");
  if (!any_picture_size.empty() && !read_picture_size(any_picture_size, options.any_picture_size))
    throw api::OptionError("option \"any-picture-size\": expected pixels as WIDTHxHEIGHT");
  if (!picture_size.empty() && !any_picture_size.empty())
    throw api::OptionError("option \"any-picture-size\": not with \"picture-size\"");
  if (options.normalize && options.pooling.empty())
    throw api::OptionError("option \"normalize\": only with \"pooling\"");
  return options;
}

json report_json(const ConvertReport& report) {
  json tensors = json::array(), memory = json::array(), notes = report.notes;
  for (const TensorReport& tensor : report.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"type", tensor.type},
                       {"rows", tensor.rows},
                       {"columns", tensor.cols},
                       {"bytes", tensor.bytes},
                       {"bits", tensor.bits_per_weight},
                       {"error", tensor.relative_error}});
  }
  for (const MemoryReport& one : report.memory)
    memory.push_back({{"context", one.context}, {"arena_bytes", one.arena_bytes}});
  return {{"name", report.name},
          {"architecture", report.architecture},
          {"type", report.type},
          {"chat_format", report.chat_format.empty() ? json() : json(report.chat_format)},
          {"keeps_chat_template", report.keeps_chat_template},
          {"template_remark", report.template_remark.empty() ? json() : json(report.template_remark)},
          {"notes", std::move(notes)},
          {"tensors", std::move(tensors)},
          {"memory", std::move(memory)},
          {"file_bytes", report.file_bytes},
          {"tokens", report.tokens}};
}

json convert_source(const char* source, const char* output, const char* json_options,
                    const mote_convert_calls* calls) {
  if (source == nullptr || output == nullptr) throw api::OptionError("no path: a null pointer");
  ConvertOptions options = read_options(json_options);
  if (calls != nullptr) {
    options.progress = [heard = *calls](const std::string& stage, double part) {
      if (heard.progress != nullptr) heard.progress(heard.user, stage.c_str(), part);
      if (heard.stop != nullptr && heard.stop(heard.user) != 0) throw Cancelled();
    };
  }
  return report_json(convert(source, output, options));
}

json listed_names() {
  json architectures = json::object();
  for (const ArchitecturesOfKind& each : architectures_by_kind()) architectures[each.kind] = each.names;
  return {{"architectures", std::move(architectures)},
          {"types", type_names()},
          {"head_types", head_type_names()},
          {"chat_formats", chat_format_names()}};
}

/// Runs body(), which returns JSON or throws.
template <class Body>
mote_convert_result* respond(Body body) noexcept {
  try {
    auto result = std::make_unique<mote_convert_result>();
    try {
      result->json = body().dump(-1, ' ', false, json::error_handler_t::replace);
    } catch (const Cancelled&) {
      result->status = MOTE_CANCELLED;
      result->sentence = "cancelled";
    } catch (...) {
      api::ExceptionStatus caught = api::status_of_thrown();
      result->status = caught.code;
      result->sentence = std::move(caught.sentence);
    }
    return result.release();
  } catch (...) {
    return nullptr;  // not even a sentence has room
  }
}

}  // namespace
}  // namespace mote::convert

mote_convert_result* mote_convert(const char* source, const char* output, const char* options,
                                  const mote_convert_calls* calls) {
  return mote::convert::respond(
      [&] { return mote::convert::convert_source(source, output, options, calls); });
}

mote_convert_result* mote_convert_list(void) { return mote::convert::respond(mote::convert::listed_names); }

const char* mote_convert_type_names(int of_heads) {
  try {
    static const std::string of_tensors = mote::convert::type_names_for_people(false);
    static const std::string of_head = mote::convert::type_names_for_people(true);
    return of_heads != 0 ? of_head.c_str() : of_tensors.c_str();
  } catch (...) {
    return "";  // no memory for names
  }
}

mote_status mote_convert_status(const mote_convert_result* result) {
  return result == nullptr ? MOTE_OUT_OF_MEMORY : result->status;
}

const char* mote_convert_sentence(const mote_convert_result* result) {
  return result == nullptr ? "not enough memory" : result->sentence.c_str();
}

const char* mote_convert_json(const mote_convert_result* result) {
  return result == nullptr ? "null" : result->json.c_str();
}

void mote_convert_free(mote_convert_result* result) { delete result; }
