#include "schedule/time_zone.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "schedule/zone_rule_days.hpp"

namespace assay {
namespace {

using std::chrono::seconds;

constexpr std::size_t max_zone_bytes = 1 << 20;

/// Big-endian reader that answers zero past the end and remembers it.
class byte_reader {
  public:
    explicit byte_reader(std::string_view bytes) : bytes_(bytes) {}
    std::int64_t number(std::size_t width) {
        if (bytes_.size() < width) {
            failed_ = true;
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[i]);
        bytes_.remove_prefix(width);
        if (width == 4) return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
        return static_cast<std::int64_t>(value);
    }
    void skip(std::size_t count) {
        if (bytes_.size() < count) failed_ = true;
        bytes_.remove_prefix(std::min(count, bytes_.size()));
    }
    std::string_view rest() const { return bytes_; }
    bool failed() const { return failed_; }

  private:
    std::string_view bytes_;
    bool failed_ = false;
};

struct zone_header {
    char version = 0;
    std::size_t universal = 0, standard = 0, leaps = 0, transitions = 0, types = 0, characters = 0;
};

std::optional<zone_header> read_header(byte_reader& reader) {
    if (!reader.rest().starts_with("TZif")) return std::nullopt;
    reader.skip(4);
    zone_header header;
    header.version = static_cast<char>(reader.number(1));
    reader.skip(15);
    for (std::size_t* count :
         {&header.universal, &header.standard, &header.leaps, &header.transitions, &header.types, &header.characters}) {
        const auto value = reader.number(4);
        if (value < 0 || static_cast<std::size_t>(value) > max_zone_bytes) return std::nullopt;
        *count = static_cast<std::size_t>(value);
    }
    if (reader.failed() || header.types == 0) return std::nullopt;
    return header;
}

}  // namespace

result<time_zone> time_zone::parse(std::string_view bytes) {
    const error corrupt{error_code::corrupt, "These bytes are not a compiled time zone"};
    byte_reader reader(bytes);
    auto header = read_header(reader);
    if (!header) return corrupt;
    std::size_t time_width = 4;
    if (header->version >= '2') {
        // The first block has 32-bit times for old readers; the second has everything.
        reader.skip(header->transitions * 5 + header->types * 6 + header->characters + header->leaps * 8 +
                    header->standard + header->universal);
        header = read_header(reader);
        if (!header) return corrupt;
        time_width = 8;
    }
    time_zone zone;
    for (std::size_t i = 0; i < header->transitions && !reader.failed(); ++i)
        zone.transitions_.push_back(reader.number(time_width));
    std::vector<std::size_t> kinds;
    for (std::size_t i = 0; i < header->transitions && !reader.failed(); ++i)
        kinds.push_back(static_cast<std::size_t>(reader.number(1)));
    std::vector<seconds> offsets;
    for (std::size_t i = 0; i < header->types && !reader.failed(); ++i) {
        offsets.emplace_back(reader.number(4));
        reader.skip(2);
    }
    reader.skip(header->characters + header->leaps * (time_width + 4) + header->standard + header->universal);
    if (reader.failed() || !std::is_sorted(zone.transitions_.begin(), zone.transitions_.end())) return corrupt;
    for (const auto kind : kinds) {
        if (kind >= offsets.size()) return corrupt;
        zone.offsets_.push_back(offsets[kind]);
    }
    zone.first_offset_ = offsets.front();
    if (time_width == 8 && reader.rest().starts_with('\n')) {
        const auto footer = reader.rest().substr(1);
        const auto text = footer.substr(0, footer.find('\n'));
        if (!text.empty()) {
            auto rule = parse_zone_rule(text);
            if (!rule) return corrupt;
            zone.rule_ = *rule;
        }
    }
    return zone;
}

seconds time_zone::offset_at(sys_seconds moment) const {
    const auto count = moment.time_since_epoch().count();
    const auto after = std::upper_bound(transitions_.begin(), transitions_.end(), count);
    if (after == transitions_.end() && rule_) return offset_by_rule(*rule_, moment);
    if (after == transitions_.begin()) return first_offset_;
    return offsets_[static_cast<std::size_t>(after - transitions_.begin() - 1)];
}

local_seconds time_zone::to_local(sys_seconds moment) const {
    return local_seconds((moment + offset_at(moment)).time_since_epoch());
}

local_meaning time_zone::meaning_of(local_seconds local) const {
    // No zone is further than 26 hours from UTC, so the offsets in force around it are those a day and more either
    // side.
    const sys_seconds as_utc(local.time_since_epoch());
    const auto earliest = as_utc - std::chrono::hours(26), latest = as_utc + std::chrono::hours(26);
    std::vector<seconds> offsets;
    for (auto at = earliest; at <= latest; at += std::chrono::hours(1)) {
        const auto offset = offset_at(at);
        if (std::find(offsets.begin(), offsets.end(), offset) == offsets.end()) offsets.push_back(offset);
    }
    local_meaning meaning;
    for (const auto offset : offsets) {
        const auto moment = as_utc - offset;
        if (offset_at(moment) == offset) meaning.moments.push_back(moment);
    }
    std::sort(meaning.moments.begin(), meaning.moments.end());
    if (meaning.moments.empty()) {
        // The first moment whose local time is later than the one asked for, by bisection between both offsets.
        auto low = as_utc - *std::max_element(offsets.begin(), offsets.end()) - seconds(1);
        auto high = as_utc - *std::min_element(offsets.begin(), offsets.end()) + seconds(1);
        while (high - low > seconds(1)) {
            const auto middle = low + (high - low) / 2;
            (to_local(middle) > local ? high : low) = middle;
        }
        meaning.after_gap = high;
    }
    return meaning;
}

result<time_zone> load_time_zone(std::string_view name, const std::filesystem::path& database) {
    if (name == "UTC" || name == "Etc/UTC") return time_zone();
    const bool plain = !name.empty() && name.size() <= 64 && name.front() != '/' && name.find("..") == name.npos &&
                       std::all_of(name.begin(), name.end(), [](char c) {
                           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                  c == '/' || c == '_' || c == '-' || c == '+';
                       });
    if (!plain)
        return error{error_code::invalid_argument,
                     "'" + std::string(name) + "' is not the name of a time zone",
                     {},
                     "Use an IANA name, Europe/Berlin say, or UTC."};
    const auto path = database / std::string(name);
    std::error_code failed;
    std::ifstream input(path, std::ios::binary);
    if (!std::filesystem::is_regular_file(path, failed) || !input)
        return error{error_code::not_found,
                     "This system knows no time zone '" + std::string(name) + "'",
                     {},
                     "Use an IANA name, Europe/Berlin say, or UTC; the package tzdata has them."};
    const std::string bytes{std::istreambuf_iterator<char>(input), {}};
    return time_zone::parse(bytes);
}

}  // namespace assay
