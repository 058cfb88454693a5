// lab_store over SQL.
#pragma once

#include <memory>

#include "core/clock.hpp"
#include "run/lab_ports.hpp"
#include "store/sql_guard.hpp"

namespace assay {

/// A lab_store on a connection of its own. `time` outlives it.
class sql_lab_store final : public lab_store {
  public:
    sql_lab_store(std::unique_ptr<sql_connection> connection, const clock& time)
        : guard_(std::move(connection)), time_(time) {}

    result<machine_row> register_machine(const machine_row& machine, bool trust_at_sight,
                                         const std::vector<std::string>& rotations) override;
    result<machine_row> see_machine(const machine_id& id) override;
    result<std::vector<machine_row>> list_machines() override;
    result<machine_row> set_machine_state(const machine_id& id, machine_state state, std::string_view reason,
                                          const std::optional<std::string>& until) override;
    result<void> remove_machine(const machine_id& id) override;
    result<machine_row> report_check(const machine_id& id, bool passed, std::string_view reason) override;
    result<std::vector<run_row>> reap_expired(const std::function<std::string()>& make_id) override;
    result<std::uint64_t> add_upload_part(std::string_view sha256, std::uint64_t position,
                                          std::string_view bytes) override;
    result<std::uint64_t> upload_size(std::string_view sha256) override;
    result<std::string> read_upload(std::string_view sha256) override;
    result<void> drop_upload(std::string_view sha256) override;
    result<std::int64_t> drop_old_uploads(std::chrono::seconds age) override;

  private:
    std::string now_text() const { return format_utc(time_.now()); }
    std::int64_t now_ms() const;

    sql_guard guard_;
    const clock& time_;
};

}  // namespace assay
