// SPDX-License-Identifier: Apache-2.0
#include "converter/adapter_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace mote::convert {
namespace {

using nlohmann::json;

/// The end of the class's name for a task with a head of its own; empty: none.
std::string class_end(const std::string& task) {
  static const std::map<std::string, std::string> kEnds = {{"SEQ_CLS", "ForSequenceClassification"},
                                                           {"TOKEN_CLS", "ForTokenClassification"},
                                                           {"QUESTION_ANS", "ForQuestionAnswering"}};
  const auto found = kEnds.find(task);
  return found == kEnds.end() ? "" : found->second;
}

/// "Bert" of "BertForMaskedLM", "BertLMHeadModel" and "BertModel".
std::string family_of(const std::string& name) {
  for (const char* end : {"DoubleHeadsModel", "LMHeadModel", "Model"}) {
    if (name.ends_with(end)) return name.substr(0, name.size() - std::string(end).size());
  }
  return name.substr(0, name.rfind("For"));  // RoFormer has one in its own name
}

}  // namespace

void set_adapter_task(Source& source, const std::string& task,
                      const std::vector<std::vector<uint64_t>>& shapes) {
  const std::string end = class_end(task);
  if (end.empty()) return;
  json config = *source.config;
  const auto list = config.find("architectures");
  if (list != config.end() && list->is_array() && !list->empty() && list->front().is_string()) {
    const std::string name = list->front().get<std::string>();
    if (!name.ends_with(end)) *list = json::array({family_of(name) + end});
  } else {
    config["architectures"] = json::array({end});
  }
  const auto labels = config.find("id2label");
  if (labels != config.end() && labels->is_object() && task != "QUESTION_ANS") {
    const uint64_t count = labels->size();
    const bool fits = std::any_of(shapes.begin(), shapes.end(), [&](const std::vector<uint64_t>& shape) {
      return shape.size() == 2 && shape[0] == count;
    });
    if (!fits) {
      source.notes.push_back(
          fmt::format("the adapter's head has other labels than the {} of config.json, and an adapter does "
                      "not name them: "
                      "they are numbered",
                      count));
      config.erase(labels);
      config.erase("label2id");
    }
  }
  source.config = std::make_shared<const json>(std::move(config));
}

void set_adapter_vocabulary(Source& source, uint64_t before, uint64_t after) {
  json config = *source.config;
  const auto inner = config.find("text_config");
  json& holder = inner != config.end() && inner->is_object() ? *inner : config;
  if (!holder.contains("vocab_size") || holder["vocab_size"] != json(before)) return;
  holder["vocab_size"] = after;
  source.notes.push_back(
      fmt::format("the adapter's embedding has {} tokens, the model's had {}", after, before));
  source.config = std::make_shared<const json>(std::move(config));
}

}  // namespace mote::convert
