#include "browser/system_commands.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/start_program.hpp"

namespace assay {

namespace {

constexpr std::size_t max_output_bytes = std::size_t{4} << 20;

class real_commands final : public system_commands {
  public:
    explicit real_commands(std::chrono::milliseconds limit) : limit_(limit) {}

    std::optional<std::string> output_of(const std::vector<std::string>& arguments) override {
        auto pipe = make_pipe();
        if (arguments.empty() || !pipe) return std::nullopt;
        const unique_descriptor null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
        program_start plan;
        plan.program = arguments.front();
        plan.arguments.assign(arguments.begin() + 1, arguments.end());
        plan.descriptors = {{null_device.get(), 0}, {pipe->write_end.get(), 1}, {null_device.get(), 2}};
        const auto started = start_program(plan);
        if (!started) return std::nullopt;
        const pid_t pid = *started;
        pipe->write_end.reset();
        const auto output = read_all(pipe->read_end.get());
        if (!output) ::kill(-pid, SIGKILL);
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
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
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
