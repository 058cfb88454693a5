// A hub that dies between any two statements of a hand-out and an upload: whoever goes on finds one run and one
// receipt.
#include "receipt/digest.hpp"
#include "store/each_store.hpp"
#include "store/open_store.hpp"
#include "store/sql_lab_store.hpp"
#include "store/sql_run_store.hpp"

using namespace assay;
using namespace std::chrono_literals;
using test::sample_run;

namespace {

/// When the cut comes: at the statement of that number, before it reaches the engine or after its answer is lost.
struct cut {
    int at = 0;
    bool after = false;
    int seen = 0;
    bool done = false;
};

/// A connection that is lost once, as by the death of its process: whatever was open is rolled back by the engine.
class cut_connection final : public sql_connection {
  public:
    cut_connection(const test::empty_database& database, test::fake_clock& time, cut& when)
        : url_(database.url()), time_(time), when_(when) {
        ensure_alive();
    }
    sql_dialect dialect() const override {
        return is_postgresql_url(url_) ? sql_dialect::postgresql : sql_dialect::sqlite;
    }
    sql_answer execute(std::string_view sql, const std::vector<sql_value>& parameters) override {
        if (!inner_) lose();
        const bool now = !when_.done && when_.seen++ == when_.at;
        if (now && !when_.after) lose();
        auto answer = inner_->execute(sql, parameters);
        if (now) lose();
        return answer;
    }
    void execute_script(const std::string& sql) override { inner_->execute_script(sql); }
    void ensure_alive() override {
        if (!inner_) inner_ = std::move(open_sql(url_, time_).value());
    }

  private:
    [[noreturn]] void lose() {
        when_.done = true;
        inner_.reset();
        throw sql_failure(sql_failure::kind::lost, {error_code::unavailable, "cut"});
    }
    std::string url_;
    test::fake_clock& time_;
    cut& when_;
    std::unique_ptr<sql_connection> inner_;
};

constexpr std::string_view machine_name = "00000000000000aa";

/// One job from its trigger to its receipt, each step as hub and agent take it; the first failure ends it.
result<void> live(run_store& runs, lab_store& lab, const test::sample_receipt& receipt) {
    machine_row machine;
    machine.id = machine.name = machine_name;
    machine.public_key = "key";
    if (auto known = lab.register_machine(machine, true); !known) return known.error();
    auto job = sample_run(1);
    job.idempotency_key = "job";
    if (auto queued = runs.enqueue(job); !queued) return queued.error();
    if (auto seen = lab.see_machine(machine_id(machine.id)); !seen) return seen.error();
    const auto own = runs.running_on(machine_id(machine.id));
    if (!own) return own.error();
    std::optional<run_row> row;
    if (!own->empty()) {
        row = own->front();
    } else {
        auto claimed = runs.claim(machine_id(machine.id), {}, 60s);
        if (!claimed) return claimed.error();
        row = *claimed;
    }
    if (row) {
        const run_id id(row->id);
        if (auto beat = runs.heartbeat(id, row->fencing_token, 60s); !beat) return beat;
        const auto& digest = receipt.summary.file_sha256;
        const auto there = lab.upload_size(digest);
        if (!there) return there.error();
        for (std::uint64_t at = *there; at < receipt.bytes.size();) {
            const auto size = lab.add_upload_part(digest, at, receipt.bytes.substr(at, 8));
            if (!size) return size.error();
            at = *size;
        }
        const auto whole = lab.read_upload(digest);
        if (!whole) return whole.error();
        if (auto done = runs.finish(id, row->fencing_token, run_state::done, receipt.summary, *whole); !done)
            return done;
    }
    if (auto dropped = lab.drop_upload(receipt.summary.file_sha256); !dropped) return dropped;
    return {};
}

/// Answers whether the cut was met at all.
bool survives(test::empty_database::kind kind, int at, bool after) {
    test::empty_database database(kind);
    auto receipt = test::make_sample_receipt(1);
    receipt.bytes = "{\"payload\":\"abcdefgh\"}";
    receipt.summary.file_sha256 = sha256_hex(receipt.bytes);
    cut when{at, after};
    {
        sql_run_store runs(std::make_unique<cut_connection>(database, database.time(), when), database.time());
        sql_lab_store lab(std::make_unique<cut_connection>(database, database.time(), when), database.time());
        int tries = 0;
        while (!live(runs, lab, receipt)) REQUIRE(++tries < 3);
        CHECK(tries == (when.done ? 1 : 0));
    }
    const auto store = database.open();
    const auto all = store->list_runs({}).value().runs;
    INFO("cut " << (after ? "after" : "before") << " statement " << at);
    REQUIRE(all.size() == 1);
    CHECK(all[0].state == run_state::done);
    CHECK(all[0].receipt_id == receipt.summary.id);
    CHECK(all[0].fencing_token == 1);
    CHECK(store->list_receipts({}).value().receipts.size() == 1);
    CHECK(store->receipt_file(receipt_id(receipt.summary.id)).value() == receipt.bytes);
    return when.done;
}

int cuts_survived(test::empty_database::kind kind) {
    int cuts = 0;
    for (const bool after : {false, true})
        for (int at = 0; survives(kind, at, after); ++at) ++cuts;
    return cuts;
}

}  // namespace

TEST_CASE("a hub may die before or after any statement from trigger to receipt (sqlite)") {
    CHECK(cuts_survived(test::empty_database::kind::sqlite) > 60);
}

TEST_CASE("a hub may die before or after any statement from trigger to receipt (postgresql)") {
    CHECK(cuts_survived(test::empty_database::kind::postgresql) > 60);
}
