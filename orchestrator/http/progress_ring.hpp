// Live progress of runs: bounded rings that the measuring side appends to and that readers of /events pull from.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/http_message.hpp"
#include "core/ring_buffer.hpp"
#include "run/ports.hpp"

namespace assay::http {

struct progress_limits {
    std::size_t events_per_run = 4096;
    std::size_t runs = 64;  ///< the oldest run is forgotten first
    std::size_t event_bytes = 64 * 1024;
};

/// publish() takes one short lock and appends: it never waits for a reader, writes to no socket and wakes no thread.
/// Readers poll version(). All operations are safe from any thread.
class progress_ring final : public progress_sink {
  public:
    /// Event ids of this process are told from an earlier one's by a random epoch.
    progress_ring();
    /// `epoch`: letters and digits that no earlier process used.
    explicit progress_ring(std::string epoch, progress_limits limits = {});

    void publish(run_progress progress) override;

    /// Grows with every publish.
    std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
    bool knows(std::string_view run) const;
    /// True for a run that has a ring and no "done" in it.
    bool is_open(std::string_view run) const;

    /// Frames of `run` after `last_event_id` ("<epoch>-<number>"; absent, foreign or malformed: from the oldest kept).
    /// A reader whose place was overwritten gets one "gap" event that counts what it missed.
    std::unique_ptr<event_stream> open(std::string_view run, std::optional<std::string_view> last_event_id);

  private:
    friend class ring_stream;
    struct entry {
        std::uint64_t number = 0;
        std::shared_ptr<const std::string> frame;
        bool last = false;
    };
    struct run_ring {
        explicit run_ring(std::size_t capacity) : entries(capacity) {}
        ring_buffer<entry> entries;
        std::uint64_t next_number = 1;
        bool ended = false;
    };

    const std::string epoch_;
    const progress_limits limits_;
    std::atomic<std::uint64_t> version_{0};
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<run_ring>, std::less<>> rings_;
    std::deque<std::string> order_;  ///< oldest run first
};

/// One server-sent event: "id", "event" and "data" lines, an empty line.
std::string event_frame(std::string_view id, std::string_view kind, std::string_view data);

/// A stream of one ready frame that then ends: for runs that are over.
std::unique_ptr<event_stream> single_frame_stream(std::string frame);

}  // namespace assay::http
