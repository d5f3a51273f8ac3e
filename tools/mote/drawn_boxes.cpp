// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/drawn_boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "host/base/base64.h"
#include "tools/mote/output.h"
#include "tools/mote/pages/html_page.h"

namespace mote::cli {
namespace {

constexpr float kLineShare = 1.0f / 300;  // of the picture's longer side
constexpr float kLinesOfText = 6, kLinesOfLabel = 8;
constexpr float kGlyphShare = 0.58f;  // width of a character by the size of the text, about
// White has a contrast of 5 to 1 with each; colour-blind people tell neighbours apart.
constexpr std::array<const char*, 6> kColours = {"#0072b2", "#a84300", "#00694c",
                                                 "#8a3f6f", "#5b4b00", "#333333"};

struct Area {
  float left, top, right, bottom;
};

bool overlap(const Area& a, const Area& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

size_t characters_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Places labels where they cover none that is there already.
class Labels {
 public:
  Labels(float width, float height, float line) : width_(width), height_(height), line_(line) {}

  /// Returns the label's place: over the box's top edge, below it or under the box, else the nearest free one
  /// of the picture; nothing if the picture is full.
  std::optional<Area> place(const DrawnBox& box, float wide, float tall) {
    const float left = std::clamp(box.left - line_ / 2, 0.0f, std::max(0.0f, width_ - wide));
    for (const float top : {box.top - tall, box.top, box.bottom, box.bottom - tall}) {
      if (const auto found = take(left, top, wide, tall)) return found;
    }
    std::optional<Area> nearest;
    float least = INFINITY;
    for (float top = 0; top + tall <= height_; top += tall / 4) {
      for (float x = 0; x + wide <= width_; x += tall / 2) {
        const float distance = std::hypot(x - left, top - box.top);
        if (distance >= least || !is_free({x, top, x + wide, top + tall})) continue;
        nearest = Area{x, top, x + wide, top + tall};
        least = distance;
      }
    }
    if (nearest) taken_.push_back(*nearest);
    return nearest;
  }

 private:
  bool is_free(const Area& area) const {
    return area.top >= 0 && area.bottom <= height_ && area.right <= width_ &&
           std::none_of(taken_.begin(), taken_.end(),
                        [&](const Area& other) { return overlap(area, other); });
  }

  std::optional<Area> take(float left, float top, float wide, float tall) {
    const Area area = {left, top, left + wide, top + tall};
    if (!is_free(area)) return std::nullopt;
    taken_.push_back(area);
    return area;
  }

  float width_, height_, line_;
  std::vector<Area> taken_;
};

std::string label_svg(const Area& area, const std::string& text, const char* colour, float line) {
  return fmt::format(
      "<rect class=\"label\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n"
      "<text x=\"{:.2f}\" y=\"{:.2f}\" textLength=\"{:.2f}\" lengthAdjust=\"spacingAndGlyphs\" "
      "fill=\"white\">{}"
      "</text>\n",
      area.left, area.top, area.right - area.left, area.bottom - area.top, colour, area.left + line,
      area.bottom - 2 * line, area.right - area.left - 2 * line, text);
}

}  // namespace

std::string_view browser_type(std::span<const std::byte> picture) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypes = {
      {{"\x89PNG", "png"}, {"\xFF\xD8", "jpeg"}, {"RIFF", "webp"}, {"GIF8", "gif"}, {"BM", "bmp"}}};
  const std::string_view bytes(reinterpret_cast<const char*>(picture.data()), picture.size());
  for (const auto& [begin, type] : kTypes)
    if (bytes.starts_with(begin)) return type;
  return "";
}

std::string boxes_svg(std::span<const std::byte> picture, uint32_t width, uint32_t height,
                      const std::vector<DrawnBox>& boxes) {
  const float line = static_cast<float>(std::max(width, height)) * kLineShare;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<image width=\"{0}\" height=\"{1}\" href=\"data:image/{2};base64,{3}\"/>\n"
      "<g font-family=\"sans-serif\" font-size=\"{4:.2f}\" stroke-width=\"{5:.2f}\">\n",
      width, height, browser_type(picture), convert::to_base64(picture), line * kLinesOfText, line);
  std::string texts;
  Labels labels(static_cast<float>(width), static_cast<float>(height), line);
  for (size_t i = 0; i < boxes.size(); ++i) {  // the likeliest have their labels where they belong
    const DrawnBox& box = boxes[i];
    const char* const colour = kColours[i % kColours.size()];
    const std::string text = fmt::format("{} {:.0f} %", one_line(box.label), box.probability * 100);
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"none\" stroke=\"{}\">"
        "<title>{}</title></rect>\n",
        box.left, box.top, box.right - box.left, box.bottom - box.top, colour, markup_text(text));
    const float wide = line * kLinesOfText * kGlyphShare * static_cast<float>(characters_of(text)) + 2 * line;
    if (const auto area = labels.place(box, wide, line * kLinesOfLabel))
      texts += label_svg(*area, markup_text(text), colour, line);
  }
  return svg + texts + "</g>\n</svg>\n";
}

}  // namespace mote::cli
