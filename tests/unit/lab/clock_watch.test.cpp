#include "lab/clock_watch.hpp"

#include <doctest/doctest.h>

#include "support/fake_clock.hpp"

using namespace assay;
using namespace std::chrono_literals;

TEST_CASE("a wall clock that is set forward or back is noticed once, one that goes on is not") {
    test::fake_clock time;
    lab::clock_watch watch(5s);
    CHECK_FALSE(watch.jumped(time));
    time.advance(1h);
    CHECK_FALSE(watch.jumped(time));
    time.set_wall(time.now() + 6s);
    CHECK(watch.jumped(time));
    CHECK_FALSE(watch.jumped(time));
    time.set_wall(time.now() - 1h);
    CHECK(watch.jumped(time));
    time.set_wall(time.now() + 4s);
    CHECK_FALSE(watch.jumped(time));
}
