// What the next process makes of runs that an earlier one left running.
#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "core/blocking_executor.hpp"
#include "receipt/receipt_files.hpp"
#include "run/measurement.hpp"
#include "run/receipt_recorder.hpp"
#include "support/fake_clock.hpp"
#include "support/memory_run_store.hpp"
#include "support/temporary_folder.hpp"

using namespace assay;

namespace {

class plain_environment final : public environment_reader {
  public:
    explicit plain_environment(std::string id) { facts_.machine_id = std::move(id); }
    machine_facts machine() override { return facts_; }
    environment_snapshot snapshot() override { return {}; }

  private:
    machine_facts facts_;
};

struct bench {
    bench() {
        services.run.environment = &environment;
        services.run.time = &time;
        services.store = &store;
        services.store_thread = &thread;
        services.recorder = &recorder;
        services.random = &random;
        run_row row;
        row.id = "01KRUN";
        row.state = run_state::running;
        row.request_text = R"({"preset":"smoke"})";
        row.machine_id = identity.machine_id;
        store.runs.emplace(row.id, row);
    }
    int seal_interrupted() {
        int sealed = -1;
        boost::asio::co_spawn(context, seal_interrupted_runs(&services), [&](std::exception_ptr, result<int> count) {
            if (count) sealed = *count;
        });
        context.run();
        context.restart();
        return sealed;
    }
    recorded_receipt record(const std::string& run, verdict_result verdict, const std::string& reason_code) {
        receipt document;
        document.id = make_sortable_id(time, random);
        time.advance(std::chrono::seconds(1));
        document.run_id = run;
        document.created_at = format_utc(time.now());
        document.request = parse_run_request(R"({"preset":"smoke"})").value();
        document.model = {document.request.model, 1, 1.0};
        document.machine = environment.machine();
        document.verdict = {verdict, {}, {{reason_code, "why", {}}}};
        return recorder.record(std::move(document)).value();
    }

    test::temporary_folder home;
    test::fake_clock time;
    seeded_random random{3};
    machine_identity identity = load_or_make_identity(home.path()).value();
    plain_environment environment{identity.machine_id};
    receipt_recorder recorder{identity, receipt_files::open(home.path()).value()};
    test::memory_run_store store;
    blocking_executor thread;
    boost::asio::io_context context;
    measurement_services services;
};

}  // namespace

TEST_CASE("a run that has no receipt yet gets one that says it was interrupted") {
    bench after;
    after.record("01KANOTHER", verdict_result::failed, "run-crashed");
    CHECK(after.seal_interrupted() == 1);
    const auto& row = after.store.runs.at("01KRUN");
    CHECK(row.state == run_state::interrupted);
    CHECK(receipt_files::open(after.home.path())->list().value().size() == 2);
}

TEST_CASE("a run whose receipt was filed before its process died ends with that receipt, in the state it tells") {
    for (const auto& [verdict, code, state] :
         {std::tuple{verdict_result::inconclusive, "spread", run_state::done},
          std::tuple{verdict_result::failed, "run-crashed", run_state::failed},
          std::tuple{verdict_result::failed, "run-cancelled", run_state::cancelled}}) {
        bench after;
        const auto filed = after.record("01KRUN", verdict, code);
        after.record("01KANOTHER", verdict_result::failed, "run-crashed");
        CHECK(after.seal_interrupted() == 1);
        const auto& row = after.store.runs.at("01KRUN");
        CHECK(row.state == state);
        CHECK(row.receipt_id == filed.document.id);
        CHECK(receipt_files::open(after.home.path())->list().value().size() == 2);
    }
}
