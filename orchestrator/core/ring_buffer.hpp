// A bounded sequence that forgets its oldest: the last lines Chrome said, the last events of a run.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

namespace assay {

/// Keeps the last `capacity` values; capacity >= 1.
template <class T>
class ring_buffer {
  public:
    explicit ring_buffer(std::size_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {}

    void push(T value) {
        if (values_.size() == capacity_) {
            values_.pop_front();
            ++forgotten_;
        }
        values_.push_back(std::move(value));
    }
    const std::deque<T>& values() const { return values_; }
    /// How many values have been forgotten since the start.
    std::size_t forgotten() const { return forgotten_; }
    std::size_t capacity() const { return capacity_; }
    bool empty() const { return values_.empty(); }

  private:
    std::size_t capacity_;
    std::size_t forgotten_ = 0;
    std::deque<T> values_;
};

}  // namespace assay
