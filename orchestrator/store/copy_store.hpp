// A whole store into another one, and a backup beside the running service.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"

namespace assay {

/// How many rows of a table were copied and found equal.
struct copied_table {
    std::string name;
    std::int64_t rows = 0;
};

/// Copies every row of the store `from` into the empty store `to` (either kind), then reads both back and compares them
/// cell by cell, all before the target's one transaction commits: a failure leaves the target empty. The source's
/// writers wait meanwhile. conflict when the target holds anything; corrupt names the first row that differs.
result<std::vector<copied_table>> copy_store(std::string_view from, std::string_view to, const clock& time);

/// Writes a consistent copy of the store to a new SQLite file while the service runs, checks it, and gives it its name
/// in one step. conflict when the file exists.
result<void> back_up_store(std::string_view url, const std::filesystem::path& file, const clock& time);

}  // namespace assay
