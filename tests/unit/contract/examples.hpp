// The examples of protocols/, for tests that hold the C++ parsers to them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace assay::test {

/// The texts in protocols/examples/<folder> whose names begin with "<schema>.", by file name.
inline std::map<std::string, std::string> examples(const std::string& folder, const std::string& schema) {
    std::map<std::string, std::string> out;
    const std::filesystem::path root = std::filesystem::path(ASSAY_SOURCE_DIR) / "protocols/examples" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(schema + ".")) continue;
        std::ifstream file(entry.path(), std::ios::binary);
        out[name] = {std::istreambuf_iterator<char>(file), {}};
    }
    return out;
}

}  // namespace assay::test
