#include "receipt/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace assay {
namespace {

class open_file {
  public:
    open_file(const char* path, int flags, unsigned mode = 0) : descriptor_(::open(path, flags | O_CLOEXEC, mode)) {}
    ~open_file() { close(); }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    int descriptor() const { return descriptor_; }
    explicit operator bool() const { return descriptor_ >= 0; }
    bool close() {
        const int descriptor = std::exchange(descriptor_, -1);
        return descriptor < 0 || ::close(descriptor) == 0;
    }

  private:
    int descriptor_;
};

error io_failure(const std::filesystem::path& path, std::string_view verb, int cause) {
    return {cause == ENOENT ? error_code::not_found : error_code::io_error,
            "cannot " + std::string(verb) + " " + path.string() + ": " + std::strerror(cause)};
}

bool write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool flush_folder(const std::filesystem::path& folder) {
    open_file opened(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
    return opened && ::fsync(opened.descriptor()) == 0;
}

std::string temporary_name(const std::filesystem::path& path) {
    static std::atomic<unsigned> counter{0};  // two threads of one process never share a name
    return path.string() + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

}  // namespace

result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes, unsigned mode,
                                   when_present rule) {
    const std::string temporary = temporary_name(path);
    const auto give_up = [&](std::string_view verb) -> error {
        const int cause = errno;
        ::unlink(temporary.c_str());
        return io_failure(path, verb, cause);
    };
    open_file file(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!file) return give_up("create");
    if (::fchmod(file.descriptor(), mode) != 0) return give_up("set the permissions of");
    if (!write_all(file.descriptor(), bytes)) return give_up("write");
    if (::fsync(file.descriptor()) != 0 || !file.close()) return give_up("flush");
    if (rule == when_present::replace) {
        if (::rename(temporary.c_str(), path.c_str()) != 0) return give_up("name");
    } else {
        // link() refuses an existing name, which rename() would overwrite.
        if (::link(temporary.c_str(), path.c_str()) != 0) {
            if (errno != EEXIST) return give_up("name");
            ::unlink(temporary.c_str());
            return error{error_code::conflict, path.string() + " exists already"};
        }
        ::unlink(temporary.c_str());
    }
    if (!flush_folder(path.parent_path())) return io_failure(path.parent_path(), "flush", errno);
    return {};
}

result<std::string> read_whole_file(const std::filesystem::path& path, std::size_t limit) {
    open_file file(path.c_str(), O_RDONLY);
    if (!file) return io_failure(path, "read", errno);
    struct stat status {};
    if (::fstat(file.descriptor(), &status) != 0) return io_failure(path, "read", errno);
    if (S_ISDIR(status.st_mode)) return io_failure(path, "read", EISDIR);
    std::string out;
    char block[1 << 16];
    for (;;) {
        const auto got = ::read(file.descriptor(), block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return io_failure(path, "read", errno);
        if (got == 0) return out;
        out.append(block, static_cast<std::size_t>(got));
        if (out.size() > limit)
            return error{error_code::too_large, path.string() + " is larger than " + std::to_string(limit) + " bytes"};
    }
}

}  // namespace assay
