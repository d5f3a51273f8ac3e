// SPDX-License-Identifier: Apache-2.0
//
// Both ends of a graph: its output with the head, and what makes rows of ids or pictures.
#include <algorithm>

#include "converter/onnx/proof.h"
#include "host/base/bytes.h"

namespace mote::convert {
namespace {

constexpr size_t kMaxAddends = 8;

}  // namespace

/// The output that the spec's head makes.
Traced OnnxProof::output() {
  const OutputKind kind = spec_.head.kind;
  std::vector<std::string> known = {"last_hidden_state", "token_embeddings", "output_0"};
  if (kind != OutputKind::hidden && kind != OutputKind::embedding)
    known = {"logits", "start_logits", "output_0"};
  const std::vector<std::string>& outputs = model_->graph.outputs;
  if (outputs.empty()) refuse("the graph has no output");
  if (const Traced hidden = hidden_of_vectors()) return hidden;
  std::string name = outputs[0];
  for (const std::string& other : outputs) {  // an exporter may show inputs as outputs
    const auto made = trace_.values.find(other);
    if (made == trace_.values.end() || made->second->is_numbers()) continue;
    name = other;
    break;
  }
  for (const std::string& candidate : known) {
    if (std::find(outputs.begin(), outputs.end(), candidate) == outputs.end()) continue;
    name = candidate;
    break;
  }
  const auto found = trace_.values.find(name);
  if (found == trace_.values.end()) refuse("no node makes the output {}", name);
  const TracedAtom* any = atom(found->second);
  if (any != nullptr && any->node != nullptr) at_ = any->node;
  return found->second;
}

Traced OnnxProof::dense(const Traced& tensor, const DenseSpec& spec) {
  const Traced inner = spec.norm.empty() ? tensor : norm(tensor, spec.norm);
  return linear(activation(inner, spec.activation, spec.name), spec.name,
                spec.bias ? spec.name + ".bias" : "");
}

/// The rows of which the tensor holds the first of each sequence.
Traced OnnxProof::first_rows(const Traced& tensor) {
  const std::vector<TracedElement> elements = tensor->all();
  int32_t index;
  one_atom(elements, index);
  const uint64_t width = spec_.width;
  if (elements.size() != sample_.batch * width) refuse("the first row of each sequence should be read here");
  for (uint64_t i = 0; i < elements.size(); ++i) {
    if (elements[i].is_number() || elements[i].bits != i / width * sample_.length * width + i % width)
      refuse("the first row of each sequence should be read here");
  }
  return whole(index);
}

/// The last hidden states.
Traced OnnxProof::head(const Traced& output) {
  const HeadSpec& head = spec_.head;
  switch (head.kind) {
    case OutputKind::hidden:
    case OutputKind::embedding:
      return output;
    case OutputKind::next_token: {
      const std::optional<Product> found = product(output);
      const auto embedding = model_->weights.find(spec_.names.embedding + ".weight");
      const bool is_embedding =
          found && embedding != model_->weights.end() &&
          embedding->second.tensor == trace_.atoms[static_cast<size_t>(found->weight->whole)].weight;
      const Traced rows =
          linear(output, spec_.tied_embedding && is_embedding ? spec_.names.embedding : spec_.names.head, "");
      if (spec_.logit_multiplier == 1.0f) return rows;
      const TracedAtom& scaled = need(rows, "Mul", "the factor of the logits");
      const size_t factor = trace_.scalar(scaled.inputs[1]) ? 1 : 0;
      const std::optional<float> value = trace_.scalar(scaled.inputs[factor]);
      if (!value || !is_near(*value, spec_.logit_multiplier))
        refuse("logits are multiplied by {}, the config implies {}", value.value_or(0.0f),
               spec_.logit_multiplier);
      return scaled.inputs[1 - factor];
    }
    case OutputKind::sequence_labels: {
      const Traced pooled = linear(output, head.output, head.output + ".bias");
      return first_rows(head.dense.name.empty() ? pooled : dense(pooled, head.dense));
    }
    case OutputKind::token_labels: {
      const Traced rows = linear(output, head.output, head.output + ".bias");
      return head.dense.name.empty() ? rows : dense(rows, head.dense);
    }
    case OutputKind::masked_token: {
      const std::string matrix = model_->weights.count(head.output + ".weight") == 0 && spec_.tied_embedding
                                     ? spec_.names.embedding
                                     : head.output;
      return dense(linear(output, matrix, head.output_bias), head.dense);
    }
    case OutputKind::answer_span: {
      const std::vector<TracedElement> elements = output->all();
      int32_t index;
      one_atom(elements, index);
      for (uint64_t i = 0; i < elements.size(); ++i) {
        if (elements[i].is_number() || elements[i].bits != 2 * i)
          refuse("start logits should be the first of two");
      }
      return linear(whole(index), head.output, head.output + ".bias");
    }
    default:
      refuse("its kind of output is not read from ONNX files");
  }
}

/// The second output of a bare model, or what an embedding of pictures has passed.
void OnnxProof::pooler(const Traced& hidden) {
  const bool of_picture = spec_.head.kind == OutputKind::embedding && !spec_.head.dense.name.empty();
  const DenseSpec& spec = of_picture ? spec_.head.dense : spec_.head.pooler;
  if (spec.name.empty()) return;
  for (const std::string& name : model_->graph.outputs) {
    const auto found = trace_.values.find(name);
    if (found == trace_.values.end() || found->second->size() != sample_.batch * spec.width) continue;
    if (!is_same(first_rows(dense(found->second, spec)), hidden))
      refuse("{} should read the last hidden states", spec.name);
    return;
  }
  refuse("no output shows what {} computes", spec.name);
}

/// Returns the tensors that are summed, in any order.
std::vector<Traced> OnnxProof::addends(const Traced& tensor, size_t depth) {
  const TracedAtom* added = node(tensor, "Add");
  if (added == nullptr || depth == 0) return {tensor};
  const OnnxNode* here = added->node;
  const std::vector<Traced> inputs = added->inputs;
  std::vector<Traced> result;
  for (const Traced& input : inputs) {
    const std::vector<Traced> inner = addends(input, depth - 1);
    result.insert(result.end(), inner.begin(), inner.end());
  }
  at_ = here;
  return result;
}

/// Rows of a table, by ids, positions or types, which the choice of rows tells.
void OnnxProof::looked_up(const Traced& tensor, std::set<std::string>& roles) {
  const uint64_t width = spec_.width, rows = sample_.length;
  std::vector<TracedElement> elements;
  for (uint64_t i = 0; i < sample_.batch * rows * width; ++i)
    elements.push_back(tensor->at(broadcast_index(i, {sample_.batch, rows, width}, tensor->dims)));
  const int32_t of = elements[0].atom;
  if (of < 0 || trace_.atoms[static_cast<size_t>(of)].weight == nullptr)
    refuse("the embedding adds what is no table of the file");
  const bool has_types = trace_.values.count("token_type_ids") != 0;
  const auto is_role = [&](const std::string& name, const auto& row_of) {
    if (name.empty() || roles.count(name) != 0) return false;
    for (uint64_t i = 0; i < elements.size(); ++i) {
      const uint64_t row = i / width % rows, batch = i / (width * rows);
      if (!sample_.is_kept(batch, row)) continue;
      if (elements[i] != TracedElement{of, static_cast<uint32_t>(row_of(batch, row) * width + i % width)})
        return false;
    }
    return true;
  };
  const WeightNames& names = spec_.names;
  std::string role;
  if (is_role(names.embedding, [&](uint64_t batch, uint64_t row) {
        return static_cast<uint64_t>(trace_.values.at("input_ids")->at(batch * rows + row).number());
      })) {
    role = names.embedding;
  } else if (is_role(names.positions, [&](uint64_t, uint64_t row) { return spec_.first_position + row; })) {
    role = names.positions;
  } else if (spec_.token_types != 0 && is_role(names.token_types, [&](uint64_t batch, uint64_t row) {
               if (!has_types) return uint64_t{0};
               return static_cast<uint64_t>(
                   trace_.values.at("token_type_ids")->at(batch * rows + row).number());
             })) {
    role = names.token_types;
  }
  if (role.empty())
    refuse("the embedding adds rows of {} that the config does not imply",
           shown(trace_.atoms[static_cast<size_t>(of)].weight->name));
  const TracedAtom& table = trace_.atoms[static_cast<size_t>(of)];
  if (table.scale != nullptr && table.scale->size() > 1 && table.axis != 0)
    refuse("scales along the columns of {} are not supported", role);
  roles.insert(role);
  bind(role + ".weight", weight_of(trace_.atoms[static_cast<size_t>(of)]));
}

void OnnxProof::embedding(Traced x) {
  const WeightNames& names = spec_.names;
  for (const char* input : {"input_ids", "token_type_ids"}) {
    const auto found = trace_.values.find(input);
    const bool fits = found != trace_.values.end() && found->second->is_numbers() &&
                      found->second->size() == sample_.batch * sample_.length;
    if (!fits && (found != trace_.values.end() || std::string(input) == "input_ids"))
      refuse("{} should be an input of the graph", input);
  }
  if (!names.embedding_norm.empty()) x = norm(x, names.embedding_norm);
  std::set<std::string> roles;
  for (const Traced& one : addends(x, kMaxAddends)) {
    broadcast_dims(one, {sample_.batch, sample_.length, spec_.width});
    looked_up(one, roles);
  }
  for (const std::string& name :
       {names.embedding, names.positions, spec_.token_types != 0 ? names.token_types : ""}) {
    if (!name.empty() && roles.count(name) == 0) refuse("{} is not added", name);
  }
}

/// Learned rows before those of patches, and positions.
void OnnxProof::picture(const Traced& x) {
  const PictureSpec& picture = spec_.picture;
  const uint64_t width = spec_.width, rows = sample_.length;
  bool has_patches = false, has_positions = picture.positions.empty();
  for (const Traced& one : addends(x, kMaxAddends)) {
    broadcast_dims(one, {sample_.batch, rows, width});
    const TracedAtom* weight = trace_.atom(one);
    if (weight != nullptr && weight->weight != nullptr && !has_positions && one->size() == rows * width) {
      bind(picture.positions, weight_of(*weight));
      has_positions = true;
    } else if (!has_patches) {
      patches(one);
      has_patches = true;
    } else {
      refuse("more is added to patches than their positions");
    }
  }
  if (!has_patches || !has_positions) refuse("patches and their positions should be added");
}

void OnnxProof::patches(const Traced& tensor) {
  const PictureSpec& picture = spec_.picture;
  const uint64_t width = spec_.width, rows = sample_.length, before = picture.format.before;
  if (tensor->size() != sample_.batch * rows * width) refuse("{} rows should be here", rows);
  const std::vector<TracedElement> elements = tensor->all();
  std::vector<TracedElement> inner;
  for (uint64_t i = before * width; i < elements.size(); ++i) inner.push_back(elements[i]);
  uint64_t at = 0;
  for (const LearnedRows& learned : picture.before) {
    const int32_t of = elements[at].atom;
    const uint64_t size = learned.rows * width;
    for (uint64_t i = 0; i < size; ++i) {
      if (of < 0 || elements[at + i] != TracedElement{of, static_cast<uint32_t>(i)})
        refuse("{} should stand before the patches", learned.name);
    }
    const TracedAtom& weight = trace_.atoms[static_cast<size_t>(of)];
    if (weight.weight == nullptr) refuse("{} should stand before the patches", learned.name);
    bind(learned.name, weight_of(weight));
    at += size;
  }
  int32_t index;
  const TracedAtom conv = one_atom(inner, index);
  if (conv.node == nullptr || conv.node->op != "Conv") refuse("patches should be made by a convolution");
  const uint64_t count = rows - before;
  for (uint64_t i = 0; i < inner.size(); ++i) {
    if (inner[i].is_number() || inner[i].bits != i % width * count + i / width)
      refuse("patches are not put row by row");
  }
  const TracedAtom* pixels = atom(conv.inputs[0]);
  if (pixels == nullptr || pixels->node != nullptr || pixels->weight != nullptr)
    refuse("the convolution should read the pixels");
  const TracedAtom* kernel = trace_.atom(conv.inputs[1]);
  if (kernel == nullptr || kernel->weight == nullptr) refuse("kernels should be a tensor of the file");
  bind(picture.projection + ".weight", weight_of(*kernel));
  const bool has_bias = conv.inputs.size() > 2 && conv.inputs[2] != nullptr;
  if (has_bias != picture.bias) refuse("a bias of the patches is not what the config implies");
  if (has_bias) bind_vector(picture.projection + ".bias", conv.inputs[2]);
}

}  // namespace mote::convert
