// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/source.h"

namespace mote::grammar {
namespace {

NodePtr made(Node node) { return std::make_shared<const Node>(std::move(node)); }

}  // namespace

NodePtr bytes(std::string text) {
  Node node;
  node.text = std::move(text);
  return made(std::move(node));
}

NodePtr characters(CodePoints set) {
  Node node;
  node.kind = Node::Kind::characters;
  node.set = std::move(set);
  return made(std::move(node));
}

NodePtr sequence(std::vector<NodePtr> parts) {
  if (parts.size() == 1) return parts.front();
  Node node;
  node.kind = Node::Kind::sequence;
  node.parts = std::move(parts);
  return made(std::move(node));
}

NodePtr choice(std::vector<NodePtr> parts) {
  if (parts.size() == 1) return parts.front();
  Node node;
  node.kind = Node::Kind::choice;
  node.parts = std::move(parts);
  return made(std::move(node));
}

NodePtr repeat(NodePtr part, uint32_t least, uint32_t most) {
  if (least == 1 && most == 1) return part;
  Node node;
  node.kind = Node::Kind::repeat;
  node.parts = {std::move(part)};
  node.least = least;
  node.most = most;
  return made(std::move(node));
}

NodePtr rule(uint32_t number) {
  Node node;
  node.kind = Node::Kind::rule;
  node.rule = number;
  return made(std::move(node));
}

NodePtr graph(uint32_t places, std::vector<Arrow> arrows) {
  Node node;
  node.kind = Node::Kind::graph;
  node.places = places;
  node.arrows = std::move(arrows);
  return made(std::move(node));
}

}  // namespace mote::grammar
