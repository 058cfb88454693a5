#include "browser/cdp_frame_buffer.hpp"

#include <algorithm>

namespace assay {

bool cdp_frame_buffer::append(std::string_view bytes) {
    if (taken_ == bytes_.size()) {
        // A buffer that once held a huge reply is given back instead of being kept for small ones.
        if (bytes_.capacity() > (std::size_t{8} << 20)) bytes_ = std::string();
        bytes_.clear();
        taken_ = scanned_ = open_since_ = 0;
    } else if (taken_ > bytes_.size() / 2) {
        bytes_.erase(0, taken_);
        scanned_ -= std::min(scanned_, taken_);
        open_since_ -= taken_;
        taken_ = 0;
    }
    // Only the new bytes can hold an end that was not seen before. A frame over the limit is refused even where it ends
    // in the very portion that carries it past, so that the portions do not decide what is a frame.
    bool within = true;
    for (std::size_t begin = 0;;) {
        const auto end = bytes.find('\0', begin);
        const std::size_t last = std::min(end, bytes.size());
        within = within && bytes_.size() - open_since_ + last <= limit_;
        if (end == std::string_view::npos) break;
        begin = end + 1;
        open_since_ = bytes_.size() + begin;
    }
    bytes_.append(bytes);
    return within;
}

std::optional<std::string> cdp_frame_buffer::next() {
    const auto end = bytes_.find('\0', std::max(scanned_, taken_));
    if (end == std::string::npos) {
        scanned_ = bytes_.size();
        return std::nullopt;
    }
    std::string frame = bytes_.substr(taken_, end - taken_);
    taken_ = scanned_ = end + 1;
    return frame;
}

}  // namespace assay
