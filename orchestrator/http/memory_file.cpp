#include "http/memory_file.hpp"

#ifdef __linux__
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace assay::http {

std::shared_ptr<const memory_file> memory_file::of(std::string_view bytes) {
    const int descriptor = ::memfd_create("assay-served-file", MFD_CLOEXEC);
    if (descriptor < 0) return nullptr;
    std::shared_ptr<const memory_file> file(new memory_file(descriptor));
    while (!bytes.empty()) {
        const auto written = ::write(descriptor, bytes.data(), bytes.size());
        if (written <= 0) return nullptr;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return file;
}

memory_file::~memory_file() {
    ::close(descriptor_);
}

send_progress send_head(int socket, std::string_view bytes, std::size_t& sent) {
    while (sent < bytes.size()) {
        const auto count = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_MORE | MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0)
            sent += static_cast<std::size_t>(count);
        else if (errno == EAGAIN)
            return send_progress::would_block;
        else if (errno != EINTR)
            return send_progress::failed;
    }
    return send_progress::all;
}

send_progress send_memory_file(int socket, const memory_file& file, std::size_t size, std::size_t& sent) {
    while (sent < size) {
        auto offset = static_cast<off_t>(sent);
        const auto count = ::sendfile(socket, file.descriptor(), &offset, size - sent);
        if (count > 0)
            sent = static_cast<std::size_t>(offset);
        else if (count == 0)
            return send_progress::failed;
        else if (errno == EAGAIN)
            return send_progress::would_block;
        else if (errno != EINTR)
            return send_progress::failed;
    }
    return send_progress::all;
}

}  // namespace assay::http

#else

namespace assay::http {

std::shared_ptr<const memory_file> memory_file::of(std::string_view) {
    return nullptr;
}
memory_file::~memory_file() = default;
send_progress send_head(int, std::string_view, std::size_t&) {
    return send_progress::failed;
}
send_progress send_memory_file(int, const memory_file&, std::size_t, std::size_t&) {
    return send_progress::failed;
}

}  // namespace assay::http

#endif
