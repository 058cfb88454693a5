#include "thread_pool.hpp"

#include <doctest/doctest.h>

#include <vector>

using assay::trainer::thread_pool;

TEST_CASE("the pool runs every task exactly once and returns after the last") {
    for (const int threads : {1, 2, 5}) {
        thread_pool pool(threads);
        CHECK(pool.threads() == threads);
        for (const std::uint32_t count : {0u, 1u, 2u, 7u, 1000u}) {
            std::vector<int> runs(count, 0);
            pool.run(count, [&](std::uint32_t index, int thread) {
                REQUIRE(thread >= 0);
                REQUIRE(thread < threads);
                ++runs[index];
            });
            for (const int r : runs) CHECK(r == 1);
        }
    }
}

TEST_CASE("jobs that follow each other at once never mix") {
    thread_pool pool(4);
    // Each job reads what the one before wrote; a late worker of an old job would leave a wrong number.
    std::vector<std::uint32_t> values(37, 0);
    for (std::uint32_t job = 1; job <= 3000; ++job) {
        pool.run(static_cast<std::uint32_t>(1 + job % values.size()),
                 [&](std::uint32_t index, int) { values[index] = job; });
        for (std::uint32_t i = 0; i < 1 + job % values.size(); ++i) REQUIRE(values[i] == job);
    }
}
