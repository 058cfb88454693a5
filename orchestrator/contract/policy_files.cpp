#include <algorithm>
#include <fstream>
#include <iterator>

#include "contract/policy.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t max_policy_bytes = 64 * 1024;

bool is_plain_name(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos && name.find('\\') == std::string::npos;
}

std::string names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
        if (entry->path().extension() == ".json") names.push_back(entry->path().stem().string());
    std::sort(names.begin(), names.end());
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

result<std::string> read_policy(const fs::path& folder, const std::string& name, policy_source source, const char* field) {
    const bool is_path = name.find('/') != std::string::npos || name.ends_with(".json");
    if (is_path ? source == policy_source::names_only : !is_plain_name(name))
        return error{error_code::invalid_argument, "'" + name + "' is not the name of a policy", field,
                     "The shipped ones are: " + names_in(folder) + "."};
    const fs::path path = is_path ? fs::path(name) : folder / (name + ".json");
    std::error_code failure;
    if (!fs::is_regular_file(path, failure))
        return error{error_code::not_found, is_path ? "there is no policy file " + name : "there is no policy '" + name + "'",
                     field, "The shipped ones are: " + names_in(folder) + "."};
    if (fs::file_size(path, failure) > max_policy_bytes)
        return error{error_code::too_large, "the policy file " + path.string() + " is over 64 KiB", field};
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) return error{error_code::io_error, "the policy file " + path.string() + " cannot be read", field};
    return text;
}

/// Says which file an error is about.
template <class Policy>
result<Policy> in_file(const std::string& name, result<Policy> parsed) {
    if (parsed) return parsed;
    error why = parsed.error();
    why.message = "policy '" + name + "': " + why.message;
    return why;
}

}  // namespace

result<adapter_policy> load_adapter_policy(const fs::path& folder, const std::string& name, policy_source source) {
    const auto text = read_policy(folder, name, source, "/policy");
    if (!text) return text.error();
    return in_file(name, parse_adapter_policy(*text));
}

result<environment_policy> load_environment_policy(const fs::path& folder, const std::string& name, policy_source source) {
    const auto text = read_policy(folder / "environment", name, source, "/environment_policy");
    if (!text) return text.error();
    return in_file(name, parse_environment_policy(*text));
}

}  // namespace assay
