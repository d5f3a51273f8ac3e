// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <time.h>

#include <array>
#include <cstdio>

#include "host/chat/jinja/template.h"

namespace mote::convert::jinja {
namespace {

constexpr std::array<const char*, 12> kMonths = {"January",   "February", "March",    "April",
                                                 "May",       "June",     "July",     "August",
                                                 "September", "October",  "November", "December"};
constexpr std::array<const char*, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                              "Thursday", "Friday", "Saturday"};

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_of_month(int year, int month) {
  constexpr std::array<int, 12> kLengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kLengths[static_cast<size_t>(month - 1)] + (month == 2 && is_leap(year) ? 1 : 0);
}

int day_of_year(const Time& time) {
  int days = time.day;
  for (int month = 1; month < time.month; ++month) days += days_of_month(time.year, month);
  return days;
}

/// 0 is Sunday.
int day_of_week(const Time& time) {
  const int before = time.year - 1;
  return (before * 365 + before / 4 - before / 100 + before / 400 + day_of_year(time)) % 7;
}

int hour_of_12(const Time& time) { return time.hour % 12 == 0 ? 12 : time.hour % 12; }

/// The value of a letter, with zeros or, after %-, without.
std::string digits(int value, int width, char flag) {
  if (flag == '-') return std::to_string(value);
  return flag == '_' ? fmt::format("{:>{}}", value, width) : fmt::format("{:0>{}}", value, width);
}

/// Empty where the letter is no number.
std::string show_number(char letter, char flag, const Time& time) {
  const int day = day_of_week(time);
  switch (letter) {
    case 'Y':
      return digits(time.year, 1, flag);
    case 'm':
      return digits(time.month, 2, flag);
    case 'd':
      return digits(time.day, 2, flag);
    case 'e':
      return digits(time.day, 2, flag == 0 ? '_' : flag);
    case 'H':
      return digits(time.hour, 2, flag);
    case 'I':
      return digits(hour_of_12(time), 2, flag);
    case 'M':
      return digits(time.minute, 2, flag);
    case 'S':
      return digits(time.second, 2, flag);
    case 'y':
      return digits(time.year % 100, 2, flag);
    case 'j':
      return digits(day_of_year(time), 3, flag);
    case 'f':
      return digits(time.microsecond, 6, 0);
    case 'w':
      return std::to_string(day);
    case 'u':
      return std::to_string(day == 0 ? 7 : day);
    default:
      break;
  }
  return "";
}

std::string show(char letter, char flag, const Time& time) {
  if (std::string number = show_number(letter, flag, time); !number.empty()) return number;
  const auto month = static_cast<size_t>(time.month - 1);
  const auto day = static_cast<size_t>(day_of_week(time));
  if (flag != 0) unsupported("the format %{}{} of strftime_now", flag, letter);
  switch (letter) {
    case 'B':
      return kMonths[month];
    case 'b':
    case 'h':
      return std::string(kMonths[month]).substr(0, 3);
    case 'A':
      return kDays[day];
    case 'a':
      return std::string(kDays[day]).substr(0, 3);
    case 'p':
      return time.hour < 12 ? "AM" : "PM";
    case 'Z':
    case 'z':
      return "";
    case 'n':
      return "\n";
    case 't':
      return "\t";
    case '%':
      return "%";
    case 'D':
    case 'x':
      return format_time("%m/%d/%y", time);
    case 'F':
      return format_time("%Y-%m-%d", time);
    case 'T':
    case 'X':
      return format_time("%H:%M:%S", time);
    case 'R':
      return format_time("%H:%M", time);
    case 'c':
      return format_time("%a %b %e %H:%M:%S %Y", time);
    default:
      unsupported("the format %{} of strftime_now", letter);
  }
}

}  // namespace

std::string format_time(const std::string& format, const Time& time) {
  std::string out;
  for (size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out += format[at];
      continue;
    }
    char flag = 0;
    if (at + 1 < format.size() && (format[at + 1] == '-' || format[at + 1] == '_')) flag = format[++at];
    if (at + 1 >= format.size()) unsupported("a format of strftime_now that ends in %");
    out += show(format[++at], flag, time);
  }
  return out;
}

Time parse_time(const std::string& text) {
  Time time;
  std::array<char, 2> rest{};
  const auto fits = [&] {
    return time.year >= 1 && time.year <= 9999 && time.month >= 1 && time.month <= 12 && time.day >= 1 &&
           time.day <= days_of_month(time.year, time.month) && time.hour >= 0 && time.hour < 24 &&
           time.minute >= 0 && time.minute < 60 && time.second >= 0 && time.second < 60;
  };
  const int read = sscanf(text.c_str(), "%4d-%2d-%2d%*[T ]%2d:%2d:%2d%1s", &time.year, &time.month, &time.day,
                          &time.hour, &time.minute, &time.second, rest.data());
  const bool whole = (read == 3 && text.size() == 10) || (read == 5 && text.size() == 16) ||
                     (read == 6 && text.size() == 19);
  if (!whole || !fits())
    fail("'{}' is no date; expected one such as 2026-11-25 or 2026-11-25T09:30:00", text);
  return time;
}

Time current_time() {
  const time_t now = ::time(nullptr);
  struct tm parts = {};
  localtime_r(&now, &parts);
  return {
      parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, 0};
}

}  // namespace mote::convert::jinja
