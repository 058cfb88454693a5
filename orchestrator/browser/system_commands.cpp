#include "browser/system_commands.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "browser/child_process.hpp"

extern char** environ;

namespace assay {

namespace {

constexpr std::size_t max_output_bytes = std::size_t{4} << 20;

class real_commands final : public system_commands {
  public:
    explicit real_commands(std::chrono::milliseconds limit) : limit_(limit) {}

    std::optional<std::string> output_of(const std::vector<std::string>& arguments) override {
        std::array<int, 2> ends{};
        if (arguments.empty() || ::pipe(ends.data()) != 0) return std::nullopt;
        unique_descriptor reader(ends[0]), writer(ends[1]);
        ::fcntl(reader.get(), F_SETFD, FD_CLOEXEC);
        ::fcntl(writer.get(), F_SETFD, FD_CLOEXEC);

        std::vector<std::string> copy = arguments;
        std::vector<char*> pointers;
        for (auto& argument : copy) pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, writer.get(), 1);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        pid_t pid = -1;
        const int failed = ::posix_spawnp(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (failed != 0) return std::nullopt;
        writer.reset();
        const auto output = read_all(reader.get());
        if (!output) ::kill(pid, SIGKILL);
        int status = 0;
        while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (!output || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
        return output;
    }

  private:
    std::optional<std::string> read_all(int descriptor) const {
        const auto end = std::chrono::steady_clock::now() + limit_;
        std::string output;
        std::array<char, 16384> chunk{};
        for (;;) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
            if (left.count() <= 0 || output.size() > max_output_bytes) return std::nullopt;
            pollfd waiting{descriptor, POLLIN, 0};
            const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
            if (ready < 0 && errno == EINTR) continue;
            if (ready <= 0) return std::nullopt;
            const auto got = ::read(descriptor, chunk.data(), chunk.size());
            if (got == 0) return output;
            if (got < 0 && errno != EINTR) return std::nullopt;
            if (got > 0) output.append(chunk.data(), static_cast<std::size_t>(got));
        }
    }

    std::chrono::milliseconds limit_;
};

}  // namespace

std::unique_ptr<system_commands> make_system_commands(std::chrono::milliseconds limit) {
    return std::make_unique<real_commands>(limit);
}

}  // namespace assay
