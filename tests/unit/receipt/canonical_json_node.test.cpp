// The canonical form against a second implementation: Node's own number formatting and key order.
#include <doctest/doctest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/random.hpp"
#include "receipt/canonical_json.hpp"

using namespace assay;

namespace {

constexpr const char* node_canonicaliser = R"JS(
const sorted = (value) => Array.isArray(value) ? '[' + value.map(sorted).join(',') + ']'
  : value !== null && typeof value === 'object'
    ? '{' + Object.keys(value).sort().map((key) => JSON.stringify(key) + ':' + sorted(value[key])).join(',') + '}'
    : JSON.stringify(value);
const lines = require('fs').readFileSync(process.argv[2], 'utf8').trimEnd().split('\n');
process.stdout.write(lines.map((line) => sorted(JSON.parse(line)) + '\n').join(''));
)JS";

double random_double(seeded_random& random) {
    for (;;) {
        const double value = std::bit_cast<double>(random.next());
        if (std::isfinite(value)) return value;
    }
}

std::string random_document(seeded_random& random, int depth) {
    char number[40];
    switch (random.below(depth > 3 ? 4 : 6)) {
        case 0:
            std::snprintf(number, sizeof number, "%.17g", random_double(random));
            return number;
        case 1:
            std::snprintf(number, sizeof number, "%.*g", static_cast<int>(1 + random.below(17)),
                          random.uniform() * std::pow(10, 24 - static_cast<double>(random.below(34))));
            return number;
        case 2:
            return random.below(2) == 0 ? "true" : "null";
        case 3: {
            std::string out = "\"";
            for (std::uint64_t i = random.below(6); i > 0; --i) {
                std::uint64_t unit = random.below(0xf800);
                if (unit >= 0xd800) unit += 0x800;
                if (random.below(4) == 0) unit = random.below(0x80);
                std::snprintf(number, sizeof number, "\\u%04x", static_cast<unsigned>(unit));
                out += number;
                if (random.below(5) == 0) out += "\\ud83d\\ude00";
            }
            return out + "\"";
        }
        case 4: {
            std::string out = "[";
            for (std::uint64_t i = random.below(4); i > 0; --i)
                out += random_document(random, depth + 1) + (i > 1 ? "," : "");
            return out + "]";
        }
        default: {
            std::string out = "{";
            const auto count = random.below(5);
            for (std::uint64_t i = 0; i < count; ++i) {
                std::snprintf(number, sizeof number,
                              "\"\\u%04x%u\":", static_cast<unsigned>(0x20 + random.below(0xd7e0)),
                              static_cast<unsigned>(i));
                out += number + random_document(random, depth + 1) + (i + 1 < count ? "," : "");
            }
            return out + "}";
        }
    }
}

}  // namespace

TEST_CASE("two thousand random documents get the same canonical text from Node") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("assay-canonical-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    seeded_random random(8785);
    std::string ours;
    {
        std::ofstream script(folder / "canonical.cjs"), documents(folder / "documents.jsonl");
        script << node_canonicaliser;
        for (int i = 0; i < 2000; ++i) {
            const std::string text = random_document(random, 0);
            documents << text << "\n";
            ours += canonicalise_json(text).value() + "\n";
        }
    }
    const std::string command = "node '" + (folder / "canonical.cjs").string() + "' '" +
                                (folder / "documents.jsonl").string() + "' > '" +
                                (folder / "canonical.jsonl").string() + "'";
    REQUIRE(std::system(command.c_str()) == 0);
    std::stringstream theirs;
    theirs << std::ifstream(folder / "canonical.jsonl").rdbuf();
    CHECK(theirs.str() == ours);
    fs::remove_all(folder);
}
