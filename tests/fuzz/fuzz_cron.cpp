// Schedules: the cron expression, the time zone's compiled file and its rule. Input: flag byte, then text or bytes.
#include "fuzz.hpp"
#include "schedule/cron.hpp"

namespace {

constexpr assay::sys_seconds some_day{std::chrono::seconds{1'700'000'000}};

void check_zone(const assay::time_zone& zone, std::int64_t moment) {
    const assay::sys_seconds at{std::chrono::seconds{moment}};
    const auto local = zone.to_local(at);
    // A forged file may turn its clock back more than once in a day; each moment must still show the time asked for.
    for (const auto moment_of_local : zone.meaning_of(local).moments)
        assay::fuzz::must(zone.to_local(moment_of_local) == local);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto text = assay::fuzz::text_of(data + 1, size - 1);
    if (data[0] % 3 == 0) {
        const auto cron = assay::cron_expression::parse(text);
        if (!cron) return 0;
        const auto next = cron->next_after(some_day, assay::time_zone());
        if (!next) return 0;
        assay::fuzz::must(*next > some_day);
        assay::fuzz::must(next->time_since_epoch().count() % 60 == 0);
    } else if (data[0] % 3 == 1) {
        if (const auto zone = assay::time_zone::parse(text)) {
            check_zone(*zone, 0);
            check_zone(*zone, 1'700'000'000);
        }
    } else {
        (void)assay::parse_zone_rule(text);
    }
    return 0;
}
