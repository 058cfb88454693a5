#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "core/with_deadline.hpp"

using namespace assay;
namespace asio = boost::asio;

namespace {

asio::awaitable<result<int>> answer_after(std::chrono::milliseconds wait) {
    co_await sleep_for(wait);
    co_return 42;
}

asio::awaitable<void> store_answer(std::chrono::milliseconds wait, std::chrono::milliseconds limit, result<int>* out) {
    *out = co_await with_deadline(answer_after(wait), limit, "The answer");
}

result<int> answer_within(std::chrono::milliseconds wait, std::chrono::milliseconds limit) {
    asio::io_context context;
    result<int> out = error{error_code::internal, "never set"};
    asio::co_spawn(context, store_answer(wait, limit, &out), asio::detached);
    context.run();
    return out;
}

}  // namespace

TEST_CASE("work that ends in time gives its value") {
    CHECK(answer_within(std::chrono::milliseconds(1), std::chrono::seconds(30)).value() == 42);
}

TEST_CASE("work that does not end is cut off with a text that says what was waited for") {
    const auto late = answer_within(std::chrono::hours(1), std::chrono::milliseconds(20));
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error().code == error_code::deadline_exceeded);
    CHECK(late.error().message.find("The answer did not end within") == 0);
}
