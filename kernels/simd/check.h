// SPDX-License-Identifier: Apache-2.0
//
// Checks of the concepts of floats.h, ints.h and dots.h: one error that names the missing member.
#pragma once

#include <stdint.h>

#include <type_traits>

/// Fails unless `expression` compiles, in which v is a V, v.x a Float and v.n an Int of it.
#define MOTE_NEEDS(V, expression)                                                           \
  static_assert(mote::compiles<V>([](auto v) -> decltype((void)(expression)) { (void)v; }), \
                "the vectors lack a member that this calls: " #expression)

namespace mote {
namespace {

template <class V>
struct Probe : V {
  static typename V::Float x;
  static typename V::Int n;
};

template <class V, class Call>
constexpr bool compiles(Call) {
  return std::is_invocable_v<Call, Probe<V>>;
}

}  // namespace
}  // namespace mote
