// SPDX-License-Identifier: Apache-2.0
//
// Which sides a picture gets whose own decide about them, as the originals' processors compute it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mote::pictures {

struct Sides {
  uint32_t height, width;
};

// Each returns what a picture of the sides `own` is resized to.

/// The shorter side becomes `shorter`, the longer keeps the ratio.
Sides shorter_sides(Sides own, uint32_t shorter);

/// Multiplies both sides by one factor, of the two that make the sides those wanted the one nearer to 1, and
/// rounds each to a multiple of `unit` (DPT).
Sides even_sides(Sides own, Sides wanted, uint32_t unit);

/// Multiples of `unit` near the sides, with from `least` to `most` pixels, the ratio nearly kept (Qwen2-VL).
/// Throws convert::Error for a side more than `ratio` times the other.
Sides rounded_sides(Sides own, uint32_t unit, uint32_t least, uint32_t most, double ratio);

/// Multiples of `unit` with at most `most` squares of it, by the largest factor of both sides that a search
/// by halves finds (SigLIP 2).
Sides patched_sides(Sides own, uint32_t unit, uint32_t most);

/// The longer side becomes `longest`, the other even where it can be, none more than `most` (Idefics3).
Sides longest_sides(Sides own, uint32_t longest, uint32_t most);

/// Multiples of `tile` that a picture of these sides is stretched to (Idefics3).
Sides tiled_sides(Sides own, uint32_t tile);

/// The shorter side becomes `shortest`, or less where the longer would be more than `longest`; then both are
/// rounded down to multiples of `unit` (YOLOS), perhaps to 0.
Sides bounded_sides(Sides own, uint32_t shortest, uint32_t longest, uint32_t unit);

/// Says which sides a user wants of a picture in place of what the model's file says: its own, given ones, or
/// the longer or shorter one given, the other keeping the ratio.
struct WantedSides {
  enum Kind : uint8_t { own, both, longest, shortest } kind = own;
  uint32_t height = 0, width = 0;  // of one side, the height
};

/// Reads "own", "WIDTHxHEIGHT", "longest=N" or "shortest=N"; none: another text, or a side that is not from 1
/// to 65536.
std::optional<WantedSides> read_wanted_sides(std::string_view text);

/// Returns the wanted sides of a picture, each rounded to the nearest multiple of `unit`, of one at least.
/// Given ones that are no multiples throw convert::Error.
Sides wanted_sides(Sides own, const WantedSides& wanted, uint32_t unit);

}  // namespace mote::pictures
