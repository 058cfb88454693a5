// What the lab needs of a store: machines that measure for a hub, lost runs, receipts that arrive in parts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "run/ports.hpp"

namespace assay {

enum class machine_state {
    pending,      ///< known, but an administrator has not approved it yet
    active,       ///< gets work
    draining,     ///< ends what it has, gets nothing new
    quarantined,  ///< failed its environment checks; waits for a person
    maintenance,  ///< gets nothing new until maintenance_until
};
std::string_view machine_state_name(machine_state state);
std::optional<machine_state> machine_state_of_name(std::string_view name);

/// One machine as the hub knows it.
struct machine_row {
    std::string id;  ///< the first 16 digits of its first key's id
    std::string name;
    std::string public_key;  ///< base 64; its receipts must be signed by it
    std::vector<std::string> labels;
    std::string facts_text = "{}";  ///< JSON object: machine, browser, adapter class
    machine_state state = machine_state::pending;
    std::string reason;     ///< why it is in that state
    int failed_checks = 0;  ///< environment checks failed one after the other
    std::string first_seen, last_seen;
    std::optional<std::string> maintenance_until;  ///< UTC
};

/// So many failed environment checks in a row put a machine in quarantine.
inline constexpr int failed_checks_before_quarantine = 3;
/// A run whose machine is lost is tried at most so often, each time as a new record.
inline constexpr int max_attempts = 3;
inline constexpr std::size_t max_machines = 10000;

/// The lab's half of a store. Calls block; failures are results as in run_store.
class lab_store {
  public:
    virtual ~lab_store() = default;

    /// Adds a machine or renews its name, labels, facts and last_seen. A new one becomes active when `trust_at_sight`,
    /// else pending. Another key than the one known for the id is forbidden, unless `rotations` (certificates signed by
    /// the key that is given up) lead from the known key to it.
    virtual result<machine_row> register_machine(const machine_row& machine, bool trust_at_sight,
                                                 const std::vector<std::string>& rotations = {}) = 0;
    /// Marks the machine seen and answers it, its maintenance ended where its time is over.
    virtual result<machine_row> see_machine(const machine_id& id) = 0;
    virtual result<std::vector<machine_row>> list_machines() = 0;
    virtual result<machine_row> set_machine_state(const machine_id& id, machine_state state, std::string_view reason,
                                                  const std::optional<std::string>& until) = 0;
    /// Forgets the machine, so that its home may come back with another key; conflict while a run is its own.
    virtual result<void> remove_machine(const machine_id& id) = 0;
    /// Counts environment checks; the failed_checks_before_quarantine-th failure in a row quarantines.
    virtual result<machine_row> report_check(const machine_id& id, bool passed, std::string_view reason) = 0;

    /// Ends, as interrupted, the runs of registered machines whose lease has run out, and queues the next attempt of
    /// each as a new record named by `make_id`, up to max_attempts. Every run is reaped once, however many
    /// orchestrators ask. Answers the runs ended.
    virtual result<std::vector<run_row>> reap_expired(const std::function<std::string()>& make_id) = 0;

    /// Adds the bytes at `position` of the file with that digest; a part that is there already changes nothing, a hole
    /// is a conflict. Answers how many bytes from the start are there. Bytes are ASCII.
    virtual result<std::uint64_t> add_upload_part(std::string_view sha256, std::uint64_t position,
                                                  std::string_view bytes) = 0;
    virtual result<std::uint64_t> upload_size(std::string_view sha256) = 0;
    /// The whole file when its digest is right; conflict when parts are missing, corrupt when the digest is wrong (the
    /// parts are then dropped, so that the sender can begin anew).
    virtual result<std::string> read_upload(std::string_view sha256) = 0;
    virtual result<void> drop_upload(std::string_view sha256) = 0;
    /// Drops parts that arrived longer ago than `age`; answers how many.
    virtual result<std::int64_t> drop_old_uploads(std::chrono::seconds age) = 0;
};

}  // namespace assay
