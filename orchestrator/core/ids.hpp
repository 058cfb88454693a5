// Strong types for identifiers, so that a run's id is never taken for a receipt's.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

class clock;
class random_source;

/// A string with a type. `Tag` is any incomplete type.
template <class Tag>
class strong_id {
  public:
    strong_id() = default;
    explicit strong_id(std::string text) : text_(std::move(text)) {}
    const std::string& text() const { return text_; }
    bool empty() const { return text_.empty(); }
    auto operator<=>(const strong_id&) const = default;

  private:
    std::string text_;
};

using run_id = strong_id<struct run_id_tag>;
using receipt_id = strong_id<struct receipt_id_tag>;
using machine_id = strong_id<struct machine_id_tag>;
using schedule_id = strong_id<struct schedule_id_tag>;

/// A new identifier: 26 characters of Crockford base 32, 48 bits of UTC milliseconds first (a ULID), so that text order
/// is time order.
std::string make_sortable_id(const clock& time, random_source& random);

/// True for text that make_sortable_id could have made; the only form accepted from outside.
bool is_sortable_id(std::string_view text);

}  // namespace assay

template <class Tag>
struct std::hash<assay::strong_id<Tag>> {
    std::size_t operator()(const assay::strong_id<Tag>& id) const noexcept {
        return std::hash<std::string>{}(id.text());
    }
};
