#include "run/document_store.hpp"

#include "store/each_store.hpp"
#include "store/open_store.hpp"

using namespace assay;

STORE_TEST("documents are kept by kind and id, replaced whole, listed by id and removed") {
    const auto documents = std::move(open_document_store(database.url(), database.time()).value());
    CHECK_FALSE(documents->get("schedule", "a").value().has_value());
    REQUIRE(documents->put("schedule", "b", "two").has_value());
    REQUIRE(documents->put("schedule", "a", "one").has_value());
    REQUIRE(documents->put("notice", "a", "other").has_value());
    REQUIRE(documents->put("schedule", "b", "2 \"é\"").has_value());
    using list = std::vector<std::pair<std::string, std::string>>;
    CHECK(documents->list("schedule").value() == list{{"a", "one"}, {"b", "2 \"é\""}});
    CHECK(documents->get("notice", "a").value() == "other");
    CHECK(documents->remove("schedule", "a").has_value());
    CHECK(documents->remove("schedule", "a").has_value());
    CHECK(documents->list("schedule").value().size() == 1);
    CHECK(documents->list("unknown").value().empty());
}
