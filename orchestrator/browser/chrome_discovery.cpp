#include "browser/chrome_discovery.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace assay {

namespace fs = std::filesystem;

host_system this_system() {
#ifdef __APPLE__
    return host_system::mac_os;
#else
    return host_system::linux_os;
#endif
}

std::optional<std::string> process_environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

bool is_executable_file(const fs::path& path) {
    std::error_code failure;
    return fs::is_regular_file(path, failure) && ::access(path.c_str(), X_OK) == 0;
}

namespace {

void add_mac_candidates(std::vector<browser_candidate>& all, const environment_lookup& environment) {
    struct application {
        const char* channel;
        const char* name;
    };
    constexpr application applications[] = {{"stable", "Google Chrome"},
                                            {"beta", "Google Chrome Beta"},
                                            {"dev", "Google Chrome Dev"},
                                            {"canary", "Google Chrome Canary"},
                                            {"testing", "Google Chrome for Testing"},
                                            {"chromium", "Chromium"}};
    std::vector<fs::path> roots{"/Applications"};
    const auto home = environment("HOME");
    if (home) roots.push_back(fs::path(*home) / "Applications");
    for (const auto& [channel, name] : applications)
        for (const auto& root : roots) all.push_back({channel, root / (std::string(name) + ".app") / "Contents/MacOS" / name});
    for (const char* folder : {"/opt/homebrew/bin", "/usr/local/bin"}) {
        all.push_back({"chromium", fs::path(folder) / "chromium"});
        all.push_back({"headless-shell", fs::path(folder) / "chrome-headless-shell"});
    }
}

void add_linux_candidates(std::vector<browser_candidate>& all, const environment_lookup& environment) {
    all.push_back({"stable", "/opt/google/chrome/chrome"});
    all.push_back({"beta", "/opt/google/chrome-beta/chrome"});
    all.push_back({"dev", "/opt/google/chrome-unstable/chrome"});
    all.push_back({"canary", "/opt/google/chrome-canary/chrome"});
    // Debian's own binary comes before its start script, which looks at the machine anew at each launch.
    all.push_back({"chromium", "/usr/lib/chromium/chromium"});
    all.push_back({"chromium", "/usr/lib/chromium-browser/chromium-browser"});
    all.push_back({"chromium", "/usr/lib64/chromium-browser/chromium-browser"});
    struct name_on_path {
        const char* channel;
        const char* name;
    };
    constexpr name_on_path names[] = {{"stable", "google-chrome-stable"},   {"stable", "google-chrome"},
                                      {"beta", "google-chrome-beta"},       {"dev", "google-chrome-unstable"},
                                      {"canary", "google-chrome-canary"},   {"chromium", "chromium"},
                                      {"chromium", "chromium-browser"},     {"headless-shell", "chromium-headless-shell"},
                                      {"headless-shell", "chrome-headless-shell"}, {"headless-shell", "headless_shell"}};
    const std::string path = environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
    for (const auto& [channel, name] : names) {
        std::string rest = path;
        while (!rest.empty()) {
            const auto colon = rest.find(':');
            const std::string folder = rest.substr(0, colon);
            if (!folder.empty()) all.push_back({channel, fs::path(folder) / name});
            rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
        }
    }
    all.push_back({"headless-shell", "/usr/lib/chromium/chromium-headless-shell"});
    all.push_back({"headless-shell", "/headless-shell/headless-shell"});
    all.push_back({"chromium", "/snap/bin/chromium"});
}

}  // namespace

std::vector<browser_candidate> browser_candidates(host_system system, const environment_lookup& environment) {
    std::vector<browser_candidate> all;
    for (const char* variable : {"ASSAY_BROWSER", "CHROME"})
        if (const auto path = environment(variable)) all.push_back({variable, *path});
    if (system == host_system::mac_os)
        add_mac_candidates(all, environment);
    else
        add_linux_candidates(all, environment);
    return all;
}

std::vector<found_browser> find_browsers(host_system system, const environment_lookup& environment,
                                         const file_check& exists) {
    std::vector<found_browser> found;
    for (const auto& candidate : browser_candidates(system, environment)) {
        if (!exists(candidate.path)) continue;
        std::error_code failure;
        const fs::path real = fs::weakly_canonical(candidate.path, failure);
        const auto same = [&](const found_browser& other) {
            std::error_code ignored;
            return other.path == candidate.path || fs::weakly_canonical(other.path, ignored) == real;
        };
        if (std::none_of(found.begin(), found.end(), same))
            found.push_back({candidate.channel, candidate.path, flavour_of(candidate.path), std::nullopt});
    }
    return found;
}

result<found_browser> choose_browser(const std::optional<std::string>& asked, host_system system,
                                     const environment_lookup& environment, const file_check& exists) {
    if (asked) {
        if (!exists(*asked))
            return error{error_code::browser_not_found, "there is no browser at '" + *asked + "'", "--browser",
                         "Give the path of a Chrome or Chromium executable, or leave the flag out."};
        return found_browser{"asked", *asked, flavour_of(*asked), std::nullopt};
    }
    for (const char* variable : {"ASSAY_BROWSER", "CHROME"})
        if (const auto path = environment(variable); path && !exists(*path))
            return error{error_code::browser_not_found,
                         "the environment variable " + std::string(variable) + " names '" + *path +
                             "', which is no executable file",
                         variable, "Correct the variable or unset it."};
    auto found = find_browsers(system, environment, exists);
    if (!found.empty()) return std::move(found.front());
    return error{error_code::browser_not_found,
                 "no Chrome or Chromium was found in " + std::to_string(browser_candidates(system, environment).size()) +
                     " usual places",
                 {},
                 system == host_system::mac_os ? "Install Google Chrome, or give --browser PATH."
                                            : "Install the package chromium, or give --browser PATH."};
}

std::optional<std::string> read_browser_version(const fs::path& path, system_commands& commands) {
    const auto output = commands.output_of({path.string(), "--version"});
    if (!output) return std::nullopt;
    // "Google Chrome 156.0.8078.114 ", "Chromium 156.0.8078.114 built on Debian ...": up to the first word with dots.
    std::string version;
    std::size_t at = 0;
    while (at < output->size() && (*output)[at] != '\n') {
        const auto end = std::min(output->find_first_of(" \n", at), output->size());
        const std::string word = output->substr(at, end - at);
        if (!version.empty() && !word.empty()) version += ' ';
        version += word;
        if (std::count(word.begin(), word.end(), '.') >= 2) return version;
        at = end + ((end < output->size() && (*output)[end] == ' ') ? 1 : 0);
    }
    return std::nullopt;
}

}  // namespace assay
