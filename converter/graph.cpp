// SPDX-License-Identifier: Apache-2.0
#include "converter/graph.h"

namespace mote::convert {
namespace {

struct ViewsOf {
  std::vector<View> operator()(const EmbedNode& node) const { return {node.out}; }
  std::vector<View> operator()(const PositionsNode& node) const { return {node.x}; }
  std::vector<View> operator()(const NormNode& node) const { return {node.in, node.out}; }
  std::vector<View> operator()(const QuantizeNode& node) const { return {node.in, node.out}; }
  std::vector<View> operator()(const LinearNode& node) const {
    if (node.residual) return {node.in, node.out, *node.residual};
    return {node.in, node.out};
  }
  std::vector<View> operator()(const RopeTableNode& node) const { return {node.out}; }
  std::vector<View> operator()(const RopeNode& node) const { return {node.table, node.x}; }
  std::vector<View> operator()(const KvStoreNode& node) const { return {node.k, node.v}; }
  std::vector<View> operator()(const AttentionNode& node) const { return {node.q, node.out}; }
  std::vector<View> operator()(const GateNode& node) const { return {node.gate, node.up, node.out}; }
  std::vector<View> operator()(const SelectNode& node) const { return {node.in, node.out}; }
  std::vector<View> operator()(const PoolNode& node) const { return {node.in, node.out}; }
};

}  // namespace

std::vector<View> views_of(const Node& node) { return std::visit(ViewsOf{}, node); }

}  // namespace mote::convert
