#include <doctest/doctest.h>

#include <vector>

#include "browser/cdp_frame_buffer.hpp"
#include "core/random.hpp"

using namespace assay;

TEST_CASE("frames come out whole however the bytes arrive") {
    seeded_random random(7);
    std::vector<std::string> sent;
    std::string stream;
    for (int index = 0; index < 300; ++index) {
        sent.emplace_back(random.below(5000), static_cast<char>('a' + index % 26));
        stream += sent.back();
        stream += '\0';
    }
    cdp_frame_buffer buffer;
    std::vector<std::string> received;
    for (std::size_t at = 0; at < stream.size();) {
        const std::size_t portion = std::min<std::size_t>(1 + random.below(9000), stream.size() - at);
        REQUIRE(buffer.append(std::string_view(stream).substr(at, portion)));
        at += portion;
        while (auto frame = buffer.next()) received.push_back(std::move(*frame));
    }
    CHECK_EQ(received, sent);
    CHECK_EQ(buffer.held(), 0);
}

TEST_CASE("a frame over the bound is refused before it is held, and a large one below it passes") {
    cdp_frame_buffer small(1000);
    CHECK(small.append(std::string(1000, 'x')));
    CHECK_FALSE(small.append("x"));
    // Many frames that are together over the bound are none of them over it.
    cdp_frame_buffer many(10);
    std::string stream;
    for (int index = 0; index < 100; ++index) stream += std::string("123456789") + '\0';
    CHECK(many.append(stream));

    // The same bytes are refused in one portion as in two: a frame over the bound may end where it crosses it.
    cdp_frame_buffer ended(10);
    CHECK_FALSE(ended.append(std::string(11, 'x') + '\0'));
    cdp_frame_buffer in_two(10);
    CHECK(in_two.append(std::string(10, 'x')));
    CHECK_FALSE(in_two.append(std::string("x") + '\0'));

    cdp_frame_buffer large;
    const std::string portion(std::size_t{1} << 20, 'y');
    for (int index = 0; index < 32; ++index) REQUIRE(large.append(portion));
    CHECK_FALSE(large.next());
    REQUIRE(large.append(std::string(1, '\0')));
    CHECK_EQ(large.next()->size(), portion.size() * 32);
}
