// An agent's side of the lab against a hub whose answers are scripted: what it delivers, when, and how often.
#include "lab/hub_run_store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "receipt/digest.hpp"
#include "scripted_hub.hpp"
#include "support/fake_clock.hpp"
#include "support/temporary_folder.hpp"

using namespace assay;
using namespace std::chrono_literals;
using test::hub_call;
using test::hub_reply;
using test::scripted_hub;

namespace {

const std::string run = "01KC00000000000000000000RA", receipt_name = "01KC00000000000000000000EA";
const machine_id self("00000000000000aa");

/// A hub that takes everything and gives out `run` once at most.
struct plain_hub {
    int grants_left = 1;
    std::string received;              ///< of the upload
    int receipt_status = 200;          ///< of the delivery
    std::size_t cut_upload_after = 0;  ///< so many parts are taken, the answer to the last of them is lost
    int parts = 0;

    hub_reply operator()(const hub_call& call) {
        if (call.target == "/api/v1/leases") {
            if (grants_left-- <= 0) return {204, "", false};
            lease_grant grant{run, R"({"preset":"tiny"})", {}, 1, 60, 1, "2026-11-30T21:00:00.000Z"};
            return {200, lease_grant_text(grant), false};
        }
        if (call.target.starts_with("/api/v1/uploads/")) {
            if (call.method == "GET") return {200, upload_progress_text(received.size()), false};
            const auto position = std::stoul(call.target.substr(call.target.find("position=") + 9));
            if (position <= received.size()) received = received.substr(0, position) + call.body;
            return {200, upload_progress_text(received.size()), ++parts == static_cast<int>(cut_upload_after)};
        }
        if (call.target.ends_with("/receipt") && receipt_status != 200)
            return {receipt_status, R"({"code":"x","detail":"the hub's reason"})", false};
        return {};
    }
};

struct agent_bench {
    explicit agent_bench(scripted_hub& hub, std::optional<std::string> ca = {})
        : client(hub.address(), "secret", std::move(ca)), store(make_store()) {}
    lab::hub_run_store make_store() {
        machine_registration me;
        me.machine_id = self.text();
        me.public_key = "key";
        me.name = "mac-1";
        lab::agent_timing quick;
        quick.long_poll = 0ms;
        quick.first_pause = 1ms;
        quick.longest_pause = 2ms;
        quick.part_bytes = 10;
        return lab::hub_run_store(&client, lab::outbox::open(home.path()).value(), me, time, quick);
    }
    std::optional<run_row> claim() { return store.claim(self, {}, 60s).value(); }
    void finish(const run_row& row) {
        receipt_summary summary;
        summary.id = receipt_name;
        summary.file_sha256 = sha256_hex(file);
        REQUIRE(store.finish(run_id(row.id), row.fencing_token, run_state::done, summary, file).has_value());
    }

    test::temporary_folder home;
    test::fake_clock time;
    std::string file = std::string(25, 'r');
    lab::hub_client client;
    lab::hub_run_store store;
};

int count(const std::vector<hub_call>& calls, std::string_view ending) {
    return static_cast<int>(
        std::count_if(calls.begin(), calls.end(), [&](const auto& call) { return call.target.ends_with(ending); }));
}

}  // namespace

TEST_CASE("an agent registers, takes a run and delivers its receipt in parts, once") {
    plain_hub script;
    scripted_hub hub([&](const hub_call& call) { return script(call); });
    agent_bench agent(hub);
    const auto row = agent.claim();
    REQUIRE(row.has_value());
    CHECK(row->id == run);
    agent.finish(*row);
    CHECK(script.received == agent.file);
    CHECK(script.parts == 3);
    CHECK(agent.store.deliver_waiting() == 0);
    CHECK(count(hub.calls(), "/receipt") == 1);
    CHECK(count(hub.calls(), "/machines") == 1);
}

TEST_CASE("an upload whose answer was lost goes on where the hub is, and the receipt is delivered once") {
    plain_hub script;
    script.cut_upload_after = 2;
    scripted_hub hub([&](const hub_call& call) { return script(call); });
    agent_bench agent(hub);
    agent.finish(agent.claim().value());  // cut in the middle
    CHECK(script.received.size() == 20);
    CHECK(count(hub.calls(), "/receipt") == 0);
    CHECK(agent.store.deliver_waiting() == 0);
    CHECK(script.received == agent.file);
    CHECK(script.parts == 3);  // no byte was sent twice
    CHECK(count(hub.calls(), "/receipt") == 1);
}

TEST_CASE(
    "a receipt waits on the disk of an agent that died and is delivered by the next process, before it takes work") {
    plain_hub script;
    script.grants_left = 2;
    bool away = false;
    scripted_hub hub([&](const hub_call& call) { return away ? hub_reply{200, "", true} : script(call); });
    agent_bench agent(hub);
    const auto row = agent.claim();
    away = true;
    agent.finish(row.value());
    auto next = agent.make_store();
    CHECK_FALSE(next.claim(self, {}, 60s).value().has_value());
    CHECK(next.running_on(self).value().empty());
    away = false;
    CHECK(next.claim(self, {}, 60s).value().has_value());
    CHECK(script.received == agent.file);
    CHECK(count(hub.calls(), "/receipt") == 1);
}

TEST_CASE("a run whose receipt the hub refuses ends at the hub with the reason, and is not taken up again") {
    plain_hub script;
    script.receipt_status = 409;
    scripted_hub hub([&](const hub_call& call) { return script(call); });
    agent_bench agent(hub);
    agent.finish(agent.claim().value());
    CHECK(agent.store.deliver_waiting() == 0);
    const auto calls = hub.calls();
    REQUIRE(count(calls, "/api/v1/leases/" + run + "/end") == 1);
    CHECK(parse_lease_end(calls.back().body).value().reason.find("the hub's reason") != std::string::npos);
    CHECK(std::filesystem::exists(agent.home.path() / "agent" / "refused" / (receipt_name + ".assay.json")));
}

TEST_CASE("a run that ended without a receipt ends at the hub too, however often the way is cut") {
    plain_hub script;
    int cuts = 2;
    scripted_hub hub([&](const hub_call& call) {
        if (call.target.ends_with("/end") && cuts-- > 0) return hub_reply{200, "", true};
        return script(call);
    });
    agent_bench agent(hub);
    REQUIRE(agent.claim().has_value());
    REQUIRE(agent.store.end_without_receipt(run_id(run), run_state::failed, "the disk is full").has_value());
    CHECK(agent.store.running_on(self).value().empty());
    auto next = agent.make_store();
    while (next.deliver_waiting() > 0) {
    }
    CHECK(count(hub.calls(), "/end") == 3);
    const auto end = parse_lease_end(hub.calls().back().body).value();
    CHECK(end.reason == "the disk is full");
    CHECK(end.fencing_token == 1);
}

TEST_CASE("a receipt that an agent's earlier key signed is delivered before the registration with the new one") {
    plain_hub script;
    script.receipt_status = 503;
    scripted_hub hub([&](const hub_call& call) { return script(call); });
    agent_bench agent(hub);
    agent.finish(agent.claim().value());
    script.receipt_status = 200;
    auto rotated = agent.make_store();
    CHECK_FALSE(rotated.claim(self, {}, 60s).value().has_value());
    const auto calls = hub.calls();
    const auto of = [&](std::string_view ending) {
        return std::find_if(calls.rbegin(), calls.rend(), [&](const auto& c) { return c.target.ends_with(ending); });
    };
    CHECK(of("/receipt") > of("/machines"));  // reverse iterators: the later call comes first
    CHECK(count(calls, "/machines") == 2);
}

TEST_CASE("a token that the hub does not accept costs no receipt") {
    plain_hub script;
    script.receipt_status = 403;
    scripted_hub hub([&](const hub_call& call) { return script(call); });
    agent_bench agent(hub);
    agent.finish(agent.claim().value());
    CHECK(agent.store.deliver_waiting() == 1);
    script.receipt_status = 200;
    CHECK(agent.store.deliver_waiting() == 0);
}

TEST_CASE("a journal that a crash tore does not keep an agent from its work") {
    plain_hub script;
    scripted_hub hub([&](const hub_call& call) { return script(call); });
    agent_bench agent(hub);
    std::ofstream(agent.home.path() / "agent" / "current.json") << "{torn";
    CHECK(agent.store.running_on(self).value().empty());
    CHECK(agent.claim().has_value());
}

TEST_CASE("an agent trusts a hub's own certificate by the authority it was given, and no other") {
    test::temporary_folder good, other;
    test::make_certificate(good.path().string());
    test::make_certificate(other.path().string());
    plain_hub script;
    script.cut_upload_after = 1;
    scripted_hub hub([&](const hub_call& call) { return script(call); }, good.path().string());
    {
        agent_bench stranger(hub, (other.path() / "hub.pem").string());
        CHECK_FALSE(stranger.claim().has_value());
        CHECK(hub.calls().empty());
    }
    agent_bench agent(hub, (good.path() / "hub.pem").string());
    agent.finish(agent.claim().value());
    while (agent.store.deliver_waiting() > 0) {
    }
    CHECK(script.received == agent.file);
    CHECK(count(hub.calls(), "/receipt") == 1);
}
