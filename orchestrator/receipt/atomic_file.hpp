// Files that are there whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace assay {

enum class when_present { replace, refuse };

/// Writes `bytes` beside `path`, flushes them to disk, then gives them the name in one step and flushes the folder.
/// Readers see the old file or the new one, never a part. `mode` is the file's permission bits. With
/// when_present::refuse an existing file is a conflict and stays as it is. Other errors are io_error, and leave
/// nothing.
result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes, unsigned mode = 0644,
                                   when_present rule = when_present::replace);

/// The whole content of a file of at most `limit` bytes; not_found, too_large or io_error otherwise.
result<std::string> read_whole_file(const std::filesystem::path& path, std::size_t limit);

}  // namespace assay
