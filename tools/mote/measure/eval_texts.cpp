// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/eval_texts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include "host/base/error.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

constexpr size_t kTextsAtOnce = 64;

std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns(1);
  for (const char c : line) {
    if (c == '\t') {
      columns.emplace_back();
    } else {
      columns.back() += c;
    }
  }
  return columns;
}

template <class Number>
std::optional<Number> parse(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Lines of `columns` columns; the first is left out if `is_header` says so.
template <class IsHeader>
std::vector<std::vector<std::string>> read_table(const std::string& path, size_t columns, uint64_t limit,
                                                 IsHeader is_header) {
  std::vector<std::vector<std::string>> rows;
  uint64_t number = 0;
  for_each_line(path, [&](const std::string& line) {
    ++number;
    std::vector<std::string> row = columns_of(line);
    if (row.size() != columns) {
      convert::fail("{}: line {} has {} columns, expected {} with tabs between", path, number, row.size(),
                    columns);
    }
    if ((number == 1 && is_header(row)) || (limit != 0 && rows.size() == limit)) return;
    rows.push_back(std::move(row));
  });
  if (rows.empty()) convert::fail("{}: no lines to score", path);
  return rows;
}

/// Calls use(row of the table, first row of outputs) for column `column`, in order.
template <class Use>
void encode_column(TextEncoder& encoder, const std::vector<std::vector<std::string>>& rows, size_t column,
                   const char* stage, Use use) {
  for (size_t first = 0; first < rows.size(); first += kTextsAtOnce) {
    show_progress(stage, static_cast<double>(first) / static_cast<double>(rows.size()));
    std::vector<EncodedText> texts;
    for (size_t i = first; i < std::min(first + kTextsAtOnce, rows.size()); ++i) {
      texts.push_back(encoder.tokenize(rows[i][column]));
    }
    encoder.encode(texts, [&](size_t i, uint32_t row) { use(first + i, row); });
  }
  clear_progress();
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    for (end = first + 1; end < order.size() && values[order[end]] == values[order[first]];) ++end;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
  }
  return ranks;
}

}  // namespace

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx * yy > 0 ? xy / std::sqrt(xx * yy) : 0.0;
}

LabelScore score_labels(const ModelFile& file, TextEncoder& encoder, const std::string& path,
                        uint64_t limit) {
  if (encoder.output().kind != MOTE_OUTPUT_SEQUENCE_LABELS) convert::fail("{} labels no texts", file.path());
  const uint32_t labels = encoder.output().labels;
  if (labels < 2) convert::fail("{} has a single label: there is nothing to choose", file.path());
  const auto label_of = [&](const std::string& name) -> std::optional<uint32_t> {
    for (uint32_t i = 0; i < labels; ++i) {
      if (name == mote_model_label(file.model(), i)) return i;
    }
    const auto index = parse<uint32_t>(name);
    return index && *index < labels ? index : std::nullopt;
  };
  const auto rows = read_table(path, 2, limit, [&](const auto& row) { return row[1] == "label"; });
  std::vector<uint32_t> expected;
  for (const auto& row : rows) {
    const auto label = label_of(row[1]);
    if (!label) convert::fail("{}: \"{}\" is no label of {}", path, one_line(row[1]), file.path());
    expected.push_back(*label);
  }
  LabelScore score;
  std::vector<uint64_t> hits(labels), given(labels), found(labels);
  encode_column(encoder, rows, 0, "accuracy", [&](size_t i, uint32_t row) {
    const std::vector<float> logits = encoder.row(row);
    const auto best = static_cast<uint32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    ++score.lines;
    ++given[expected[i]];
    ++found[best];
    score.right += best == expected[i];
    hits[best] += best == expected[i];
  });
  for (uint32_t i = 0; i < labels; ++i) {
    const double both = static_cast<double>(given[i] + found[i]);
    score.f1.push_back(both == 0 ? 0.0 : 2 * static_cast<double>(hits[i]) / both);
    score.macro_f1 += score.f1.back() / labels;
  }
  return score;
}

PairScore score_pairs(TextEncoder& encoder, const std::string& path, uint64_t limit) {
  if (encoder.output().kind != MOTE_OUTPUT_EMBEDDING)
    convert::fail("--spearman takes a model that gives vectors");
  const auto rows = read_table(path, 3, limit, [](const auto& row) { return !parse<double>(row[2]); });
  std::vector<double> expected, cosines;
  for (const auto& row : rows) {
    const auto score = parse<double>(row[2]);
    if (!score) convert::fail("{}: \"{}\" is no score", path, one_line(row[2]));
    expected.push_back(*score);
  }
  std::vector<std::vector<float>> first;
  encode_column(encoder, rows, 0, "first texts",
                [&](size_t, uint32_t row) { first.push_back(encoder.row(row)); });
  encode_column(encoder, rows, 1, "second texts",
                [&](size_t i, uint32_t row) { cosines.push_back(host::cosine(first[i], encoder.row(row))); });
  return {rows.size(), spearman(expected, cosines)};
}

}  // namespace mote::cli
