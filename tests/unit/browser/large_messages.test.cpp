// Messages far over a megabyte through a WebSocket, both ways, with a real browser at the other end.
#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "browser/cdp_connection.hpp"
#include "run_task.hpp"
#include "running_browser.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;
using json = nlohmann::json;

namespace {

boost::asio::awaitable<bool> exchange_large_messages(boost::asio::io_context* context, std::string url) {
    constexpr std::size_t sent_bytes = std::size_t{3} << 20;
    constexpr std::size_t received_bytes = std::size_t{17} << 20;
    auto transport = co_await connect_websocket_transport(std::move(url), 5s);
    REQUIRE(transport.has_value());
    cdp_connection connection(context->get_executor(), std::move(*transport));
    connection.start();
    const json target_options{{"url", "about:blank"}};
    auto target = co_await connection.call({}, "Target.createTarget", target_options, 10s);
    REQUIRE(target.has_value());
    const json session_options{{"targetId", (*target)->at("targetId")}, {"flatten", true}};
    auto session = co_await connection.call({}, "Target.attachToTarget", session_options, 10s);
    REQUIRE(session.has_value());
    const std::string of = (*session)->at("sessionId");
    const json sent{{"expression", "'" + std::string(sent_bytes, 'x') + "'.length"}};
    auto heard = co_await connection.call(of, "Runtime.evaluate", sent, 20s);
    CHECK_MESSAGE(heard.has_value(), (heard ? "" : heard.error().text()));
    if (heard) CHECK_EQ((*heard)->at("result").at("value"), sent_bytes);
    const json wanted{{"expression", "'y'.repeat(" + std::to_string(received_bytes) + ")"}, {"returnByValue", true}};
    auto large = co_await connection.call(of, "Runtime.evaluate", wanted, 20s);
    CHECK_MESSAGE(large.has_value(), (large ? "" : large.error().text()));
    if (large) CHECK_EQ((*large)->at("result").at("value").get_ref<const std::string&>().size(), received_bytes);
    connection.close();
    co_return true;
}

}  // namespace

TEST_CASE("a WebSocket carries messages of many megabytes both ways") {
    running_browser browser;
    boost::asio::io_context context;
    CHECK(run_task(context, exchange_large_messages(&context, browser.url())));
}
