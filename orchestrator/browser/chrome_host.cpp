#include "browser/chrome_host.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "browser/devtools_facts.hpp"
#include "browser/event_inbox.hpp"
#include "browser/gpu_probe.hpp"
#include "browser/page_disturbances.hpp"
#include "browser/page_driver.hpp"
#include "browser/process_exit.hpp"
#include "core/with_deadline.hpp"

namespace assay {

namespace asio = boost::asio;
using json = nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t max_console_lines = 200;
constexpr std::size_t lines_in_an_error = 6;
/// How long after an effect its cause may show, and how often to look.
constexpr auto cause_limit = 500ms;
constexpr auto look_interval = 10ms;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// A wait for the end of the GPU process, beside everything else.
struct gpu_watch {
    asio::cancellation_signal stop;
    bool on = true;
};

class chrome_host final : public arm_host {
  public:
    chrome_host(chrome_host_options options, const clock& time, random_source& random)
        : options_(std::move(options)), time_(time), random_(random) {}

    ~chrome_host() override { stop_watching(); }

    task<result<arm_opened>> open() override { return explained(open_now()); }
    task<result<adapter_views>> adapter() override { return explained(adapter_now()); }
    task<result<facts_reply>> facts() override { return explained(facts_now()); }
    task<result<prepared_event>> prepare(arm_config config) override { return explained(prepare_now(std::move(config))); }
    task<result<void>> start(arm_phase phase) override { return explained(start_now(phase)); }
    task<result<arm_event>> next_event(std::chrono::milliseconds limit) override { return explained(next_event_now(limit)); }

    task<arm_closed> close() override {
        arm_closed closed;
        const auto started = std::chrono::steady_clock::now();
        closing_ = true;
        stop_watching();
        if (browser_) {
            if (page_ && !browser_->is_ours()) co_await page_->close_page(options_.limits.stop.close);
            const auto report = co_await browser_->stop(options_.limits.stop);
            closed.forced = report.forced;
            closed.last_lines = browser_->last_lines();
            if (!report.profile_removed) closed.last_lines.push_back("the profile could not be removed; it is swept at the next start");
            page_.reset();
            browser_.reset();
        }
        closed.console.assign(console_.values().begin(), console_.values().end());
        closed.close_ms = milliseconds_since(started);
        co_return closed;
    }

  private:
    task<result<arm_opened>> open_now() {
        const auto executor = co_await asio::this_coro::executor;
        const auto started = std::chrono::steady_clock::now();
        inbox_ = std::make_shared<event_inbox>(executor);
        inbox_->explain = [this](arm_error_event& typed) { explain(typed); };
        if (options_.attach_url.empty()) {
            auto started_browser = chrome_process::start(executor, options_.launch, time_, random_);
            if (!started_browser) co_return started_browser.error();
            browser_ = std::move(*started_browser);
        } else {
            auto running_browser = co_await attach_browser(options_.attach_url, options_.limits.launch);
            if (!running_browser) co_return running_browser.error();
            browser_ = std::move(*running_browser);
        }
        auto& connection = browser_->connection();
        connection.on_closed([this](const error& why) { browser_gone(why); });
        make_page();
        connection.start();
        const auto version = connection.post({}, "Browser.getVersion", json::object());
        if (browser_->is_ours()) page_->post_open();

        arm_opened opened;
        auto about = co_await connection.reply(version, options_.limits.launch);
        if (!about) co_return launch_failure(about.error());
        opened.launch_ms = milliseconds_since(started);
        opened.browser.emplace();
        read_browser_version_reply(**about, *opened.browser);
        opened.browser->path = browser_->is_ours() ? options_.launch.binary.string() : options_.attach_url;
        opened.browser->switches = browser_->stated_switches();

        const auto page_started = std::chrono::steady_clock::now();
        // Asked for while the page loads, since the browser may take long to look at its GPU.
        const auto gpu_information = connection.post({}, "SystemInfo.getInfo", json::object());
        result<void> accepted;
        if (browser_->is_ours()) {
            accepted = co_await page_->opened(options_.limits.page);
        } else {
            accepted = co_await page_->open_in_own_context(options_.limits.page);
        }
        if (!accepted) co_return described(accepted.error());
        auto first = co_await inbox_->next(options_.limits.page, "waiting for the arm's page at " + options_.page_url);
        if (!first) co_return described(first.error());
        auto* ready = std::get_if<ready_event>(&first->body);
        if (ready == nullptr) co_return out_of_order("ready");
        opened.page_ms = milliseconds_since(page_started);
        opened.adapter.page = ready->adapter;
        opened.ready = std::move(*ready);
        auto gpu = co_await connection.reply(gpu_information, options_.limits.call);
        if (!gpu) co_return described(gpu.error());
        auto devtools = read_system_info(**gpu);
        if (!devtools) co_return described(devtools.error());
        opened.adapter.devtools = std::move(*devtools);
        auto processes = co_await connection.call({}, "SystemInfo.getProcessInfo", json::object(), options_.limits.call);
        if (!processes) co_return described(processes.error());
        if (browser_->is_ours()) watch_gpu_process(executor, gpu_process_of(**processes));
        auto rate = co_await probe_gpu(page_.get(), options_.limits.call);
        // An adapter too slow for the probe has no rate; a policy that asks for one says so itself.
        if (!rate && rate.error().code != error_code::deadline_exceeded) co_return described(rate.error());
        if (rate) probe_gflops_ = *rate;
        opened.adapter.probe_gflops = probe_gflops_;
        co_return opened;
    }

    task<result<adapter_views>> adapter_now() {
        auto page_view = co_await facts_now();
        if (!page_view) co_return page_view.error();
        auto gpu = co_await browser_->connection().call({}, "SystemInfo.getInfo", json::object(), options_.limits.call);
        if (!gpu) co_return described(gpu.error());
        auto devtools = read_system_info(**gpu);
        if (!devtools) co_return described(devtools.error());
        adapter_views views;
        views.page = std::move(page_view->adapter);
        views.devtools = std::move(*devtools);
        // Asked once an arm: what ran before the steps must not warm or cool the machine in the middle.
        views.probe_gflops = probe_gflops_;
        co_return views;
    }

    task<result<facts_reply>> facts_now() {
        if (auto problem = not_usable()) co_return *problem;
        auto text = co_await page_->evaluate_text("assay.facts().then(facts => JSON.stringify(facts))", options_.limits.call);
        if (!text) co_return described(text.error());
        co_return parse_facts_reply(*text);
    }

    task<result<prepared_event>> prepare_now(arm_config config) {
        if (auto problem = not_usable()) co_return *problem;
        auto started = co_await page_->evaluate("assay.prepare(" + arm_config_text(config) + ")", options_.limits.call);
        if (!started) co_return described(started.error());
        auto event = co_await inbox_->next(options_.limits.prepare, "preparing " + config.arm);
        if (!event) co_return described(event.error());
        auto* prepared = std::get_if<prepared_event>(&event->body);
        if (prepared == nullptr) co_return out_of_order("prepared");
        co_return std::move(*prepared);
    }

    task<result<void>> start_now(arm_phase phase) {
        if (auto problem = not_usable()) co_return *problem;
        std::string expression = phase == arm_phase::warmup ? "assay.warmup()" : "assay.measure()";
        auto started = co_await page_->evaluate(std::move(expression), options_.limits.call);
        if (!started) co_return described(started.error());
        co_return result<void>();
    }

    task<result<arm_event>> next_event_now(std::chrono::milliseconds limit) {
        if (!inbox_) co_return error{error_code::conflict, "the arm is not open"};
        auto event = co_await inbox_->next(limit, "waiting for the next step");
        if (!event) co_return described(event.error());
        co_return event;
    }

    /// A failure under its own name: some causes show a moment after their effect.
    template <class T>
    task<result<T>> explained(task<result<T>> work) {
        auto outcome = co_await std::move(work);
        if (outcome) co_return outcome;
        error why = outcome.error();
        if (browser_) co_await name_cause(&why);
        co_return why;
    }

    task<void> name_cause(error* why) {
        const auto until = std::chrono::steady_clock::now() + cause_limit;
        if (why->reason == "page-crashed") {
            while (!says_out_of_memory(browser_->last_lines()) && std::chrono::steady_clock::now() < until) co_await sleep_for(look_interval);
            if (!says_out_of_memory(browser_->last_lines())) co_return;
            why->reason = "out-of-memory";
            why->message = "the page's process ran out of memory: " + why->message;
        } else if (why->reason == "gpu-process-crashed") {
            // A browser that dies takes its GPU process along, and the news of that may come first.
            co_await wait_for_browser_to_end(until);
            if (!browser_->exit_status()) co_return;
            why->reason = "crashed";
            why->message = "the browser ended with " + browser_->exit_status()->text() + ": " + why->message;
        } else if (why->reason == "crashed") {
            co_await wait_for_browser_to_end(until);
            if (const auto status = browser_->exit_status()) {
                const std::string words = "the browser ended with " + status->text();
                if (why->message.find(words) == std::string::npos) why->message = words + ": " + why->message;
            } else {
                why->reason = "connection-lost";
                why->message = "the connection to the browser was cut, though the browser has not ended: " + why->message;
            }
        }
    }

    task<void> wait_for_browser_to_end(std::chrono::steady_clock::time_point until) {
        while (browser_->is_ours() && !browser_->exit_status() && std::chrono::steady_clock::now() < until)
            co_await sleep_for(look_interval);
    }

    void make_page() {
        page_handlers handlers;
        handlers.event = [inbox = inbox_](std::string text) { inbox->accept(text); };
        handlers.failed = [this](error why) { fail(std::move(why)); };
        handlers.console = [this](std::string line) { console_.push(std::move(line)); };
        page_ = std::make_unique<page_driver>(browser_->connection(), options_.page_url, std::move(handlers));
    }

    void fail(error why) {
        if (closing_) return;
        inbox_->fail(why);
        browser_->connection().fail_calls(why);
    }

    void browser_gone(error why) {
        if (const auto status = browser_->exit_status())
            why.message = "the browser ended with " + status->text();
        why.reason = why.code == error_code::browser_crashed ? "crashed" : why.reason;
        fail(std::move(why));
    }

    /// A lost device whose GPU process has ended was lost by that.
    void explain(arm_error_event& typed) {
        if (typed.code == "device-lost" && gpu_process_ && process_has_ended(*gpu_process_)) {
            typed.code = "gpu-process-crashed";
            typed.message = "the browser's GPU process ended: " + typed.message;
        }
    }

    void watch_gpu_process(asio::any_io_executor executor, std::optional<pid_t> gpu_process) {
        gpu_process_ = gpu_process;
        if (!gpu_process) return;
        watch_ = std::make_shared<gpu_watch>();
        asio::co_spawn(executor, watch(executor, *gpu_process, watch_, this),
                       asio::bind_cancellation_slot(watch_->stop.slot(), [keep = watch_](std::exception_ptr) {}));
    }

    /// `host` is used only while the watch is on, which close() and the destructor end.
    static task<void> watch(asio::any_io_executor executor, pid_t process, std::shared_ptr<gpu_watch> watch,
                            chrome_host* host) {
        bool ended = false;
        while (watch->on && !ended) ended = co_await wait_process_exit(executor, process, std::chrono::hours(1));
        if (watch->on)
            host->fail(error{error_code::browser_crashed, "the browser's GPU process ended", {}, {}, "gpu-process-crashed"});
    }

    void stop_watching() {
        const auto watch = std::exchange(watch_, nullptr);
        if (!watch) return;
        watch->on = false;
        watch->stop.emit(asio::cancellation_type::terminal);
    }

    std::optional<error> not_usable() {
        if (!browser_) return error{error_code::conflict, "the arm is not open"};
        if (inbox_->failure()) return described(*inbox_->failure());
        return std::nullopt;
    }

    error launch_failure(error why) {
        // The pipe closes before the process can be reaped; what it wrote says more than that.
        if (why.code != error_code::deadline_exceeded) why.code = error_code::browser_launch_failed;
        why.message = "the browser " + options_.launch.binary.string() + " did not start: " + why.message;
        return described(std::move(why));
    }

    error out_of_order(const std::string& expected) {
        return described(error{error_code::protocol_error, "the arm sent another event where '" + expected + "' was due", {}, {},
                               "bad-event"});
    }

    /// Adds what the browser and the page said last.
    error described(error why) const {
        if (!browser_) return why;
        std::vector<std::string> lines = browser_->last_lines();
        lines.insert(lines.end(), console_.values().begin(), console_.values().end());
        const std::size_t first = lines.size() - std::min(lines.size(), lines_in_an_error);
        for (std::size_t index = first; index < lines.size(); ++index)
            why.message += (index == first ? "\nlast lines:\n  " : "\n  ") + lines[index].substr(0, 400);
        return why;
    }

    chrome_host_options options_;
    const clock& time_;
    random_source& random_;
    std::shared_ptr<event_inbox> inbox_;
    std::unique_ptr<browser_link> browser_;
    std::unique_ptr<page_driver> page_;  // destroyed before the connection it uses
    ring_buffer<std::string> console_{max_console_lines};
    std::optional<pid_t> gpu_process_;
    std::optional<double> probe_gflops_;
    std::shared_ptr<gpu_watch> watch_;
    bool closing_ = false;
};

}  // namespace

std::unique_ptr<arm_host> make_chrome_host(chrome_host_options options, const clock& time, random_source& random) {
    return std::make_unique<chrome_host>(std::move(options), time, random);
}

}  // namespace assay
