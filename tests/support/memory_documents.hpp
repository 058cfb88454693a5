// Documents in memory, for tests of what keeps them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "run/document_store.hpp"

namespace assay::test {

class memory_documents final : public document_store {
  public:
    result<void> put(std::string_view kind, std::string_view id, std::string_view text) override {
        documents[{std::string(kind), std::string(id)}] = text;
        return {};
    }
    result<std::optional<std::string>> get(std::string_view kind, std::string_view id) override {
        const auto found = documents.find({std::string(kind), std::string(id)});
        if (found == documents.end()) return std::optional<std::string>();
        return std::optional<std::string>(found->second);
    }
    result<std::vector<std::pair<std::string, std::string>>> list(std::string_view kind) override {
        std::vector<std::pair<std::string, std::string>> found;
        for (const auto& [key, text] : documents)
            if (key.first == kind) found.emplace_back(key.second, text);
        return found;
    }
    result<void> remove(std::string_view kind, std::string_view id) override {
        documents.erase({std::string(kind), std::string(id)});
        return {};
    }

    std::map<std::pair<std::string, std::string>, std::string> documents;
};

}  // namespace assay::test
