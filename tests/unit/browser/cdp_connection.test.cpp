// The connection against a peer of our own, which answers late, never, wrongly or with rubbish.
#include "browser/cdp_connection.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/random.hpp"
#include "core/with_deadline.hpp"
#include "run_task.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;
using json = nlohmann::json;

namespace {

/// Two pipes with us at one end of each and the connection at the other.
class peer {
  public:
    explicit peer(boost::asio::io_context& context) {
        int ends[2];
        REQUIRE_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
        unique_descriptor reader(ends[0]);
        to_connection_.reset(ends[1]);
        REQUIRE_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
        from_connection_.reset(ends[0]);
        unique_descriptor writer(ends[1]);
        connection = std::make_unique<cdp_connection>(
            context.get_executor(), make_pipe_transport(context.get_executor(), std::move(reader), std::move(writer)));
    }

    void say(const std::string& bytes) {
        REQUIRE_EQ(::write(to_connection_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }
    void say(const json& message) { say(message.dump() + '\0'); }
    void hang_up() { to_connection_.reset(); }
    std::string heard() {
        std::string text(65536, '\0');
        const auto got = ::read(from_connection_.get(), text.data(), text.size());
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return text;
    }

    std::unique_ptr<cdp_connection> connection;

  private:
    unique_descriptor to_connection_, from_connection_;
};

using scenario = boost::asio::awaitable<bool> (*)(peer*);

void with_peer(scenario play) {
    boost::asio::io_context context;
    peer other(context);
    other.connection->start();
    auto whole = [](peer* p, scenario s) -> boost::asio::awaitable<bool> {
        const bool ok = co_await s(p);
        p->connection->close();
        co_return ok;
    };
    CHECK(run_task(context, whole(&other, play)));
}

}  // namespace

TEST_CASE("replies find their calls in any order, refusals carry the browser's words") {
    with_peer([](peer* p) -> boost::asio::awaitable<bool> {
        const auto first = p->connection->post({}, "A.first", {{"x", 1}});
        const auto second = p->connection->post("S1", "B.second", json::object());
        p->say(json{{"id", second.id}, {"error", {{"code", -32000}, {"message", "no such thing"}}}});
        p->say(json{{"id", first.id}, {"result", {{"value", 5}}}});
        auto one = co_await p->connection->reply(first, 2s);
        auto two = co_await p->connection->reply(second, 2s);
        REQUIRE(one.has_value());
        CHECK_EQ((*one)->at("value"), 5);
        CHECK_EQ(two.error().code, error_code::protocol_error);
        CHECK_NE(two.error().message.find("B.second: no such thing"), std::string::npos);
        const auto sent = p->heard();
        CHECK_NE(sent.find(R"("sessionId":"S1")"), std::string::npos);
        CHECK_EQ(p->connection->waiting_calls(), 0);
        co_return true;
    });
}

TEST_CASE("a call without an answer ends at its deadline and names itself, and a late answer is dropped") {
    with_peer([](peer* p) -> boost::asio::awaitable<bool> {
        const auto ticket = p->connection->post({}, "Slow.call", json::object());
        auto answer = co_await p->connection->reply(ticket, 30ms);
        CHECK_EQ(answer.error().code, error_code::deadline_exceeded);
        CHECK_EQ(answer.error().reason, "silence");
        CHECK_NE(answer.error().message.find("Slow.call"), std::string::npos);
        p->say(json{{"id", ticket.id}, {"result", json::object()}});
        co_await sleep_for(20ms);
        CHECK_EQ(p->connection->waiting_calls(), 0);
        CHECK(p->connection->is_open());
        co_return true;
    });
}

TEST_CASE("the end of the browser ends every waiting call and is told once") {
    with_peer([](peer* p) -> boost::asio::awaitable<bool> {
        int told = 0;
        p->connection->on_closed([&](const error&) { ++told; });
        const auto ticket = p->connection->post({}, "A.call", json::object());
        p->hang_up();
        auto answer = co_await p->connection->reply(ticket, 2s);
        CHECK_EQ(answer.error().code, error_code::browser_crashed);
        CHECK_EQ(told, 1);
        CHECK_FALSE(p->connection->is_open());
        co_return true;
    });
}

TEST_CASE("a lost page fails its calls while the browser can still be asked to close") {
    with_peer([](peer* p) -> boost::asio::awaitable<bool> {
        const auto ticket = p->connection->post("S1", "Runtime.evaluate", json::object());
        p->connection->fail_calls(error{error_code::page_failed, "a dialog", {}, {}, "dialog"});
        auto answer = co_await p->connection->reply(ticket, 2s);
        CHECK_EQ(answer.error().reason, "dialog");
        p->say(json{{"id", ticket.id + 1}, {"result", json::object()}});
        auto closed = co_await p->connection->call_anyway("Browser.close", 2s);
        CHECK(closed.has_value());
        co_return true;
    });
}

TEST_CASE("events reach the handler of their session only, with parameters or without") {
    with_peer([](peer* p) -> boost::asio::awaitable<bool> {
        std::string seen;
        p->connection->on_event({}, [&](std::string_view method, const json& parameters) {
            seen += "browser:" + std::string(method) + parameters.dump() + " ";
        });
        p->connection->on_event(
            "S1", [&](std::string_view method, const json&) { seen += "page:" + std::string(method) + " "; });
        p->say(json{{"method", "X.one"}});
        p->say(json{{"method", "X.two"}, {"sessionId", "S1"}, {"params", {{"a", 1}}}});
        p->say(json{{"method", "X.three"}, {"sessionId", "S2"}});
        co_await sleep_for(20ms);
        CHECK_EQ(seen, "browser:X.one{} page:X.two ");
        co_return true;
    });
}

TEST_CASE("rubbish from the browser ends the connection, never the program") {
    seeded_random random(11);
    const std::string seeds[] = {R"({"id":1,"result":{}})",
                                 R"({"method":"A.b","params":{"a":[1,2]}})",
                                 R"({"id":-1})",
                                 R"([])",
                                 R"({"id":"one"})",
                                 R"({"method":5})",
                                 "\xff\xfe",
                                 "{",
                                 std::string(2000, '[')};
    for (int round = 0; round < 60; ++round) {
        boost::asio::io_context context;
        peer other(context);
        other.connection->on_event({}, [](std::string_view, const json& parameters) { parameters.at("a").at(0); });
        other.connection->start();
        std::string bytes = seeds[random.below(std::size(seeds))];
        for (std::uint64_t flips = random.below(4); flips > 0; --flips)
            bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
        other.say(bytes + '\0');
        auto play = [](peer* p) -> boost::asio::awaitable<bool> {
            const auto ticket = p->connection->post({}, "A.call", json::object());
            auto answer = co_await p->connection->reply(ticket, 5ms);
            p->connection->close();
            co_return answer.has_error() || answer.has_value();
        };
        CHECK(run_task(context, play(&other)));
    }
}
