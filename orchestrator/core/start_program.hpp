// Starting another program: a process group of its own, no shell, only the descriptors it is given.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace assay {

/// Owns one file descriptor.
class unique_descriptor {
  public:
    unique_descriptor() = default;
    explicit unique_descriptor(int descriptor) : descriptor_(descriptor) {}
    unique_descriptor(unique_descriptor&& other) noexcept : descriptor_(other.release()) {}
    unique_descriptor& operator=(unique_descriptor&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    ~unique_descriptor() { reset(); }
    int get() const { return descriptor_; }
    bool valid() const { return descriptor_ >= 0; }
    int release() { return std::exchange(descriptor_, -1); }
    void reset(int descriptor = -1);

  private:
    int descriptor_ = -1;
};

struct descriptor_pair {
    unique_descriptor read_end, write_end;
};

/// A pipe that no child inherits by itself, its descriptors above every number that a child is given.
result<descriptor_pair> make_pipe();

/// What becomes descriptor `number` in the child. `ours` may not be the `number` of an entry before it.
struct given_descriptor {
    int ours = -1;
    int number = -1;
};

struct program_start {
    std::string program;                                           ///< a path, or a name to find on PATH
    std::vector<std::string> arguments;                            ///< after the program's name
    std::vector<std::pair<std::string, std::string>> environment;  ///< added to, or replacing parts of, ours
    std::vector<given_descriptor>
        descriptors;                ///< given in this order; of the others the child keeps only standard streams
    std::string working_directory;  ///< empty: ours
};

/// Starts it with default signal handling as leader of a new process group; answers its id, which the caller reaps.
/// not_found when it cannot be executed (with the system's reason), io_error when the system gives no process or pipe.
/// On Linux the child is killed when the calling THREAD ends (PR_SET_PDEATHSIG): start it on a thread that outlives it.
result<pid_t> start_program(const program_start& start);

}  // namespace assay
