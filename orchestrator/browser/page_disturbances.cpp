#include "browser/page_disturbances.hpp"

#include <nlohmann/json.hpp>

namespace assay {

using json = nlohmann::json;

namespace {

std::string cut(std::string text) {
    if (text.size() > max_console_line_bytes) {
        text.resize(max_console_line_bytes);
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
        if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
        text += " ...";
    }
    return text;
}

error page_error(std::string message, std::string reason) {
    return error{error_code::page_failed, cut(std::move(message)), {}, {}, std::move(reason)};
}

std::string text_at(const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// One argument of a console call, as a person would read it.
std::string argument_text(const json& argument) {
    if (const auto value = argument.find("value"); value != argument.end())
        return value->is_string() ? value->get<std::string>() : value->dump(-1, ' ', false, json::error_handler_t::replace);
    const auto described = text_at(argument, "description");
    return described.empty() ? text_at(argument, "type") : described;
}

page_observation look_at_console(const json& parameters) {
    page_observation seen;
    const auto type = text_at(parameters, "type");
    std::string line = type + ":";
    if (const auto arguments = parameters.find("args"); arguments != parameters.end() && arguments->is_array())
        for (const auto& argument : *arguments) line += " " + argument_text(argument);
    seen.line = cut(line);
    if (type == "error" || type == "assert") seen.failure = page_error("the page reported a console " + line, "console-error");
    return seen;
}

page_observation look_at_log(const json& parameters, std::string_view url) {
    page_observation seen;
    const json entry = parameters.value("entry", json::object());
    const auto level = text_at(entry, "level"), source = text_at(entry, "source"), text = text_at(entry, "text");
    const auto about = text_at(entry, "url");
    seen.line = cut(source + " " + level + ": " + text + (about.empty() ? "" : " (" + about + ")"));
    if (level != "error") return seen;
    if (source == "network") {
        // A missing icon does no harm; a missing page does. A missing script shows as the page's own error.
        if (about == url) seen.failure = page_error("the arm's page could not be loaded: " + text, "page-unreachable");
        return seen;
    }
    seen.failure = page_error("the browser logged an error for the page: " + *seen.line, "console-error");
    return seen;
}

page_observation look_at_navigation(const json& parameters, std::string_view url, bool& navigated) {
    page_observation seen;
    const json frame = parameters.value("frame", json::object());
    if (frame.contains("parentId")) return seen;
    if (const auto wanted = text_at(frame, "unreachableUrl"); !wanted.empty()) {
        seen.failure = page_error("the arm's page at " + wanted + " could not be loaded", "page-unreachable");
        return seen;
    }
    const auto where = text_at(frame, "url");
    if (!navigated && where == "about:blank" && url != "about:blank") return seen;  // the empty first document
    if (navigated || where != url)
        seen.failure = page_error("the page navigated away to " + where + " while its arm was open", "navigated-away");
    navigated = true;
    return seen;
}

}  // namespace

std::string exception_text(const json& details) {
    if (const auto exception = details.find("exception"); exception != details.end() && exception->is_object()) {
        const auto described = text_at(*exception, "description");
        if (!described.empty()) return cut(described);
        if (exception->contains("value")) return cut(argument_text(*exception));
    }
    const auto text = text_at(details, "text");
    return text.empty() ? "an exception without words" : cut(text);
}

error page_crash(std::string_view status, int code) {
    if (status == "oom")
        return error{error_code::browser_crashed, "the page's process ran out of memory", {}, {}, "out-of-memory"};
    std::string message = "the page's process ended";
    if (!status.empty()) message += " (" + std::string(status) + ", code " + std::to_string(code) + ")";
    return error{error_code::browser_crashed, message, {}, {}, "page-crashed"};
}

bool says_out_of_memory(const std::vector<std::string>& lines) {
    // V8's heap, Blink's heap and PartitionAlloc each have their words for it.
    constexpr std::string_view words[] = {"V8 javascript OOM", "V8 process OOM", "heap out of memory", "Out of memory", "out of memory"};
    for (const std::string& line : lines)
        for (const std::string_view word : words)
            if (line.find(word) != std::string::npos) return true;
    return false;
}

page_observation look_at_page_event(std::string_view method, const json& parameters, std::string_view url,
                                    bool& navigated) {
    if (method == "Runtime.consoleAPICalled") return look_at_console(parameters);
    if (method == "Log.entryAdded") return look_at_log(parameters, url);
    if (method == "Page.frameNavigated") return look_at_navigation(parameters, url, navigated);
    page_observation seen;
    if (method == "Runtime.exceptionThrown") {
        const auto words = exception_text(parameters.value("exceptionDetails", json::object()));
        seen.line = "exception: " + words;
        seen.failure = page_error("the page threw " + words, "exception");
    } else if (method == "Inspector.targetCrashed") {
        seen.failure = page_crash("", 0);
    } else if (method == "Inspector.detached") {
        seen.failure = page_error("the browser detached from the page: " + text_at(parameters, "reason"), "page-closed");
    } else if (method == "Page.javascriptDialogOpening") {
        const auto type = text_at(parameters, "type");
        seen.line = "dialog " + type + ": " + cut(text_at(parameters, "message"));
        seen.failure = page_error("the page opened a dialog (" + type + "): " + text_at(parameters, "message"), "dialog");
        seen.dismiss_dialog = true;
    }
    return seen;
}

}  // namespace assay
