// Environment variables that C++ reads. The default is used for an invalid value, which Python
// reports at import (PyGPU/_runtime/settings.py accepts the same values).
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace PyGPU {

// Return the value of a variable without leading and trailing blanks. Return an empty string if the
// variable is not set.
inline std::string setting_text(const char* name) {
  const char* const value = std::getenv(name);
  std::string text = value ? value : "";
  const auto first = text.find_first_not_of(" \t\r\n\f\v");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n\f\v") - first + 1);
}

// Read an integer at position `at` of the text, and move `at` past its digits. Return false if
// there is no digit or the integer is above `maximum`.
inline bool read_digits(const std::string& text, std::size_t& at, std::uint64_t maximum,
                        std::uint64_t& number) {
  const std::size_t first = at;
  for (number = 0; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    const auto digit = std::uint64_t(text[at] - '0');
    if (number > (maximum - digit) / 10) return false;
    number = number * 10 + digit;
  }
  return at > first;
}

// Return an integer setting: "65536", "512M", "1GB" or "1.5G", with at most six digits after the
// point. Return `fallback` for other texts, and for numbers below `minimum` or above `maximum`.
inline std::uint64_t number_setting(const char* name, std::uint64_t fallback, std::uint64_t minimum,
                                    std::uint64_t maximum) {
  const std::string text = setting_text(name);
  std::size_t at = 0;
  std::uint64_t whole = 0, fraction = 0, decimals = 1;
  if (!read_digits(text, at, maximum, whole)) return fallback;
  if (at < text.size() && text[at] == '.') {
    const std::size_t first = ++at;
    if (!read_digits(text, at, 999999, fraction) || at - first > 6) return fallback;
    for (std::size_t i = first; i < at; ++i) decimals *= 10;
  }
  const std::string units = "KMGT";
  std::uint64_t unit = 1;
  if (at < text.size()) {
    const auto found = units.find(char(std::toupper(static_cast<unsigned char>(text[at]))));
    if (found != std::string::npos) unit <<= 10 * (found + 1), ++at;
    if (at < text.size() && std::toupper(static_cast<unsigned char>(text[at])) == 'B') ++at;
  }
  if (at < text.size() || fraction * unit % decimals || whole > maximum / unit) return fallback;
  const std::uint64_t rest = fraction * unit / decimals, number = whole * unit;
  return rest > maximum - number || number + rest < minimum ? fallback : number + rest;
}

// Return true for "1", false for "0", and `fallback` for other texts.
inline bool switch_setting(const char* name, bool fallback) {
  const std::string text = setting_text(name);
  return text == "0" || text == "1" ? text == "1" : fallback;
}

}  // namespace PyGPU
