// Cuts a byte stream into NUL-ended frames, each of bounded size.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// The largest frame taken from a browser: a heap snapshot or a trace in one reply can be tens of megabytes.
inline constexpr std::size_t max_cdp_frame_bytes = std::size_t{256} << 20;

/// Feed bytes in any portions, take whole frames out. Each byte is looked at once, whatever the portions.
class cdp_frame_buffer {
  public:
    explicit cdp_frame_buffer(std::size_t limit = max_cdp_frame_bytes) : limit_(limit) {}

    /// Adds bytes. False when the frame in progress is over the limit: the stream cannot go on.
    bool append(std::string_view bytes);
    /// The next whole frame without its NUL; absent when none is complete.
    std::optional<std::string> next();
    /// Bytes held that belong to a frame not yet complete, or to frames not yet taken.
    std::size_t held() const { return bytes_.size() - taken_; }

  private:
    std::size_t limit_;
    std::string bytes_;
    std::size_t taken_ = 0;       ///< start of the next frame
    std::size_t scanned_ = 0;     ///< no NUL in [taken_, scanned_)
    std::size_t open_since_ = 0;  ///< start of the frame that is not complete yet
};

}  // namespace assay
