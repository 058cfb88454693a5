#include <boost/asio/this_coro.hpp>
#include <nlohmann/json.hpp>

#include "browser/browser_link.hpp"
#include "browser/cdp_transport.hpp"

namespace assay {

namespace asio = boost::asio;

namespace {

class attached_browser final : public browser_link {
  public:
    attached_browser(asio::any_io_executor executor, std::shared_ptr<cdp_transport> transport)
        : connection_(std::move(executor), std::move(transport)) {}

    cdp_connection& connection() override { return connection_; }
    std::vector<std::string> last_lines() const override { return {}; }
    const std::vector<std::string>& stated_switches() const override { return stated_switches_; }
    bool is_ours() const override { return false; }
    std::optional<child_status> exit_status() override { return std::nullopt; }

    asio::awaitable<stop_report> stop(stop_limits) override {
        connection_.close();
        stop_report report;
        report.profile_removed = true;  // there was none of ours
        co_return report;
    }

  private:
    cdp_connection connection_;
    // What it was started with is not ours to know; the receipt says so instead of staying silent.
    std::vector<std::string> stated_switches_{"<attached>"};
};

}  // namespace

asio::awaitable<result<std::unique_ptr<browser_link>>> attach_browser(std::string url, std::chrono::milliseconds limit) {
    const auto executor = co_await asio::this_coro::executor;
    auto transport = co_await connect_websocket_transport(std::move(url), limit);
    if (!transport) co_return transport.error();
    std::unique_ptr<browser_link> link = std::make_unique<attached_browser>(executor, std::move(*transport));
    co_return link;
}

}  // namespace assay
