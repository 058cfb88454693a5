#include "http/progress_ring.hpp"

#include <charconv>

#include "contract/json_writer.hpp"
#include "core/random.hpp"

namespace assay::http {

std::string event_frame(std::string_view id, std::string_view kind, std::string_view data) {
    std::string frame;
    frame.reserve(id.size() + kind.size() + data.size() + 32);
    if (!id.empty()) frame.append("id: ").append(id).append("\n");
    frame.append("event: ").append(kind).append("\n");
    while (true) {
        const auto end = data.find('\n');
        frame.append("data: ").append(data.substr(0, end)).append("\n");
        if (end == std::string_view::npos) break;
        data.remove_prefix(end + 1);
    }
    frame += '\n';
    return frame;
}

namespace {

class one_frame final : public event_stream {
  public:
    explicit one_frame(std::string frame) : frame_(std::move(frame)) {}
    batch next(std::size_t) override { return {std::exchange(frame_, {}), true}; }

  private:
    std::string frame_;
};

}  // namespace

std::unique_ptr<event_stream> single_frame_stream(std::string frame) {
    return std::make_unique<one_frame>(std::move(frame));
}

progress_ring::progress_ring() : progress_ring(std::to_string(system_random().next_u64())) {}

progress_ring::progress_ring(std::string epoch, progress_limits limits) : epoch_(std::move(epoch)), limits_(limits) {}

void progress_ring::publish(run_progress progress) {
    if (progress.json_text.size() > limits_.event_bytes) {
        progress.kind = "log";
        progress.json_text = json_object()
                                 .add("run", progress.run)
                                 .add("level", "warning")
                                 .add("message", "An event over the size limit was left out")
                                 .text();
    }
    {
        const std::lock_guard lock(mutex_);
        auto found = rings_.find(progress.run);
        if (found == rings_.end()) {
            if (rings_.size() >= limits_.runs) {
                rings_.erase(order_.front());
                order_.pop_front();
            }
            found = rings_.emplace(progress.run, std::make_shared<run_ring>(limits_.events_per_run)).first;
            order_.push_back(progress.run);
        }
        auto& ring = *found->second;
        const auto number = ring.next_number++;
        const bool last = progress.kind == "done";
        ring.ended = ring.ended || last;
        ring.entries.push({number,
                           std::make_shared<const std::string>(
                               event_frame(epoch_ + "-" + std::to_string(number), progress.kind, progress.json_text)),
                           last});
    }
    version_.fetch_add(1, std::memory_order_release);
}

bool progress_ring::knows(std::string_view run) const {
    const std::lock_guard lock(mutex_);
    return rings_.find(run) != rings_.end();
}

bool progress_ring::is_open(std::string_view run) const {
    const std::lock_guard lock(mutex_);
    const auto found = rings_.find(run);
    return found != rings_.end() && !found->second->ended;
}

/// Reads one run's ring from a place onwards.
class ring_stream final : public event_stream {
  public:
    ring_stream(progress_ring& owner, std::shared_ptr<progress_ring::run_ring> ring, std::uint64_t seen)
        : owner_(owner), ring_(std::move(ring)), seen_(seen) {}

    batch next(std::size_t limit) override {
        batch out;
        const std::lock_guard lock(owner_.mutex_);
        const auto& entries = ring_->entries.values();
        if (entries.empty() || entries.back().number <= seen_) {
            out.ended = ring_->ended;
            return out;
        }
        const auto oldest = entries.front().number;
        if (seen_ + 1 < oldest) {
            out.bytes += event_frame({}, "gap", json_object().add("missed", oldest - seen_ - 1).text());
            seen_ = oldest - 1;
        }
        for (auto i = static_cast<std::size_t>(seen_ + 1 - oldest); i < entries.size() && out.bytes.size() < limit;
             ++i) {
            out.bytes += *entries[i].frame;
            seen_ = entries[i].number;
        }
        out.ended = ring_->ended && seen_ == entries.back().number;
        return out;
    }

  private:
    progress_ring& owner_;
    std::shared_ptr<progress_ring::run_ring> ring_;
    std::uint64_t seen_;
};

std::unique_ptr<event_stream> progress_ring::open(std::string_view run, std::optional<std::string_view> last_event_id) {
    const std::lock_guard lock(mutex_);
    auto found = rings_.find(run);
    if (found == rings_.end()) {
        // A reader may come before the first event: an empty ring takes the place, within the same bound.
        if (rings_.size() >= limits_.runs) {
            rings_.erase(order_.front());
            order_.pop_front();
        }
        found = rings_.emplace(std::string(run), std::make_shared<run_ring>(limits_.events_per_run)).first;
        order_.emplace_back(run);
    }
    std::uint64_t seen = 0;
    if (last_event_id && last_event_id->starts_with(epoch_ + "-")) {
        const auto digits = last_event_id->substr(epoch_.size() + 1);
        std::uint64_t number = 0;
        const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (failed == std::errc() && end == digits.data() + digits.size() && number < found->second->next_number)
            seen = number;
    }
    const auto& entries = found->second->entries.values();
    if (seen == 0 && !entries.empty()) seen = entries.front().number - 1;
    return std::make_unique<ring_stream>(*this, found->second, seen);
}

}  // namespace assay::http
