#include "log_formats.hpp"

#include <spdlog/pattern_formatter.h>

#include <string>
#include <string_view>

#include "contract/json_writer.hpp"
#include "core/clock.hpp"
#include "run/run_log.hpp"

namespace assay {
namespace {

/// The id of the run that the line is about; empty where it is about none.
std::string_view run_of(const spdlog::details::log_msg& line) {
    const std::string_view name(line.logger_name.data(), line.logger_name.size());
    return name == service_log_name ? std::string_view() : name;
}

class json_log_formatter final : public spdlog::formatter {
  public:
    void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override {
        const std::string_view message(line.payload.data(), line.payload.size());
        const auto level = spdlog::level::to_string_view(line.level);
        json_object object;
        object.add("time", format_utc(line.time)).add("level", std::string_view(level.data(), level.size()));
        if (const auto run = run_of(line); !run.empty()) object.add("run", run);
        const std::string text = object.add("message", message).text() + "\n";
        out.append(text.data(), text.data() + text.size());
    }
    std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<json_log_formatter>(); }
};

class run_mark final : public spdlog::custom_flag_formatter {
  public:
    void format(const spdlog::details::log_msg& line, const std::tm&, spdlog::memory_buf_t& out) override {
        const auto run = run_of(line);
        if (run.empty()) return;
        const std::string text = "run " + std::string(run) + ": ";
        out.append(text.data(), text.data() + text.size());
    }
    std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<run_mark>(); }
};

}  // namespace

std::unique_ptr<spdlog::formatter> make_json_log_formatter() {
    return std::make_unique<json_log_formatter>();
}

std::unique_ptr<spdlog::formatter> make_text_log_formatter() {
    auto out = std::make_unique<spdlog::pattern_formatter>();
    out->add_flag<run_mark>('*').set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %*%v");
    return out;
}

}  // namespace assay
