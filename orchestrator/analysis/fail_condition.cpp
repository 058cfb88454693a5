#include "analysis/fail_condition.hpp"

#include <charconv>
#include <cmath>

namespace assay {
namespace {

error wrong(std::string message) {
    return {error_code::invalid_argument, std::move(message), "--fail-if", "Write it like \"ratio<0.95\"."};
}

bool is_space(char c) {
    return c == ' ' || c == '\t';
}
bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A cursor over the text; every read skips the spaces before it.
class reader {
  public:
    explicit reader(std::string_view text) : rest_(text) {}

    bool at_end() {
        skip_spaces();
        return rest_.empty();
    }
    std::string_view rest() const { return rest_; }
    bool take(std::string_view token) {
        skip_spaces();
        if (!rest_.starts_with(token)) return false;
        // A word must end where it ends: "order" is not "or".
        if (is_name_character(token.front()) && rest_.size() > token.size() && is_name_character(rest_[token.size()]))
            return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    std::string_view take_name() {
        skip_spaces();
        std::size_t length = 0;
        while (length < rest_.size() && is_name_character(rest_[length])) ++length;
        const std::string_view name = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return name;
    }
    bool take_number(double& out) {
        skip_spaces();
        const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
        if (failure != std::errc() || !std::isfinite(out)) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return true;
    }

  private:
    void skip_spaces() {
        while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    }
    std::string_view rest_;
};

result<fail_term> read_term(reader& from) {
    fail_term term;
    term.name = from.take_name();
    if (term.name.empty()) return wrong("a figure's name is missing at \"" + std::string(from.rest()) + "\"");
    for (const char* candidate : {"<=", ">=", "==", "!=", "<", ">"}) {
        if (!from.take(candidate)) continue;
        term.comparison = candidate;
        break;
    }
    if (term.comparison.empty()) return wrong("after \"" + term.name + "\" one of < <= > >= == != must stand");
    if (!from.take_number(term.number))
        return wrong("after \"" + term.name + term.comparison + "\" a number must stand");
    return term;
}

bool holds(const fail_term& term, double value) {
    if (term.comparison == "<") return value < term.number;
    if (term.comparison == "<=") return value <= term.number;
    if (term.comparison == ">") return value > term.number;
    if (term.comparison == ">=") return value >= term.number;
    if (term.comparison == "==") return value == term.number;
    return value != term.number;
}

}  // namespace

result<fail_condition> parse_fail_condition(std::string_view text) {
    reader from(text);
    fail_condition out;
    out.alternatives.emplace_back();
    while (true) {
        auto term = read_term(from);
        if (!term) return term.error();
        out.alternatives.back().push_back(std::move(*term));
        if (from.at_end()) return out;
        if (from.take("or") || from.take("||"))
            out.alternatives.emplace_back();
        else if (!from.take("and") && !from.take("&&"))
            return wrong("\"" + std::string(from.rest()) + "\" does not belong there");
    }
}

result<bool> fail_condition_holds(const fail_condition& condition, const std::map<std::string, double>& figures) {
    bool any = false;
    for (const auto& alternative : condition.alternatives) {
        bool all = true;
        for (const fail_term& term : alternative) {
            const auto figure = figures.find(term.name);
            if (figure == figures.end()) {
                std::string known;
                for (const auto& [name, value] : figures) known += (known.empty() ? "" : ", ") + name;
                return wrong("there is no figure \"" + term.name + "\" here; there are " +
                             (known.empty() ? "none" : known));
            }
            all = all && holds(term, figure->second);
        }
        any = any || all;
    }
    return any;
}

}  // namespace assay
