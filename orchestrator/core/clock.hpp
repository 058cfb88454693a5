// Time is a parameter: everything that asks for it takes a clock.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace assay {

using utc_time = std::chrono::system_clock::time_point;

/// The two clocks of a process.
class clock {
  public:
    virtual ~clock() = default;
    virtual utc_time now() const = 0;
    virtual std::chrono::steady_clock::time_point steady_now() const = 0;
};

/// The machine's own clocks.
class real_clock final : public clock {
  public:
    utc_time now() const override { return std::chrono::system_clock::now(); }
    std::chrono::steady_clock::time_point steady_now() const override { return std::chrono::steady_clock::now(); }
};

/// RFC 3339 in UTC with milliseconds: "2026-11-30T21:37:27.123Z".
std::string format_utc(utc_time time);

/// Reads what format_utc writes, with or without the fraction.
result<utc_time> parse_utc(std::string_view text);

}  // namespace assay
