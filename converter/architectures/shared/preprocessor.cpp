// SPDX-License-Identifier: Apache-2.0
//
// preprocessor_config.json or processor_config.json: how a picture of any size becomes pixel values.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "converter/architectures/shared/pictures.h"
#include "converter/readers/processor_config.h"
#include "host/base/error.h"
#include "host/base/json_file.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr uint32_t kMaxPixels = 1u << 30;
constexpr uint64_t kMostSeen = 1u << 24;                       // pixels of a size that the user chooses
constexpr uint32_t kLanczos = 1, kBilinear = 2, kBicubic = 3;  // Pillow's numbers

/// Kinds of processors whose configs may leave keys out, by the start of the name.
struct Processor {
  const char* name;
  uint32_t resample;
  bool shorter_side;  // a single number for the size is that of the shorter side
};
constexpr Processor kProcessors[] = {
    {"ViT", kBilinear, false},    {"DeiT", kBicubic, false},        {"Beit", kBicubic, false},
    {"CLIP", kBicubic, true},     {"SiglipImage", kBicubic, false}, {"Bit", kBicubic, true},
    {"DINOv3", kBilinear, false},
};
constexpr Processor kIdefics3Processors[] = {{"Idefics3", kLanczos, true}, {"SmolVLM", kLanczos, true}};
constexpr Processor kDptProcessors[] = {{"DPT", kBicubic, false}};
constexpr Processor kQwenProcessors[] = {{"Qwen2VL", kBicubic, true}};
constexpr Processor kPatchProcessors[] = {{"Siglip2Image", kBilinear, false}};
constexpr Processor kYolosProcessors[] = {{"Yolos", kBilinear, true}};
constexpr uint32_t kYolosShorter = 800, kYolosLonger = 1333;  // the sides where a config names none
constexpr uint32_t kYolosMultiple = 16;
constexpr uint32_t kPatchesSide = 16, kMostPatches = 256;  // of SigLIP 2
constexpr uint32_t kLongestSide = 4096;                    // of Idefics3
constexpr float kLargestRatio = 200;                       // of a side to the other, of Qwen2-VL

struct Size {
  uint32_t height, width;  // width 0: of the shorter side
};

class Preprocessor {
 public:
  Preprocessor(const json& values, std::string where) : values_(values), file_(std::move(where)) {}

  /// Nothing of a kind that is not known.
  bool read(PictureFormat& format) {
    if (const Processor* tiles = kind(kIdefics3Processors)) {
      read_tiles(*tiles, format);
    } else if (const Processor* sides = kind(kQwenProcessors)) {
      read_pixels(*sides, format);
    } else if (const Processor* patches = kind(kPatchProcessors)) {
      read_patches(*patches, format);
    } else if (const Processor* ratio = kind(kDptProcessors)) {
      read_multiples(*ratio, format);
    } else if (const Processor* bounds = kind(kYolosProcessors)) {
      read_bounds(*bounds, format);
    } else if (const Processor* known = kind(kProcessors)) {
      read_size(*known, format);
    } else {
      return false;
    }
    add_scaling(format);
    finish();
    return true;
  }

 private:
  static PictureStep& add(PictureStepKind kind, PictureFormat& format) {
    format.steps.push_back({kind});
    return format.steps.back();
  }
  void add_scaling(PictureFormat& format) {
    PictureStep& rescale = add(PictureStepKind::rescale, format);
    rescale.factor = 1.0f;
    if (flag("do_rescale", true)) rescale.factor = static_cast<float>(number("rescale_factor", 1.0 / 255));
    if (!(rescale.factor > 0)) file_.refuse("rescale_factor is not above 0");
    PictureStep& normalize = add(PictureStepKind::normalize, format);
    normalize.mean.assign(format.channels, 0.0f);
    normalize.std.assign(format.channels, 1.0f);
    if (flag("do_normalize", true)) {
      normalize.mean = list("image_mean", format.channels);
      normalize.std = list("image_std", format.channels);
    }
    if (std::find(normalize.std.begin(), normalize.std.end(), 0.0f) != normalize.std.end())
      file_.refuse("image_std holds 0");
  }
  void read_size(const Processor& processor, PictureFormat& format) {
    if (flag("do_resize", true)) {
      const Size size = size_of("size", processor.shorter_side);
      PictureStep& resize =
          add(size.width == 0 ? PictureStepKind::resize_shorter : PictureStepKind::resize, format);
      resize.height = size.height;
      resize.width = size.width;
      resize.filter = resample(processor);
    }
    if (flag("do_center_crop", find("crop_size") != nullptr && values_.contains("do_center_crop"))) {
      const Size size = size_of("crop_size", false);
      PictureStep& crop = add(PictureStepKind::crop, format);
      crop.height = size.height;
      crop.width = size.width;
    }
  }
  /// Idefics3's: the longer side of a picture, then of tiles.
  void read_tiles(const Processor& processor, PictureFormat& format) {
    for (const char* key : {"do_resize", "do_image_splitting"}) {
      if (!flag(key, true)) file_.refuse("{} false is not supported", key);
    }
    flag("do_pad", true);
    const uint32_t filter = resample(processor), longest = edge_of("size", "longest_edge", 4 * 364),
                   side = edge_of("max_image_size", "longest_edge", 364);
    const uint32_t seen = side / format.patch * format.patch;  // the model leaves the rest out
    if (seen != format.height || seen != format.width || longest < side) {
      file_.refuse("tiles of {} pixels, longest_edge {}: the model takes pictures of {} x {}", side, longest,
                   format.width, format.height);
    }
    PictureStep& resize = add(PictureStepKind::resize_longer, format);
    resize.filter = filter;
    resize.height = longest;
    resize.most = kLongestSide;
    PictureStep& tile = add(PictureStepKind::tile, format);
    tile.filter = filter;
    tile.height = side;
  }
  /// Qwen2-VL's: pixels of both sides together.
  void read_pixels(const Processor& processor, PictureFormat& format) {
    if (!flag("do_resize", true)) file_.refuse("do_resize false is not supported");
    PictureStep& resize = add(PictureStepKind::resize_pixels, format);
    resize.filter = resample(processor);
    resize.multiple = format.patch * format.merge;
    resize.factor = kLargestRatio;
    resize.least = edge_of("size", "shortest_edge", 56 * 56);
    resize.most = edge_of("size", "longest_edge", 28 * 28 * 1280);
    const json *least = find("min_pixels"), *most = find("max_pixels");
    if (least != nullptr) resize.least = static_cast<uint32_t>(file_.size(*least, "min_pixels", kMaxPixels));
    if (most != nullptr) resize.most = static_cast<uint32_t>(file_.size(*most, "max_pixels", kMaxPixels));
    if (resize.least == 0 || resize.least > resize.most)
      file_.refuse("pictures of {} to {} pixels", resize.least, resize.most);
    const std::pair<const char*, uint32_t> of_model[] = {
        {"patch_size", format.patch}, {"merge_size", format.merge}, {"temporal_patch_size", format.frames}};
    for (const auto& [key, expected] : of_model) {
      const json* value = find(key);
      if (value != nullptr && file_.size(*value, key, kMaxSize) != expected)
        file_.refuse("{} is {}, the model's is {}", key, value->dump(), expected);
    }
  }
  /// SigLIP 2's: patches of a picture that keeps its ratio.
  void read_patches(const Processor& processor, PictureFormat& format) {
    if (!flag("do_resize", true)) file_.refuse("do_resize false is not supported");
    if (!format.any_size) file_.refuse("max_num_patches is for models of pictures of any size");
    const auto number_of = [&](const char* key, uint32_t fallback) {
      const json* value = find(key);
      return value == nullptr ? fallback : static_cast<uint32_t>(file_.size(*value, key, kMaxSize));
    };
    const uint32_t patch = number_of("patch_size", kPatchesSide);
    if (patch != format.patch) file_.refuse("patch_size is {}, the model's is {}", patch, format.patch);
    PictureStep& resize = add(PictureStepKind::resize_patches, format);
    resize.filter = resample(processor);
    resize.multiple = format.patch * format.merge;
    resize.most = number_of("max_num_patches", kMostPatches);
    if (resize.most == 0) file_.refuse("max_num_patches is 0");
  }
  /// DPT's: sides that are multiples of a number.
  void read_multiples(const Processor& processor, PictureFormat& format) {
    if (flag("do_pad", false)) file_.refuse("do_pad is not supported");
    if (const json* divisor = find("size_divisor"))
      file_.refuse("size_divisor {} is not supported", divisor->dump());
    read_size(processor, format);
    const json* value = find("ensure_multiple_of");
    const uint32_t multiple =
        value == nullptr ? 1 : static_cast<uint32_t>(file_.size(*value, "ensure_multiple_of", kMaxSize));
    if (multiple == 0) file_.refuse("ensure_multiple_of is 0");
    const bool keeps = flag("keep_aspect_ratio", false);
    if (format.steps.empty() || format.steps[0].kind == PictureStepKind::crop) return;
    PictureStep& resize = format.steps[0];
    if (resize.width == 0) file_.refuse("size of one side is not supported");
    if (keeps) {
      resize.kind = PictureStepKind::resize_evenly;
      resize.multiple = multiple;
      return;
    }
    // To even at a half, as Python rounds.
    for (uint32_t* side : {&resize.height, &resize.width})
      *side = std::max(
          multiple, static_cast<uint32_t>(std::nearbyint(static_cast<double>(*side) / multiple)) * multiple);
  }
  /// YOLOS's: the shorter side, and a bound of the longer one. A picture alone is not filled up.
  void read_bounds(const Processor& processor, PictureFormat& format) {
    for (const char* key : {"format", "do_convert_annotations", "pad_and_return_pixel_mask"}) find(key);
    flag("do_pad", true);
    if (const json* size = find("pad_size")) file_.refuse("pad_size {} is not supported", size->dump());
    const json *size = find("size"), *most = find("max_size");
    if (!flag("do_resize", true)) return;
    const bool exact = size != nullptr && size->is_object() && size->contains("height");
    if (exact) return read_size(processor, format);
    PictureStep& resize = add(PictureStepKind::resize_bounded, format);
    resize.filter = resample(processor);
    resize.height = kYolosShorter;
    resize.most = kYolosLonger;
    resize.multiple = kYolosMultiple;
    if (size != nullptr && size->is_object()) {
      if (!size->contains("shortest_edge") || !size->contains("longest_edge") || size->size() != 2)
        file_.refuse_value("size", size, "shortest_edge and longest_edge, or height and width");
      resize.height = side(*size, "size", "shortest_edge");
      resize.most = side(*size, "size", "longest_edge");
    } else if (size != nullptr) {
      resize.height = static_cast<uint32_t>(file_.size(*size, "size", kMaxSize));
      if (most != nullptr) resize.most = static_cast<uint32_t>(file_.size(*most, "max_size", kMaxSize));
    }
    if (resize.height == 0 || resize.most == 0) file_.refuse("size has a side of 0");
  }
  uint32_t edge_of(const std::string& key, const char* edge, uint32_t fallback) {
    const json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_object()) file_.refuse_value(key, value, "an object");
    for (const auto& [name, number] : value->items()) {
      if (name != "longest_edge" && name != "shortest_edge" && name != "min_pixels" && name != "max_pixels")
        file_.refuse("{}.{} is not understood", key, name);
    }
    if (!value->contains(edge) || (*value)[edge].is_null()) return fallback;
    return static_cast<uint32_t>(file_.size((*value)[edge], key, kMaxPixels));
  }

  const json* find(const std::string& key) {
    known_.insert(key);
    return file_.find(values_, key);
  }
  bool flag(const std::string& key, bool otherwise) {
    known_.insert(key);
    return file_.flag(values_, key, otherwise);
  }
  double number(const std::string& key, double otherwise) {
    const json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_number()) file_.refuse_value(key, value, "a number");
    return value->get<double>();
  }
  std::vector<float> list(const std::string& key, uint32_t count) {
    const json* value = find(key);
    if (value == nullptr || !value->is_array() || value->size() != count)
      file_.refuse_value(key, value, fmt::format("a list of {} numbers", count));
    std::vector<float> numbers;
    for (const json& one : *value) {
      if (!one.is_number()) file_.refuse_value(key, value, "a list of numbers");
      numbers.push_back(one.get<float>());
    }
    return numbers;
  }

  const Processor* kind(std::span<const Processor> processors) {
    std::string name;
    for (const char* key : {"image_processor_type", "feature_extractor_type"}) {
      const json* value = find(key);
      if (name.empty() && value != nullptr && value->is_string()) name = value->get<std::string>();
    }
    for (const Processor& processor : processors) {
      if (name.starts_with(processor.name)) return &processor;
    }
    return nullptr;
  }

  uint32_t side(const json& size, const std::string& key, const char* name) {
    if (!size.contains(name)) file_.refuse_value(key, &size, "height and width, or shortest_edge");
    return static_cast<uint32_t>(file_.size(size[name], key, kMaxSize));
  }
  Size size_of(const std::string& key, bool shorter_side) {
    const json* value = find(key);
    if (value == nullptr) file_.refuse_value(key, value, "a size");
    Size size{};
    if (value->is_number()) {
      size.height = static_cast<uint32_t>(file_.size(*value, key, kMaxSize));
      if (!shorter_side) size.width = size.height;
    } else if (value->is_object() && value->size() == 1) {
      size.height = side(*value, key, "shortest_edge");
    } else if (value->is_object() && value->size() == 2) {
      size = {side(*value, key, "height"), side(*value, key, "width")};
      if (size.width == 0) file_.refuse("{} has a width of 0", key);
    } else {
      file_.refuse_value(key, value, "height and width, or shortest_edge");
    }
    if (size.height == 0) file_.refuse("{} is 0", key);
    return size;
  }
  uint32_t resample(const Processor& processor) {
    const json* value = find("resample");
    const uint64_t filter = value == nullptr ? processor.resample : file_.size(*value, "resample");
    if (filter < kLanczos || filter > kBicubic)
      file_.refuse("resample {} is not supported, 1 (Lanczos), 2 (bilinear) and 3 (bicubic) are", filter);
    return static_cast<uint32_t>(filter);
  }
  void finish() {
    // Where arrays come from and go to; what labels of training are.
    const std::set<std::string> harmless = {
        "processor_class", "do_convert_rgb", "return_tensors", "data_format", "input_data_format", "device",
        "disable_grouping", "do_reduce_labels", "reduce_labels", "_valid_processor_keys", "default_to_square",
        // Settings of steps that are off.
        "size", "crop_size", "resample", "rescale_factor", "image_mean", "image_std"};
    for (const auto& [key, value] : values_.items()) {
      if (!value.is_null() && known_.count(key) == 0 && harmless.count(key) == 0)
        file_.refuse("key {} is not understood", key);
    }
  }

  const json& values_;
  JsonFile file_;
  std::set<std::string> known_;
};

}  // namespace

void read_preprocessor(const Source& source, TransformerSpec& spec, std::vector<std::string>& notes) {
  PictureFormat& format = spec.picture.format;
  const auto settings = read_picture_settings(source);
  const auto takes_values = [&](std::string why) {
    if (source.picture_size.height != 0) fail("--picture-size: {}", why);
    notes.push_back(why + ": the file takes pixel values, but no pictures");
  };
  if (!settings)
    return takes_values("there is no preprocessor_config.json or processor_config.json of pictures");
  if (!Preprocessor(settings->keys, settings->where).read(format))
    return takes_values("its image processor is not known");
  const PictureStep& first = format.steps[0];
  const bool bounded = first.kind == PictureStepKind::resize_bounded;
  if (source.picture_size.height != 0 && !bounded && first.kind != PictureStepKind::resize_evenly)
    fail("--picture-size is for models whose pictures keep their ratio in a size a file; {} leaves no choice",
         settings->where);
  if (first.kind == PictureStepKind::resize_longer) return;
  if (first.kind == PictureStepKind::resize_pixels) {
    const uint32_t rows = first.most / (format.patch * format.patch);
    spec.context = std::clamp(rows, format.rows(), spec.context);
    return;
  }
  if (first.kind == PictureStepKind::resize_patches) {
    spec.context = std::max(spec.context, format.before + first.most + format.after);
    return;
  }
  uint32_t height = format.height, width = format.width;  // of the sizes that there may be, the model's own
  for (const PictureStep& step : format.steps) {
    if (step.height == 0 || step.kind == PictureStepKind::resize_bounded) continue;
    height = step.height;
    width = step.width;
  }
  if (source.picture_size.height != 0) {
    height = source.picture_size.height;
    width = source.picture_size.width;
    if (uint64_t{height} * width > kMostSeen)
      fail("--picture-size {}x{}: pictures have at most {} pixels", width, height, kMostSeen);
  }
  if (height == format.height && width == format.width) return;
  const bool whole = width != 0 && height % format.patch == 0 && width % format.patch == 0;
  if (format.any_size && whole) {
    format.height = height;
    format.width = width;
    spec.context = std::max(spec.context, format.rows());
    return;
  }
  if (!spec.picture.resizes_positions || width == 0 || height % format.patch != 0 ||
      width % format.patch != 0) {
    fail(
        "{}: pictures become {} x {} pixels, the model takes {} x {}; positions of another size are not "
        "supported",
        settings->where, width, height, format.width, format.height);
  }
  spec.picture.table = {format.height / format.patch, format.width / format.patch};
  format.height = height;
  format.width = width;
  spec.context = format.rows();
}

void take_any_size(const Source& source, TransformerSpec& spec) {
  PictureSpec& picture = spec.picture;
  PictureFormat& format = picture.format;
  const auto [height, width] = source.any_picture_size;
  if (format.height == 0 || spec.source ||
      (!format.any_size && !picture.takes_any_size && !picture.resizes_in_run))
    fail(
        "--any-picture-size: pictures of any size are not supported for this model; those with positions "
        "that are resized are");
  const uint32_t unit = format.patch * format.merge;
  if (height % unit != 0 || width % unit != 0 || uint64_t{height} * width > kMostSeen)
    fail("--any-picture-size {}x{}: sides are multiples of {}, of at most {} pixels", width, height, unit,
         kMostSeen);
  if (picture.resizes_in_run) {
    picture.table = {format.height / format.patch, format.width / format.patch};
    format.any_size = true;
  } else if (!format.any_size) {
    if (format.height != format.width)
      fail("--any-picture-size: the model's positions are of {} x {} pixels, those of a square are supported",
           format.width, format.height);
    format.positions_side = format.height / format.patch;
    format.any_size = format.positions_cubic = true;
  }
  spec.context =
      std::max(format.rows(), format.before + format.after + height / format.patch * (width / format.patch));
}

}  // namespace mote::convert
