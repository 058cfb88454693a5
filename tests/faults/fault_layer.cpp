// A faulty system layer for tests: loaded before the C library, it lets writes below one folder fail, or cuts the pipes to
// browsers, while a switch file says so.
//   ASSAY_FAULT_HOME    the folder; its profiles/ are left alone, since a browser's own files are not what is tested
//   ASSAY_FAULT_SWITCH  while this file exists, writes and syncs fail with the error it names, "ENOSPC" or "EIO"; with "CUT"
//                       reads from a browser's pipe find its end and writes to it a broken pipe
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool below_home(int descriptor) {
    const char* home = std::getenv("ASSAY_FAULT_HOME");
    if (home == nullptr) return false;
    char link[64], path[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t length = ::readlink(link, path, sizeof path - 1);
    if (length <= 0) return false;
    path[length] = '\0';
    const std::size_t size = std::strlen(home);
    return std::strncmp(path, home, size) == 0 && std::strncmp(path + size, "/profiles", 9) != 0;
}

/// The switch file begins with this word.
bool switched_to(const char* word) {
    const char* file = std::getenv("ASSAY_FAULT_SWITCH");
    if (file == nullptr || ::access(file, F_OK) != 0) return false;
    static const auto real_read = next<ssize_t (*)(int, void*, size_t)>("read");
    const int opened = ::open(file, O_RDONLY | O_CLOEXEC);
    char text[16] = {};
    const ssize_t got = opened >= 0 ? real_read(opened, text, sizeof text - 1) : 0;
    if (opened >= 0) ::close(opened);
    return got > 0 && std::strncmp(text, word, std::strlen(word)) == 0;
}

/// Only the service gives its pipes this size; the browser, which inherits this layer, holds their other ends.
bool is_cut(int descriptor) {
    constexpr int service_pipe_bytes = 1 << 20;
    struct stat about {};
    return std::strcmp(program_invocation_short_name, "assay") == 0 && ::fstat(descriptor, &about) == 0 && S_ISFIFO(about.st_mode) &&
           ::fcntl(descriptor, F_GETPIPE_SZ) == service_pipe_bytes && switched_to("CUT");
}

/// The error to fail with, or 0.
int wanted_error(int descriptor) {
    if (is_cut(descriptor)) return EPIPE;
    if (!below_home(descriptor)) return 0;
    if (switched_to("EIO")) return EIO;
    return switched_to("ENOSPC") ? ENOSPC : 0;
}

}  // namespace

extern "C" {

ssize_t read(int descriptor, void* bytes, size_t size) {
    static const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
    if (is_cut(descriptor)) return 0;
    return real(descriptor, bytes, size);
}

ssize_t readv(int descriptor, const iovec* parts, int count) {
    static const auto real = next<ssize_t (*)(int, const iovec*, int)>("readv");
    if (is_cut(descriptor)) return 0;
    return real(descriptor, parts, count);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
    if (const int why = wanted_error(descriptor)) return errno = why, -1;
    return real(descriptor, bytes, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
    static const auto real = next<ssize_t (*)(int, const iovec*, int)>("writev");
    if (const int why = wanted_error(descriptor)) return errno = why, -1;
    return real(descriptor, parts, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
    if (const int why = wanted_error(descriptor)) return errno = why, -1;
    return real(descriptor, bytes, size, offset);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
    static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
    if (const int why = wanted_error(descriptor)) return errno = why, -1;
    return real(descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
    static const auto real = next<int (*)(int)>("fsync");
    if (const int why = wanted_error(descriptor)) return errno = why, -1;
    return real(descriptor);
}

int fdatasync(int descriptor) {
    static const auto real = next<int (*)(int)>("fdatasync");
    if (const int why = wanted_error(descriptor)) return errno = why, -1;
    return real(descriptor);
}
}
