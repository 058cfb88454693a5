#include "http/static_files.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "http/gzip.hpp"
#include "http/media_type.hpp"
#include "receipt/digest.hpp"

namespace assay::http {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t min_bytes_to_compress = 1024;
constexpr std::size_t min_bytes_for_kernel = 64 * 1024;  // below, one copy costs less than a second system call

/// Paths that the dashboard's page handles itself.
constexpr std::array<std::string_view, 8> dashboard_paths{"/receipts", "/runs",      "/compare",  "/curve",
                                                          "/trends",   "/schedules", "/machines", "/run"};

bool is_dashboard_path(std::string_view path) {
    return std::any_of(dashboard_paths.begin(), dashboard_paths.end(), [&](std::string_view known) {
        return path == known || (path.starts_with(known) && path.size() > known.size() && path[known.size()] == '/');
    });
}

std::shared_ptr<const static_file> make_file(std::string path, std::string media_type, std::string bytes,
                                             std::string sha256, bool immutable) {
    auto file = std::make_shared<static_file>();
    file->path = std::move(path);
    file->media_type = std::move(media_type);
    file->bytes = std::move(bytes);
    file->sha256 = std::move(sha256);
    file->etag = "\"" + file->sha256 + "\"";
    file->gzip_etag = "\"" + file->sha256 + "-gzip\"";
    if (!immutable && file->bytes.size() >= min_bytes_to_compress && is_compressible(file->media_type)) {
        file->gzip_bytes = gzip(file->bytes, 6);
        if (file->gzip_bytes.size() * 10 > file->bytes.size() * 9) file->gzip_bytes.clear();
    }
    if (file->bytes.size() >= min_bytes_for_kernel) file->kernel_bytes = memory_file::of(file->bytes);
    file->headers = "Content-Type: " + file->media_type + "\r\n";
    // no-cache: stored, but asked about each time by its tag, so that a rebuilt page is never mixed with an old one
    file->headers +=
        immutable ? "Cache-Control: public, max-age=31536000, immutable\r\n" : "Cache-Control: no-cache\r\n";
    if (!file->gzip_bytes.empty()) file->headers += "Vary: Accept-Encoding\r\n";
    file->headers += security_headers(file->media_type.starts_with("text/html"));
    return file;
}

/// True where `path`, links resolved, lies inside `folder`.
bool lies_inside(const fs::path& path, const fs::path& folder) {
    std::error_code failed;
    const auto resolved = fs::canonical(path, failed);
    if (failed) return false;
    const auto root = fs::canonical(folder, failed);
    if (failed) return false;
    const auto mismatch = std::mismatch(root.begin(), root.end(), resolved.begin(), resolved.end());
    return mismatch.first == root.end();
}

}  // namespace

std::string_view security_headers(bool is_page) {
    // Each page holds its scripts in files; wasm needs its own word; workers of the thread pool come from blobs too.
    static constexpr std::string_view page =
        "Cross-Origin-Opener-Policy: same-origin\r\n"
        "Cross-Origin-Embedder-Policy: require-corp\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\n"
        "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
        "connect-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'\r\n"
        "Referrer-Policy: no-referrer\r\n"
        "X-Content-Type-Options: nosniff\r\n";
    // A worker's script carries its own policy, so scripts get the same words as pages do, less what only pages use.
    static constexpr std::string_view other =
        "Cross-Origin-Opener-Policy: same-origin\r\n"
        "Cross-Origin-Embedder-Policy: require-corp\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\n"
        "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
        "connect-src 'self'\r\n"
        "X-Content-Type-Options: nosniff\r\n";
    return is_page ? page : other;
}

result<std::unique_ptr<static_files>> static_files::load(const std::vector<static_mount>& mounts,
                                                         std::size_t max_bytes) {
    std::unique_ptr<static_files> loaded(new static_files);
    std::size_t total = 0;
    for (const auto& mount : mounts) {
        std::error_code failed;
        fs::recursive_directory_iterator walk(mount.folder, failed);
        if (failed)
            return error{error_code::io_error,
                         "Cannot read the served folder " + mount.folder.string() + ": " + failed.message()};
        for (; walk != fs::recursive_directory_iterator(); walk.increment(failed)) {
            if (failed) return error{error_code::io_error, "Cannot walk " + mount.folder.string()};
            if (walk->path().filename().string().starts_with('.')) {
                if (walk->is_directory(failed)) walk.disable_recursion_pending();
                continue;
            }
            if (!walk->is_regular_file(failed) || !lies_inside(walk->path(), mount.folder)) continue;
            std::ifstream input(walk->path(), std::ios::binary);
            std::string bytes{std::istreambuf_iterator<char>(input), {}};
            if (!input.good() && !input.eof())
                return error{error_code::io_error, "Cannot read " + walk->path().string()};
            total += bytes.size();
            if (total > max_bytes)
                return error{error_code::too_large,
                             "The served folders hold more than " + std::to_string(max_bytes >> 20) + " MiB"};
            std::string path = mount.prefix + walk->path().lexically_relative(mount.folder).generic_string();
            const std::string type(media_type_of(path));
            auto digest = sha256_hex(bytes);
            loaded->files_[path] = make_file(path, type, std::move(bytes), std::move(digest), false);
        }
    }
    for (const auto& [path, file] : loaded->files_) loaded->names_.insert_or_assign(path, file);
    for (const auto& [path, file] : loaded->files_) {
        constexpr std::string_view index = "index.html";
        if (path.ends_with("/index.html")) {
            const auto folder = path.substr(0, path.size() - index.size());
            loaded->names_.emplace(folder, file);
            if (folder.size() > 1) {
                // Without its last '/' a folder's page would resolve its own relative addresses one level too high.
                auto redirect = std::make_shared<static_file>();
                redirect->path = folder.substr(0, folder.size() - 1);
                redirect->location = folder;
                redirect->headers = "Location: " + folder + "\r\n" + std::string(security_headers(false));
                loaded->names_.emplace(redirect->path, std::move(redirect));
            }
        }
        constexpr std::string_view dashboard = "/dashboard/";
        if (path.starts_with(dashboard)) loaded->names_.emplace(path.substr(dashboard.size() - 1), file);
    }
    if (const auto found = loaded->files_.find("/dashboard/index.html"); found != loaded->files_.end()) {
        loaded->dashboard_ = found->second;
        loaded->names_.emplace("/", found->second);
    }
    return loaded;
}

std::shared_ptr<const static_file> static_files::find(std::string_view path) const {
    if (const auto found = names_.find(path); found != names_.end()) return found->second;
    if (path.starts_with("/corpus/")) {
        const std::lock_guard lock(corpora_mutex_);
        const auto found = corpora_.find(path);
        return found == corpora_.end() ? nullptr : found->second;
    }
    if (dashboard_ && is_dashboard_path(path)) return dashboard_;
    return nullptr;
}

std::vector<std::pair<std::string, std::string>> static_files::asset_digests() const {
    std::vector<std::pair<std::string, std::string>> digests;
    for (const auto& [path, file] : files_)
        if (!path.starts_with("/dashboard/") && !path.starts_with("/site/") && !path.starts_with("/api/")) digests.emplace_back(path, file->sha256);
    std::sort(digests.begin(), digests.end());
    return digests;
}

std::string static_files::publish_corpus(const std::string& bytes, std::string_view sha256) {
    std::string path = "/corpus/" + std::string(sha256);
    auto file = make_file(path, "application/octet-stream", bytes, std::string(sha256), true);
    const std::lock_guard lock(corpora_mutex_);
    corpora_.insert_or_assign(path, std::move(file));
    return path;
}

}  // namespace assay::http
