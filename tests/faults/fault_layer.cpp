// A faulty file layer for tests: loaded before the C library, it lets writes below one folder fail while a switch file says so.
//   ASSAY_FAULT_HOME    the folder; its profiles/ are left alone, since a browser's own files are not what is tested
//   ASSAY_FAULT_SWITCH  while this file exists, writes and syncs fail with the error it names: "ENOSPC" or "EIO"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
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

/// The error to fail with, or 0.
int wanted_error(int descriptor) {
    const char* file = std::getenv("ASSAY_FAULT_SWITCH");
    if (file == nullptr || ::access(file, F_OK) != 0 || !below_home(descriptor)) return 0;
    const int opened = ::open(file, O_RDONLY | O_CLOEXEC);
    char text[16] = {};
    const ssize_t got = opened >= 0 ? ::read(opened, text, sizeof text - 1) : 0;
    if (opened >= 0) ::close(opened);
    if (got <= 0) return 0;
    return std::strncmp(text, "EIO", 3) == 0 ? EIO : ENOSPC;
}

}  // namespace

extern "C" {

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
