#include "browser/command_host.hpp"

#include <signal.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>

#include "browser/chrome_process.hpp"
#include "browser/event_inbox.hpp"
#include "browser/line_reader.hpp"
#include "core/ring_buffer.hpp"

namespace assay {

namespace asio = boost::asio;

namespace {

constexpr std::size_t lines_in_an_error = 6;

class command_host final : public arm_host {
  public:
    explicit command_host(command_host_options options) : options_(std::move(options)) {}

    ~command_host() override { let_go(); }

    task<result<arm_opened>> open() override {
        const auto executor = co_await asio::this_coro::executor;
        const auto started = std::chrono::steady_clock::now();
        if (options_.command.empty())
            co_return error{error_code::invalid_argument, "no command is configured for the arm " + options_.arm};
        child_specification specification;
        specification.program = options_.command.front();
        specification.arguments.assign(options_.command.begin() + 1, options_.command.end());
        specification.environment = options_.environment;
        specification.wiring = child_wiring::standard_streams;
        auto child = child_process::start(executor, specification);
        if (!child) co_return child.error();
        child_ = std::move(*child);
        inbox_ = std::make_shared<event_inbox>(executor);
        listen(executor);

        arm_opened opened;
        opened.launch_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
        auto first = co_await inbox_->next(options_.limits.launch, "waiting for the command of " + options_.arm);
        if (!first) co_return described(first.error());
        auto* ready = std::get_if<ready_event>(&first->body);
        if (ready == nullptr) co_return out_of_order("ready");
        opened.page_ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count() - opened.launch_ms;
        opened.adapter.page = ready->adapter;
        last_adapter_ = ready->adapter;
        opened.ready = std::move(*ready);
        co_return opened;
    }

    /// A command has no second view; what it said last about its adapter is all there is.
    task<result<adapter_views>> adapter() override {
        if (auto problem = not_usable()) co_return *problem;
        co_return adapter_views{last_adapter_, std::nullopt};
    }

    task<result<facts_reply>> facts() override {
        if (auto problem = not_usable()) co_return *problem;
        co_return facts_reply{std::nullopt, last_adapter_};
    }

    task<result<prepared_event>> prepare(arm_config config) override {
        if (auto problem = not_usable()) co_return *problem;
        send_last(arm_config_text(config));
        auto event = co_await inbox_->next(options_.limits.prepare, "preparing " + config.arm);
        if (!event) co_return described(event.error());
        auto* prepared = std::get_if<prepared_event>(&event->body);
        if (prepared == nullptr) co_return out_of_order("prepared");
        if (prepared->adapter) last_adapter_ = prepared->adapter;
        co_return std::move(*prepared);
    }

    task<result<void>> start(arm_phase phase) override {
        if (auto problem = not_usable()) co_return *problem;
        // A command goes through its phases by itself: what it said of this one waits in the inbox or comes.
        static_cast<void>(phase);
        co_return result<void>();
    }

    task<result<arm_event>> next_event(std::chrono::milliseconds limit) override {
        if (!inbox_) co_return error{error_code::conflict, "the arm is not open"};
        auto event = co_await inbox_->next(limit, "waiting for the next step");
        if (!event) co_return described(event.error());
        if (const auto* done = std::get_if<done_event>(&event->body); done != nullptr && done->adapter)
            last_adapter_ = done->adapter;
        co_return event;
    }

    task<arm_closed> close() override {
        arm_closed closed;
        const auto started = std::chrono::steady_clock::now();
        closing_ = true;
        if (child_) {
            bool ended = child_->poll().has_value();
            if (!ended) {
                // The end of its input asks a command to end, as closing a page's browser does.
                writer_.reset();
                ended = co_await child_->wait_exit(options_.limits.stop.close);
            }
            if (!ended) {
                closed.forced = true;
                child_->signal_group(SIGTERM);
                ended = co_await child_->wait_exit(options_.limits.stop.terminate);
            }
            child_->signal_group(SIGKILL);
            if (!ended) co_await child_->wait_exit(options_.limits.stop.kill);
            child_->reap_group();
        }
        closed.last_lines.assign(lines_.values().begin(), lines_.values().end());
        let_go();
        closed.close_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
        co_return closed;
    }

  private:
    void listen(asio::any_io_executor executor) {
        line_handlers output;
        output.line = [this](std::string line, bool whole) {
            if (!whole) {
                fail(error{error_code::too_large, "the command wrote a line over its bound", {}, {}, "bad-event"});
            } else if (!line.empty()) {
                inbox_->accept(line);
            }
        };
        output.end = [this] { command_ended(); };
        output_ = start_line_reader(executor, child_->take_reader(), max_event_line_bytes, std::move(output));
        line_handlers errors;
        errors.line = [this](std::string line, bool) {
            if (!line.empty()) lines_.push(std::move(line));
        };
        errors_ = start_line_reader(executor, child_->take_standard_error(), max_error_line_bytes, std::move(errors));
        writer_ = std::make_shared<asio::posix::stream_descriptor>(executor, child_->take_writer().release());
    }

    /// Writes a line and ends the command's input.
    void send_last(std::string line) {
        line += '\n';
        auto bytes = std::make_shared<std::string>(std::move(line));
        const auto writer = std::exchange(writer_, nullptr);
        if (!writer) return;
        asio::async_write(*writer, asio::buffer(*bytes), [bytes, writer](boost::system::error_code, std::size_t) {});
    }

    void fail(error why) {
        if (!closing_) inbox_->fail(std::move(why));
    }

    void command_ended() {
        if (inbox_->measured()) return;  // it said all it had to say
        const auto status = child_->poll();
        fail(error{error_code::arm_failed,
                   "the command of " + options_.arm + " ended" + (status ? " with " + status->text() : ""), {}, {}, "crashed"});
    }

    void let_go() {
        closing_ = true;
        if (output_) output_->stop();
        if (errors_) errors_->stop();
        writer_.reset();
        child_.reset();
    }

    std::optional<error> not_usable() {
        if (!child_) return error{error_code::conflict, "the arm is not open"};
        if (inbox_->failure()) return described(*inbox_->failure());
        return std::nullopt;
    }

    error out_of_order(const std::string& expected) const {
        return described(error{error_code::protocol_error, "the command sent another event where '" + expected + "' was due", {},
                               {}, "bad-event"});
    }

    error described(error why) const {
        const auto& lines = lines_.values();
        const std::size_t first = lines.size() - std::min(lines.size(), lines_in_an_error);
        for (std::size_t index = first; index < lines.size(); ++index)
            why.message += (index == first ? "\nlast lines:\n  " : "\n  ") + lines[index].substr(0, 400);
        return why;
    }

    command_host_options options_;
    std::unique_ptr<child_process> child_;
    std::shared_ptr<event_inbox> inbox_;
    std::shared_ptr<line_reader> output_, errors_;
    std::shared_ptr<asio::posix::stream_descriptor> writer_;
    ring_buffer<std::string> lines_{max_error_lines};
    std::optional<page_adapter> last_adapter_;
    bool closing_ = false;
};

}  // namespace

std::unique_ptr<arm_host> make_command_host(command_host_options options) {
    return std::make_unique<command_host>(std::move(options));
}

}  // namespace assay
