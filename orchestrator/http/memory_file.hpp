// Bytes that the kernel can send by itself.
#pragma once

#include <memory>
#include <string_view>

namespace assay::http {

/// A file without a name, in memory: sendfile() hands its pages to a socket without a copy into our own.
class memory_file {
  public:
    /// Null where the system has no such files (only Linux has) or has no room for one.
    static std::shared_ptr<const memory_file> of(std::string_view bytes);
    ~memory_file();
    memory_file(const memory_file&) = delete;
    memory_file& operator=(const memory_file&) = delete;
    int descriptor() const { return descriptor_; }

  private:
    explicit memory_file(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

/// What came of one attempt to send.
enum class send_progress { all, would_block, failed };

/// Sends `bytes` from `sent` on without waiting, and tells the kernel that more follows; moves `sent`.
send_progress send_head(int socket, std::string_view bytes, std::size_t& sent);
/// The same for the first `size` bytes of a memory file.
send_progress send_memory_file(int socket, const memory_file& file, std::size_t size, std::size_t& sent);

}  // namespace assay::http
