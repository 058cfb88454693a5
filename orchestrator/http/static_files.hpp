// The pages, modules, shaders and wasm that the server gives out: read, digested and compressed once, at start. What is
// not in the table does not exist, so no request's path ever reaches the file system.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "http/memory_file.hpp"

namespace assay::http {

/// One folder served below one path.
struct static_mount {
    std::string prefix;  ///< "/", "/shaders/": begins and ends with '/'
    std::filesystem::path folder;
};

/// One file as served.
struct static_file {
    std::string path;  ///< "/arm/index.html"
    std::string media_type;
    std::string bytes;
    std::string gzip_bytes;  ///< empty where compression does not pay
    std::string sha256;
    std::string etag;  ///< strong: the quoted SHA-256
    std::string gzip_etag;
    std::string location;  ///< set: answered by a permanent redirect to this path
    std::string headers;   ///< the headers that never change, each ended by CR LF
    std::shared_ptr<const memory_file> kernel_bytes;  ///< `bytes` once more, for sendfile(); null for small files
};

/// The files of every mount, and the corpora published at run time. Lookups are safe from any thread.
class static_files {
  public:
    /// Reads every regular file below the mounts; hidden names and links that leave the folder are left out. An
    /// unreadable folder is an error; more than `max_bytes` altogether is too_large.
    static result<std::unique_ptr<static_files>> load(const std::vector<static_mount>& mounts,
                                                      std::size_t max_bytes = std::size_t{512} << 20);

    /// The file at a path (without query), or nothing. Folders answer with their index.html; the dashboard's own paths
    /// ("/receipts/...") answer with its page.
    std::shared_ptr<const static_file> find(std::string_view path) const;

    /// SHA-256 by path of what an arm's page may load: everything but the dashboard's own files.
    std::vector<std::pair<std::string, std::string>> asset_digests() const;

    /// Serves a corpus at /corpus/<sha256>; returns that path.
    std::string publish_corpus(const std::string& bytes, std::string_view sha256);

    std::size_t file_count() const { return files_.size(); }

  private:
    static_files() = default;
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    using table = std::unordered_map<std::string, std::shared_ptr<const static_file>, text_hash, std::equal_to<>>;

    table files_;
    table names_;  ///< every path that answers, aliases included
    std::shared_ptr<const static_file> dashboard_;
    mutable std::mutex corpora_mutex_;
    table corpora_;
};

/// Headers of every answer: cross-origin isolation, content policy, no sniffing. `is_page` adds the page's own policy.
std::string_view security_headers(bool is_page);

}  // namespace assay::http
