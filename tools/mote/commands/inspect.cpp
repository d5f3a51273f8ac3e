// SPDX-License-Identifier: Apache-2.0
//
// mote inspect: what is in a .mote file.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "host/base/output_file.h"
#include "schema/block_formats.h"
#include "schema/mote_generated.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/describe_op.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/pages/attention_page.h"
#include "tools/mote/pages/graph_page.h"
#include "tools/mote/pages/html_page.h"
#include "tools/mote/session.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

using nlohmann::json;
using enum Table::Align;

struct InspectArguments {
  std::string file;
  std::optional<std::string> prompt, html;
  bool ops = false, plan = false, tensors = false, json = false, attention = false, graph = false;
  SessionFlags session;
};

std::string text(const flatbuffers::String* string) { return string == nullptr ? "" : string->str(); }

/// "f16 210, f32 61".
std::string type_counts(const file::Model& model) {
  std::map<std::string, size_t> counts;
  for (const file::Tensor* tensor : *model.tensors()) ++counts[file::EnumNameDType(tensor->dtype())];
  std::string line;
  for (const auto& [type, count] : counts)
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", type, count);
  return line;
}

json model_info(const ModelFile& file, const file::Model& model) {
  const mote_model_info& info = file.info();
  json sources = json::array();
  if (model.sources() != nullptr) {
    for (const file::SourceFile* source : *model.sources()) {
      sources.push_back({{"name", text(source->name())},
                         {"bytes", source->bytes()},
                         {"xxh64", fmt::format("{:016x}", source->xxh64())}});
    }
  }
  return {{"name", info.name},
          {"architecture", info.architecture},
          {"task", mote_model_task_name(file.host().task())},
          {"format_version", model.format_version()},
          {"producer", text(model.producer())},
          {"licence", text(model.licence())},
          {"hash", fmt::format("{:016x}", info.hash)},
          {"vocab", info.vocab},
          {"width", info.width},
          {"layers", info.layers},
          {"context", info.context},
          {"bos_id", info.bos_id},
          {"stop_ids", std::vector<int32_t>(info.stop_ids, info.stop_ids + info.stop_count)},
          {"file_bytes", file.bytes().size()},
          {"weight_bytes", info.weight_bytes},
          {"tensors", type_counts(model)},
          {"self_test", model.self_test() != nullptr},
          {"sources", std::move(sources)}};
}

void print_info(const json& info) {
  Table table({{"model"}, {one_line(info.at("name").get<std::string>())}});
  for (const char* key : {"architecture", "task", "format_version", "producer", "licence", "hash", "vocab",
                          "width", "layers", "context", "bos_id", "stop_ids", "tensors", "self_test"}) {
    const json& value = info.at(key);
    if (value == "") continue;
    table.row({key, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  for (const char* key : {"file_bytes", "weight_bytes"}) {
    const auto bytes = info.at(key).get<uint64_t>();
    table.row({key, fmt::format("{} ({})", bytes, human_bytes(bytes))});
  }
  for (const json& source : info.at("sources")) {
    table.row({"source", fmt::format("{}, {}, xxh64 {}", source.at("name").get<std::string>(),
                                     human_bytes(source.at("bytes").get<uint64_t>()),
                                     source.at("xxh64").get<std::string>())});
  }
  table.print();
}

json memory_info(const ModelFile& file, const mote_session_options& options) {
  mote_memory memory = {};
  mote_error error = {};
  check(mote_session_memory(file.model(), &options, &memory, &error), error, file.path());
  return {{"context", options.context},
          {"chunk", options.chunk},
          {"threads", options.platform.threads},
          {"session", memory.session},
          {"activations", memory.activations},
          {"scratch", memory.scratch},
          {"kv_cache", memory.kv_cache},
          {"states", memory.states},
          {"sampler", memory.sampler},
          {"text", memory.text},
          {"arena_bytes", mote_session_bytes(file.model(), &options)},
          {"backend_bytes", file.backend_bytes()}};
}

void print_memory(const json& memory) {
  print("arena for a context of {}, chunks of {} and {} threads\n", memory.at("context").get<uint32_t>(),
        memory.at("chunk").get<uint32_t>(), memory.at("threads").get<uint32_t>());
  Table table({{"part"}, {"bytes", right}, {"", right}});
  for (const char* key : {"session", "activations", "scratch", "kv_cache", "states", "sampler", "text",
                          "arena_bytes", "backend_bytes"}) {
    const auto bytes = memory.at(key).get<uint64_t>();
    table.row({key, std::to_string(bytes), human_bytes(bytes)});
  }
  table.print();
}

/// Lists the states. The bytes of keys and values depend on the session: the memory of its kv_cache says
/// them.
json state_list(const file::Model& model) {
  json states = json::array();
  for (const file::State* state : *model.states()) {
    json part = {{"kind", file::EnumNameStateKind(state->kind())}};
    if (state->kind() == file::StateKind::kv) {
      part["shape"] = fmt::format("{} x {} and {}", state->kv_heads(), state->key_dim(), state->value_dim());
      part["window"] = state->window();
    } else {
      part["shape"] = fmt::format("{} x {} x {}", state->heads(), state->rows(), state->cols());
      part["bytes_per_sequence"] = sizeof(float) * uint64_t{state->heads()} * state->rows() * state->cols();
    }
    states.push_back(std::move(part));
  }
  return states;
}

void print_states(const json& states) {
  Table table({{"state", right}, {"kind"}, {"shape"}, {"window", right}, {"bytes per sequence", right}});
  for (size_t i = 0; i < states.size(); ++i) {
    const auto cell = [&](const char* key) {
      return states[i].contains(key) ? states[i].at(key).dump() : "";
    };
    table.row({std::to_string(i), states[i].at("kind").get<std::string>(),
               states[i].at("shape").get<std::string>(), cell("window"), cell("bytes_per_sequence")});
  }
  table.print();
}

json op_list(const file::Model& model, const file::Program& program) {
  json ops = json::array();
  for (const file::Op* op : *program.ops()) {
    const OpText line = describe_op(model, program, *op);
    ops.push_back({{"op", line.name}, {"in", line.in}, {"out", line.out}, {"details", line.details}});
  }
  return ops;
}

void print_ops(const json& ops) {
  Table table({{"#", right}, {"op"}, {"in"}, {"out"}, {"details"}});
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto cell = [&](const char* key) { return ops[i].at(key).get<std::string>(); };
    table.row({std::to_string(i), cell("op"), cell("in"), cell("out"), cell("details")});
  }
  table.print();
}

json plan_list(const file::Program& program) {
  json buffers = json::array();
  for (const file::Buffer* buffer : *program.buffers()) {
    buffers.push_back({{"stream", buffer->stream()},
                       {"dtype", file::EnumNameDType(buffer->dtype())},
                       {"width", buffer->width()},
                       {"row_bytes", buffer_row_bytes(static_cast<DType>(buffer->dtype()), buffer->width())},
                       {"offset", buffer->offset()}});
  }
  json streams = json::array();
  for (const file::Stream* stream : *program.streams()) {
    json one = {{"rows", file::EnumNameStreamKind(stream->kind())}, {"row_bytes", stream->row_bytes()}};
    if (stream->kind() == file::StreamKind::group)
      one["of"] = stream->of(), one["ratio"] = stream->ratio(), one["needs"] = stream->needs(),
      one["parts"] = stream->parts();
    if (stream->grid_times() != 0)
      one["grid_times"] = stream->grid_times(), one["grid_every"] = stream->grid_every(),
      one["grid_least"] = stream->grid_least();
    streams.push_back(std::move(one));
  }
  return {{"streams", std::move(streams)}, {"buffers", std::move(buffers)}};
}

/// Returns what a stream that is not of tokens, selected rows or sequences has a row for.
std::string rows_of_groups(const json& stream) {
  if (stream.contains("grid_times"))
    return fmt::format("place: {} for {} patches of a side", stream.at("grid_times").get<uint32_t>(),
                       stream.at("grid_every").get<uint32_t>());
  const uint32_t ratio = stream.at("ratio").get<uint32_t>(), parts = stream.at("parts").get<uint32_t>();
  return fmt::format("{}{} rows of stream {}", parts == 1 ? "" : "1 / ", std::max(ratio, parts),
                     stream.at("of").get<uint32_t>());
}

void print_plan(const json& plan) {
  Table streams({{"stream", right}, {"a row for each"}, {"arena bytes of a row", right}});
  for (size_t i = 0; i < plan.at("streams").size(); ++i) {
    const json& stream = plan.at("streams")[i];
    const std::string rows =
        stream.contains("of") ? rows_of_groups(stream) : stream.at("rows").get<std::string>();
    streams.row({std::to_string(i), rows, stream.at("row_bytes").dump()});
  }
  streams.print();
  Table table({{"buffer", right}, {"stream", right}, {"dtype"}, {"width", right}, {"offset", right}});
  const json& buffers = plan.at("buffers");
  for (size_t i = 0; i < buffers.size(); ++i) {
    table.row({std::to_string(i), buffers[i].at("stream").dump(), buffers[i].at("dtype").get<std::string>(),
               buffers[i].at("width").dump(), buffers[i].at("offset").dump()});
  }
  table.print();
}

json tensor_list(const file::Model& model) {
  json tensors = json::array();
  for (const file::Tensor* tensor : *model.tensors()) {
    tensors.push_back({{"name", text(tensor->name())},
                       {"dtype", file::EnumNameDType(tensor->dtype())},
                       {"packing", file::EnumNamePacking(tensor->packing())},
                       {"rows", tensor->rows()},
                       {"cols", tensor->cols()},
                       {"bytes", tensor->bytes()},
                       {"offset", tensor->offset()},
                       {"xxh64", fmt::format("{:016x}", tensor->xxh64())}});
  }
  return tensors;
}

void print_tensors(const json& tensors) {
  Table table({{"#", right},
               {"tensor"},
               {"type"},
               {"packing"},
               {"shape", right},
               {"bytes", right},
               {"offset", right}});
  for (size_t i = 0; i < tensors.size(); ++i) {
    const json& tensor = tensors[i];
    table.row({std::to_string(i), tensor.at("name").get<std::string>(), tensor.at("dtype").get<std::string>(),
               tensor.at("packing").get<std::string>(),
               fmt::format("{} x {}", tensor.at("rows").get<uint32_t>(), tensor.at("cols").get<uint32_t>()),
               tensor.at("bytes").dump(), tensor.at("offset").dump()});
  }
  table.print();
}

/// A page of what is drawn instead of tables.
void write_page(const InspectArguments& arguments, const ModelFile& file, const ThreadPool& pool) {
  convert::refuse_input(*arguments.html, {arguments.file});
  if (arguments.attention) {
    const json maps = attention_maps(file, pool, *arguments.prompt);
    return write_markup(*arguments.html,
                        attention_page(fmt::format("Attention of {}", file.info().name), maps));
  }
  const file::Model& model = *file::GetSizePrefixedModel(file.bytes().data());
  json programs = json::array();
  for (const file::Program* program : *model.programs()) {
    programs.push_back(
        {{"name", text(program->name())}, {"ops", op_list(model, *program)}, {"plan", plan_list(*program)}});
  }
  const std::string title = fmt::format("Operations of {}", file.info().name);
  write_markup(*arguments.html, graph_page(title, graph_data(programs)));
}

void check_page(const InspectArguments& arguments) {
  if (arguments.attention && arguments.graph) usage_fail("--attention and --graph are pages of their own");
  const bool page = arguments.attention || arguments.graph;
  if (page && !arguments.html)
    usage_fail("--{} makes a page; --html FILE says where it goes", arguments.graph ? "graph" : "attention");
  if (!page && arguments.html) usage_fail("--html is the page of --attention or --graph: give one of them");
  if (arguments.attention != arguments.prompt.has_value()) usage_fail("--attention is over a text: -p TEXT");
}

void inspect_model(const InspectArguments& arguments) {
  check_page(arguments);
  const ModelFile file(arguments.file);
  const file::Model& model = *file::GetSizePrefixedModel(file.bytes().data());
  const ThreadPool pool(file, arguments.session);
  if (arguments.html) return write_page(arguments, file, pool);
  json all = model_info(file, model);
  if (arguments.plan) {
    all["states"] = state_list(model);
    all["memory"] = memory_info(file, session_options(file, arguments.session, pool));
  }
  if (arguments.tensors) all["tensor_list"] = tensor_list(model);
  for (const file::Program* program : *model.programs()) {
    json part = {{"name", text(program->name())}};
    if (arguments.ops) part["ops"] = op_list(model, *program);
    if (arguments.plan) part["plan"] = plan_list(*program);
    all["programs"].push_back(std::move(part));
  }
  if (arguments.json) return print_json(all);
  print_info(all);
  for (const json& program : all["programs"]) {
    if (!arguments.ops && !arguments.plan) break;
    print("\nprogram {}\n", one_line(program.at("name").get<std::string>()));
    if (arguments.ops) print_ops(program.at("ops"));
    if (arguments.plan) print_plan(program.at("plan"));
  }
  if (arguments.plan) {
    print("\n"), print_states(all.at("states"));
    print("\n"), print_memory(all.at("memory"));
  }
  if (arguments.tensors) print("\n"), print_tensors(all.at("tensor_list"));
}

}  // namespace

void add_inspect(CommandLine& line) {
  auto [command, arguments] = model_command(line, "inspect", "Print what is in a .mote file", inspect_model);
  command.flag("--ops", &arguments.ops, "The operations, with their operands");
  command.flag("--plan", &arguments.plan, "The buffers and the memory of a session");
  command.flag("--tensors", &arguments.tensors, "The tensors");
  command.flag("--attention", &arguments.attention, "A page of every layer and head's attention over a text");
  command.option("-p,--prompt", &arguments.prompt, "The text of --attention").type("TEXT");
  command.flag("--graph", &arguments.graph, "A page of the operations, shapes and the memory plan");
  command.option("--html", &arguments.html, "Where the page goes: one file that asks for no other")
      .type("FILE");
  add_session_flags(command, arguments.session);
  command.flag("--json", &arguments.json, "Print a JSON object instead of tables");
}

}  // namespace mote::cli
