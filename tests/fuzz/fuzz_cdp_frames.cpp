// The browser's pipe: however the bytes arrive, the same frames come out.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "browser/cdp_frame_buffer.hpp"
#include "fuzz.hpp"

namespace {

constexpr std::size_t limit = 256;

/// The frames of `bytes` in portions of at most `portion`; absent where a frame was over the limit.
std::optional<std::vector<std::string>> frames_of(std::string_view bytes, std::size_t portion, bool take_at_once) {
    assay::cdp_frame_buffer buffer(limit);
    std::vector<std::string> frames;
    while (!bytes.empty()) {
        const auto part = bytes.substr(0, portion);
        if (!buffer.append(part)) return std::nullopt;
        bytes.remove_prefix(part.size());
        while (take_at_once) {
            auto frame = buffer.next();
            if (!frame) break;
            frames.push_back(std::move(*frame));
        }
    }
    while (auto frame = buffer.next()) frames.push_back(std::move(*frame));
    return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t portion = data[0] + std::size_t{1};
    const auto bytes = assay::fuzz::text_of(data + 1, size - 1);
    const auto in_portions = frames_of(bytes, portion, true), kept = frames_of(bytes, portion, false);
    assay::fuzz::must(in_portions == kept);
    if (!in_portions) return 0;
    std::string joined;
    for (const auto& frame : *in_portions) {
        assay::fuzz::must(frame.size() <= limit && frame.find('\0') == std::string::npos);
        joined.append(frame).push_back('\0');
    }
    assay::fuzz::must(bytes.substr(0, joined.size()) == joined);
    return 0;
}
