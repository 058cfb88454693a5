// The hub's endpoints over both stores: what agents may ask and what they get.
#include "lab/lab_hub.hpp"

#include <future>

#include "contract/lab_messages.hpp"
#include "core/random.hpp"
#include "receipt/digest.hpp"
#include "receipt/envelope.hpp"
#include "receipt/trust.hpp"
#include "store/each_store.hpp"
#include "store/open_store.hpp"
#include "support/failed_receipt.hpp"

using namespace assay;
using namespace std::chrono_literals;

namespace {

/// A hub and one machine with its key.
struct bench {
    explicit bench(test::empty_database& database, run_store& runs, bool trust_at_sight = true)
        : machines(std::move(open_lab_store(database.url(), database.time()).value())),
          hub({.runs = &runs,
               .machines = machines.get(),
               .time = &database.time(),
               .random = &random,
               .trust_at_sight = trust_at_sight,
               .look = 20ms}),
          endpoints(hub.endpoints()) {}

    /// Calls the endpoint of that pattern; the first capture is filled with `capture`.
    http_response call(const std::string& method, const std::string& pattern, std::string body,
                       std::string capture = {}, std::string position = {}) {
        for (auto& endpoint : endpoints) {
            if (endpoint.method != method || endpoint.pattern != pattern) continue;
            http_request request;
            request.method = method;
            request.body = std::move(body);
            if (const auto open = pattern.find('{'); open != std::string::npos)
                request.captures.emplace_back(pattern.substr(open + 1, pattern.find('}') - open - 1), capture);
            if (!position.empty()) request.query.emplace_back("position", position);
            if (endpoint.blocking) return endpoint.blocking(request);
            // `answered` is shared with the hub's thread, which may answer after the wait here has ended.
            auto answered = std::make_shared<std::promise<http_response>>();
            auto answer = answered->get_future();
            endpoint.deferred(std::move(request),
                              [answered](http_response response) { answered->set_value(std::move(response)); });
            REQUIRE(answer.wait_for(20s) == std::future_status::ready);
            return answer.get();
        }
        FAIL("no endpoint " << method << " " << pattern);
        return {};
    }
    http_response register_machine(std::vector<std::string> labels = {}, std::vector<std::string> rotations = {}) {
        machine_registration self;
        self.machine_id = machine;
        self.public_key = base64(key.public_half().bytes());
        self.name = "mac-1";
        self.labels = std::move(labels);
        self.rotations = std::move(rotations);
        return call("POST", "/api/v1/lab/machines", registration_text(self));
    }
    http_response ask(int wait_ms = 0) {
        return call("POST", "/api/v1/leases", lease_request_text({machine, wait_ms}));
    }
    lease_grant granted(int wait_ms = 0) {
        const auto answer = ask(wait_ms);
        REQUIRE(answer.status == 200);
        return parse_lease_grant(answer.body).value();
    }
    /// A receipt of that run, the same sealed, and its upload in two parts.
    static receipt document_of(const std::string& run, const std::string& id = "01KREC00000000000000000001") {
        return test::failed_receipt(id, run);
    }
    template <typename... Id>
    std::string receipt_of(const std::string& run, const signing_key& signer, const Id&... id) {
        return seal(receipt_text(document_of(run, id...)), signer).value();
    }
    std::string upload(const std::string& file) {
        const auto digest = sha256_hex(file);
        const auto half = file.size() / 2;
        CHECK(call("POST", "/api/v1/uploads/{sha256}", file.substr(0, half), digest, "0").status == 200);
        CHECK(parse_upload_progress(call("GET", "/api/v1/uploads/{sha256}", {}, digest).body).value() == half);
        CHECK(call("POST", "/api/v1/uploads/{sha256}", file.substr(half), digest, std::to_string(half)).status == 200);
        return digest;
    }
    int deliver(const lease_grant& grant, const std::string& digest) {
        return call("POST", "/api/v1/leases/{run}/receipt", delivery_text({grant.fencing_token, "failed", digest}),
                    grant.run)
            .status;
    }

    signing_key key = signing_key::from_seed(std::string(32, 'm')).value();
    std::string machine = machine_id_of(key.public_half());
    seeded_random random{9};
    std::unique_ptr<lab_store> machines;
    lab::lab_hub hub;
    std::vector<http_endpoint> endpoints;
};

}  // namespace

STORE_TEST(
    "an unknown machine gets no work, a registered one what matches its labels, an idle hub's answer is nothing") {
    bench lab(database, store);
    CHECK(lab.ask().status == 404);
    CHECK(lab.register_machine({"lab-2"}).status == 200);
    CHECK(lab.ask().status == 204);
    auto other = test::sample_run(1), matching = test::sample_run(2);
    other.required_labels = {"nvidia"};
    matching.required_labels = {"lab-2"};
    REQUIRE(store.enqueue(other).has_value());
    REQUIRE(store.enqueue(matching).has_value());
    CHECK(lab.granted().run == matching.id);
}

STORE_TEST("a machine that waits gets a run as soon as there is one") {
    bench lab(database, store);
    REQUIRE(lab.register_machine().status == 200);
    auto grant = std::async(std::launch::async, [&lab] { return lab.ask(15000); });
    while (lab.hub.waiting() == 0) std::this_thread::sleep_for(1ms);
    REQUIRE(store.enqueue(test::sample_run(1)).has_value());
    lab.hub.wake();
    const auto answer = grant.get();
    CHECK(answer.status == 200);
    CHECK(parse_lease_grant(answer.body).value().run == test::sample_run(1).id);
}

STORE_TEST("an answer that was lost on its way is given again: the same run under the same token") {
    bench lab(database, store);
    REQUIRE(lab.register_machine().status == 200);
    REQUIRE(store.enqueue(test::sample_run(1)).has_value());
    REQUIRE(store.enqueue(test::sample_run(2)).has_value());
    const auto first = lab.granted(), again = lab.granted();
    CHECK(first.run == again.run);
    CHECK(first.fencing_token == again.fencing_token);
}

STORE_TEST("a machine that waits for approval, drains or is quarantined gets nothing new") {
    bench lab(database, store, false);
    REQUIRE(store.enqueue(test::sample_run(1)).has_value());
    REQUIRE(lab.register_machine().status == 200);
    const auto set_state = [&](const std::string& state) {
        return lab
            .call("POST", "/api/v1/lab/machines/{machine}/state", R"({"state":")" + state + R"(","reason":"test"})",
                  lab.machine)
            .status;
    };
    CHECK(lab.ask().status == 204);  // pending
    for (const char* state : {"draining", "quarantined", "maintenance"}) {
        CHECK(set_state(state) == 200);
        CHECK(lab.ask().status == 204);
    }
    CHECK(set_state("nonsense") == 400);
    CHECK(set_state("active") == 200);
    CHECK(lab.ask().status == 200);
}

STORE_TEST("heartbeats need the claim's token and bring news of a cancel") {
    bench lab(database, store);
    REQUIRE(lab.register_machine().status == 200);
    REQUIRE(store.enqueue(test::sample_run(1)).has_value());
    const auto grant = lab.granted();
    const auto beat = [&](std::int64_t token) {
        return lab.call("POST", "/api/v1/leases/{run}/heartbeat", heartbeat_text({token, "measuring"}), grant.run);
    };
    CHECK_FALSE(parse_heartbeat_answer(beat(grant.fencing_token).body).value().cancel);
    CHECK(store.find_run(run_id(grant.run)).value().phase == "measuring");
    CHECK(beat(grant.fencing_token + 1).status == 409);
    REQUIRE(store.request_cancel(run_id(grant.run)).has_value());
    CHECK(parse_heartbeat_answer(beat(grant.fencing_token).body).value().cancel);
}

STORE_TEST("a receipt ends its run once, and a second delivery is a success that changes nothing") {
    bench lab(database, store);
    REQUIRE(lab.register_machine().status == 200);
    REQUIRE(store.enqueue(test::sample_run(1)).has_value());
    const auto grant = lab.granted();
    const auto file = lab.receipt_of(grant.run, lab.key);
    const auto digest = lab.upload(file);
    CHECK(lab.deliver(grant, digest) == 200);
    CHECK(lab.deliver(grant, digest) == 200);
    CHECK(store.find_run(run_id(grant.run)).value().state == run_state::failed);
    CHECK(store.receipt_file(receipt_id("01KREC00000000000000000001")).value() == file);
    CHECK(store.list_receipts({}).value().receipts.size() == 1);
    CHECK(lab.machines->upload_size(digest).value() == 0);
}

STORE_TEST("a receipt of another key, another run or a stale claim is refused, and the run goes on") {
    bench lab(database, store);
    REQUIRE(lab.register_machine().status == 200);
    REQUIRE(store.enqueue(test::sample_run(1)).has_value());
    const auto grant = lab.granted();
    CHECK(lab.deliver(grant, lab.upload(lab.receipt_of(grant.run, signing_key::generate()))) == 409);
    CHECK(lab.deliver(grant, lab.upload(lab.receipt_of("01KANOTHERRUN", lab.key))) == 400);
    auto stale = grant;
    stale.fencing_token -= 1;
    CHECK(lab.deliver(stale, lab.upload(lab.receipt_of(grant.run, lab.key))) == 409);
    CHECK(lab.deliver(grant, std::string(64, 'a')) == 503);  // no part of it has arrived: send it again
    CHECK(store.find_run(run_id(grant.run)).value().state == run_state::running);
    CHECK(store.list_receipts({}).value().receipts.empty());
}

STORE_TEST("a receipt that does not recompute, or that speaks for another machine, is refused and not stored") {
    bench lab(database, store);
    REQUIRE(lab.register_machine().status == 200);
    REQUIRE(store.enqueue(test::sample_run(1)).has_value());
    const auto grant = lab.granted();
    const auto answer_to = [&](const receipt& document) {
        const auto digest = lab.upload(seal(receipt_text(document), lab.key).value());
        return lab.call("POST", "/api/v1/leases/{run}/receipt", delivery_text({grant.fencing_token, "failed", digest}),
                        grant.run);
    };
    auto prettier = bench::document_of(grant.run);
    prettier.analysis.speedup = 45.1;
    const auto refused = answer_to(prettier);
    CHECK(refused.status == 400);
    CHECK(refused.body.find("/analysis/speedup says 45.1") != std::string::npos);
    auto stranger = bench::document_of(grant.run);
    stranger.machine.emplace();
    stranger.machine->machine_id = "00000000000000bb";
    stranger.chain.machine_id = stranger.machine->machine_id;
    CHECK(answer_to(stranger).status == 400);
    CHECK(store.list_receipts({}).value().receipts.empty());
    CHECK(store.find_run(run_id(grant.run)).value().state == run_state::running);
    CHECK(answer_to(bench::document_of(grant.run)).status == 200);
}

STORE_TEST("two agents with one machine's key get one run between them, and one receipt ends it") {
    bench lab(database, store);
    REQUIRE(lab.register_machine().status == 200);
    for (const int number : {1, 2}) REQUIRE(store.enqueue(test::sample_run(number)).has_value());
    const auto first = lab.granted(), twin = lab.granted();
    CHECK(twin.run == first.run);
    CHECK(lab.deliver(first, lab.upload(lab.receipt_of(first.run, lab.key))) == 200);
    const auto other = lab.receipt_of(first.run, lab.key, "01KREC00000000000000000002");
    CHECK(lab.deliver(twin, lab.upload(other)) == 409);
    CHECK(store.list_receipts({}).value().receipts.size() == 1);
    CHECK(lab.granted().run == test::sample_run(2).id);
}

STORE_TEST("a run whose machine has no receipt to give ends with the reason and is not given again") {
    bench lab(database, store);
    REQUIRE(lab.register_machine().status == 200);
    REQUIRE(store.enqueue(test::sample_run(1)).has_value());
    const auto grant = lab.granted();
    const auto end = [&](std::int64_t token) {
        return lab.call("POST", "/api/v1/leases/{run}/end", lease_end_text({token, "the disk is full"}), grant.run)
            .status;
    };
    CHECK(end(grant.fencing_token + 1) == 409);
    CHECK(store.find_run(run_id(grant.run)).value().state == run_state::running);
    CHECK(end(grant.fencing_token) == 200);
    const auto row = store.find_run(run_id(grant.run)).value();
    CHECK(row.state == run_state::failed);
    CHECK(row.error_text == "the disk is full");
    CHECK(end(grant.fencing_token) == 409);
    CHECK(lab.ask().status == 204);
}

STORE_TEST("a rotated key is accepted by the old key's signature, and a stranger's is not") {
    bench lab(database, store);
    REQUIRE(lab.register_machine().status == 200);
    const auto old = lab.key, next = signing_key::generate(), last = signing_key::generate();
    const auto first_step = rotation_certificate(old, next, lab.machine, "2026-11-30T21:00:00.000Z"),
               second_step = rotation_certificate(next, last, lab.machine, "2026-12-01T21:00:00.000Z");
    const auto register_as = [&](const signing_key& key, std::vector<std::string> rotations) {
        lab.key = key;
        return lab.register_machine({}, std::move(rotations)).status;
    };
    CHECK(register_as(last, {}) == 403);
    CHECK(register_as(last, {second_step}) == 403);
    CHECK(register_as(last, {first_step, second_step + " "}) == 403);
    CHECK(register_as(last, {second_step, first_step}) == 200);
    CHECK(register_as(last, {}) == 200);
    // The key that was given up opens the door no more.
    CHECK(register_as(old, {}) == 403);
    CHECK(register_as(next, {first_step}) == 403);
    lab.key = last;
    REQUIRE(store.enqueue(test::sample_run(1)).has_value());
    const auto grant = lab.granted();
    CHECK(lab.deliver(grant, lab.upload(lab.receipt_of(grant.run, old))) == 409);
    CHECK(lab.deliver(grant, lab.upload(lab.receipt_of(grant.run, last))) == 200);
}

STORE_TEST("a hub that ends answers all that wait with nothing") {
    auto lab = std::make_unique<bench>(database, store);
    REQUIRE(lab->register_machine().status == 200);
    std::promise<int> status;
    for (auto& endpoint : lab->endpoints)
        if (endpoint.deferred) {
            http_request request;
            request.body = lease_request_text({lab->machine, 60000});
            endpoint.deferred(std::move(request),
                              [&status](http_response response) { status.set_value(response.status); });
        }
    lab.reset();
    auto answer = status.get_future();
    REQUIRE(answer.wait_for(10s) == std::future_status::ready);
    CHECK(answer.get() == 204);
}
