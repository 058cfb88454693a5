#include <cmath>

#include "analysis/export.hpp"
#include "analysis/summary.hpp"
#include "analysis/text.hpp"

namespace assay {
namespace {

constexpr std::size_t max_badge_name = 40;

// Text from outside must not become markup of the table or of the page around it.
std::string markdown_text(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == '\n' || c == '\r') {
            out += ' ';
            continue;
        }
        if (c == '<') {
            out += "&lt;";
            continue;
        }
        if (std::string_view("\\`*_[]|#").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string xml_text(std::string_view text) {
    std::string out;
    for (char c : text) {
        switch (c) {
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&apos;";
                break;
            default:
                // XML 1.0 has no way to write most control characters.
                if (static_cast<unsigned char>(c) >= 0x20) out += c;
        }
    }
    return out;
}

std::string optional_time(const std::optional<double>& milliseconds) {
    return milliseconds ? milliseconds_text(*milliseconds) : "not measured";
}

std::string machine_name(const receipt& document) {
    return document.machine ? document.machine->hostname : "no machine of ours";
}

std::string badge_colour(verdict_result verdict) {
    switch (verdict) {
        case verdict_result::verified:
            return "#1f6b3a";
        case verdict_result::unqualified:
        case verdict_result::inconclusive:
            return "#865a00";
        default:
            return "#a4262c";
    }
}

std::string badge_text(double centre, const std::string& text) {
    return "<text x=\"" + number_text(centre, 5) +
           "\" y=\"14\" fill=\"#fff\" font-family=\"Verdana,sans-serif\" font-size=\"11\" text-anchor=\"middle\">" +
           xml_text(text) + "</text>";
}

// Cut at a character's border, so that what is left is still UTF-8.
std::string shortened(std::string text) {
    if (text.size() <= max_badge_name) return text;
    std::size_t length = max_badge_name;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
    return text.substr(0, length);
}

}  // namespace

std::string markdown_summary(const receipt& document) {
    const analysis_facts& analysis = document.analysis;
    const bool has_arms = document.request.arms.size() == 2;
    const std::string preset = document.request.preset.value_or("custom size");
    std::string out = "### Assay: " + markdown_text(preset) + " on " + markdown_text(machine_name(document)) + ": " +
                      std::string(verdict_name(document.verdict.result)) + "\n\n";
    out += "**" + ratio_text(analysis) + "** (" + std::string(evidence_name(document.evidence)) + ")\n\n";
    out += "| | arm | median step |\n|---|---|---|\n";
    out += "| A | " + (has_arms ? markdown_text(document.request.arms[0]) : "") + " | " +
           optional_time(analysis.a_median_ms) + " |\n";
    out += "| B | " + (has_arms ? markdown_text(document.request.arms[1]) : "") + " | " +
           optional_time(analysis.b_median_ms) + " |\n\n";
    if (analysis.max_loss_drift) out += "Largest loss drift: " + percent_text(*analysis.max_loss_drift) + ".\n";
    for (const reason& item : document.verdict.reasons)
        out += "- `" + item.code + "`: " + markdown_text(item.message) + "\n";
    out += "\nReceipt " + markdown_text(document.id) + ", " + markdown_text(document.created_at);
    if (document.browser) out += ", " + markdown_text(document.browser->product);
    return out + ".\n";
}

std::string svg_badge(const receipt& document) {
    // 6.4 px a character is the mean width of 11 px Verdana.
    const auto width_of = [](const std::string& text) {
        return std::ceil(static_cast<double>(text.size()) * 6.4) + 14;
    };
    const std::string left =
        "assay " + document.request.preset.value_or("custom size") + " on " + shortened(machine_name(document));
    std::string right(verdict_name(document.verdict.result));
    if (document.evidence != evidence_class::measured) right += ", " + std::string(evidence_name(document.evidence));
    if (document.analysis.speedup) right = number_text(*document.analysis.speedup, 3) + "x " + right;
    const double left_width = width_of(left);
    const double right_width = width_of(right);
    const std::string total = number_text(left_width + right_width, 5);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + total +
           "\" height=\"20\" role=\"img\" aria-label=\"" + xml_text(left + ": " + right) + "\"><rect width=\"" +
           number_text(left_width, 5) + "\" height=\"20\" fill=\"#38424a\"/><rect x=\"" + number_text(left_width, 5) +
           "\" width=\"" + number_text(right_width, 5) + "\" height=\"20\" fill=\"" +
           badge_colour(document.verdict.result) + "\"/>" + badge_text(left_width / 2, left) +
           badge_text(left_width + right_width / 2, right) + "</svg>\n";
}

}  // namespace assay
