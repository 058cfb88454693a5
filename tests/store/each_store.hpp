// Runs a test body on every kind of store, each time on an empty one.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "run/ports.hpp"
#include "support/fake_clock.hpp"
#include "support/temporary_folder.hpp"

namespace assay::test {

/// The throwaway PostgreSQL's URL; fails the test when there is none, since a skipped engine would look like a tested
/// one.
std::string postgresql_url();

/// An empty database of one kind, gone with this object.
class empty_database {
  public:
    enum class kind { sqlite, postgresql };
    explicit empty_database(kind type);
    ~empty_database();
    empty_database(const empty_database&) = delete;
    empty_database& operator=(const empty_database&) = delete;
    const std::string& url() const { return url_; }
    /// A new connection to it as a store.
    std::unique_ptr<run_store> open() const;
    fake_clock& time() { return time_; }

  private:
    kind type_;
    std::unique_ptr<temporary_folder> folder_;
    std::string schema_, url_;
    fake_clock time_;
};

/// A valid queued run; ids sort by `number`.
run_row sample_run(int number);
/// A summary and the bytes of its file; ids and times sort by `number`.
struct sample_receipt {
    receipt_summary summary;
    std::string bytes;
};
sample_receipt make_sample_receipt(int number, const std::string& machine = "00000000000000aa");

}  // namespace assay::test

/// Defines a test case whose body runs once a store; `database` is an empty_database, `store` a run_store&.
#define ASSAY_STORE_TEST_BODY(name, function)                                                \
    static void function(assay::test::empty_database& database, assay::run_store& store);    \
    TEST_CASE(name " (sqlite)") {                                                            \
        assay::test::empty_database database(assay::test::empty_database::kind::sqlite);     \
        const auto store = database.open();                                                  \
        function(database, *store);                                                          \
    }                                                                                        \
    TEST_CASE(name " (postgresql)") {                                                        \
        assay::test::empty_database database(assay::test::empty_database::kind::postgresql); \
        const auto store = database.open();                                                  \
        function(database, *store);                                                          \
    }                                                                                        \
    static void function([[maybe_unused]] assay::test::empty_database& database,             \
                         [[maybe_unused]] assay::run_store& store)
#define STORE_TEST(name) ASSAY_STORE_TEST_BODY(name, DOCTEST_ANONYMOUS(store_test_))
