#include "core/ids.hpp"

#include <array>

#include "core/clock.hpp"
#include "core/random.hpp"

namespace assay {
namespace {

constexpr std::string_view crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t id_length = 26;

}  // namespace

std::string make_sortable_id(const clock& time, random_source& random) {
    const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(time.now().time_since_epoch());
    auto milliseconds = static_cast<std::uint64_t>(since_epoch.count()) & 0xffffffffffffULL;
    std::string id(id_length, '0');
    for (int at = 9; at >= 0; --at) {
        id[static_cast<std::size_t>(at)] = crockford[milliseconds & 31];
        milliseconds >>= 5;
    }
    std::array<std::byte, 16> noise{};
    random.fill(noise);
    for (std::size_t at = 10; at < id_length; ++at) id[at] = crockford[std::to_integer<unsigned>(noise[at - 10]) & 31];
    return id;
}

bool is_sortable_id(std::string_view text) {
    return text.size() == id_length && text.find_first_not_of(crockford) == std::string_view::npos && text[0] <= '7';
}

}  // namespace assay
