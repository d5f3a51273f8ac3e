// SPDX-License-Identifier: Apache-2.0
//
// Finds a text in another in time that grows with their sum (Knuth, Morris and Pratt 1977). The time that the
// C library's search takes may grow with their product.
#pragma once

#include <string_view>
#include <vector>

namespace mote::convert::jinja {

class TextSearch {
 public:
  /// `what` has to live as long as the search.
  explicit TextSearch(std::string_view what);

  /// The first place and the last; npos where there is none. An empty text stands at the start and at the
  /// end.
  size_t first(std::string_view text) const;
  size_t last(std::string_view text) const;

 private:
  std::string_view what_;
  std::vector<uint32_t> forward_, backward_;  // the longest start that is an end too, of each start
};

}  // namespace mote::convert::jinja
