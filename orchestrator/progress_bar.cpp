#include "progress_bar.hpp"

#include <algorithm>
#include <cstdio>

#include "contract/run_facts.hpp"

namespace assay {
namespace {

constexpr int bar_width = 24;

std::string number(const char* form, double value) {
    char text[48];
    std::snprintf(text, sizeof text, form, value);
    return text;
}

std::string arm_of(int index, int count, const std::string& arm) {
    return arm.empty() ? std::string() : "arm " + std::to_string(index + 1) + "/" + std::to_string(count) + "  " + arm + "  ";
}

}  // namespace

void progress_bar::take(std::string_view kind, std::string_view json_text) {
    if (kind == "steps") {
        const auto steps = parse_progress_steps(json_text);
        if (!steps || steps->wall_ms.empty() || steps->asked <= 0) return;
        const int done = std::min(steps->asked, steps->first + static_cast<int>(steps->wall_ms.size()));
        const std::string where = arm_of(steps->arm_index, steps->arm_count, steps->arm) + steps->phase;
        if (!is_terminal_) {
            if (where != last_said_) out_ << where << "\n" << std::flush;
            last_said_ = where;
            return;
        }
        const int filled = bar_width * done / steps->asked;
        std::string line = where + "  [" + std::string(static_cast<std::size_t>(filled), '#') +
                           std::string(static_cast<std::size_t>(bar_width - filled), '.') + "] " + std::to_string(done) +
                           "/" + std::to_string(steps->asked) + "  " + number("%.2f ms", steps->wall_ms.back());
        if (!steps->loss.empty()) line += "  loss " + number("%.4f", steps->loss.back());
        draw(line);
    } else if (kind == "state" || kind == "done") {
        const auto state = parse_progress_state(json_text);
        if (!state) return;
        const std::string line = arm_of(state->arm_index, state->arm_count, state->arm) +
                                 (state->phase.empty() ? state->state : state->phase);
        if (is_terminal_)
            draw(line);
        else if (kind == "done")
            out_ << state->state << "\n" << std::flush;
    } else if (kind == "log") {
        const auto log = parse_progress_log(json_text);
        if (!log) return;
        clear();
        out_ << log->level << ": " << log->message << "\n" << std::flush;
    }
}

void progress_bar::draw(const std::string& line) {
    out_ << '\r' << line;
    if (line.size() < drawn_) out_ << std::string(drawn_ - line.size(), ' ');
    drawn_ = line.size();
    out_ << std::flush;
}

void progress_bar::clear() {
    if (drawn_ > 0) out_ << '\r' << std::string(drawn_, ' ') << '\r' << std::flush;
    drawn_ = 0;
}

}  // namespace assay
