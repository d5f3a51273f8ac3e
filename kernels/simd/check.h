// SPDX-License-Identifier: Apache-2.0
//
// What the concepts in floats.h, ints.h and dots.h are checked with: one error that names the missing member.
#pragma once

#include <stdint.h>

#include <type_traits>

/// Fails unless `expression` compiles, in which v is a V, x its Float and n its Int.
#define MOTE_NEEDS(V, expression)                                                                  \
  static_assert(mote::compiles<V>([](auto v, auto x, auto n) -> decltype((void)(expression)) {     \
                  (void)v, (void)x, (void)n;                                                       \
                }),                                                                                \
                "the vectors lack a member that this calls: " #expression)

namespace mote {
namespace {

template <class V, class Call>
constexpr bool compiles(Call) {
  return std::is_invocable_v<Call, V, typename V::Float, typename V::Int>;
}

}  // namespace
}  // namespace mote
