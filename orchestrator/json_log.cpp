#include "json_log.hpp"

#include <spdlog/formatter.h>

#include <string>

#include "contract/json_writer.hpp"
#include "core/clock.hpp"

namespace assay {
namespace {

/// The id in "run 01J...: started"; empty where the message is about no run.
std::string_view run_of(std::string_view message) {
    constexpr std::string_view mark = "run ";
    if (!message.starts_with(mark)) return {};
    const auto id = message.substr(mark.size(), message.find_first_of(": ", mark.size()) - mark.size());
    constexpr std::size_t id_length = 26;
    return id.size() == id_length ? id : std::string_view();
}

class json_log_formatter final : public spdlog::formatter {
  public:
    void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override {
        const std::string_view message(line.payload.data(), line.payload.size());
        const auto level = spdlog::level::to_string_view(line.level);
        json_object object;
        object.add("time", format_utc(line.time)).add("level", std::string_view(level.data(), level.size()));
        if (const auto run = run_of(message); !run.empty()) object.add("run", run);
        const std::string text = object.add("message", message).text() + "\n";
        out.append(text.data(), text.data() + text.size());
    }
    std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<json_log_formatter>(); }
};

}  // namespace

std::unique_ptr<spdlog::formatter> make_json_log_formatter() {
    return std::make_unique<json_log_formatter>();
}

}  // namespace assay
