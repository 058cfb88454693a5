// Reads a child's output line by line, bounded, for as long as the child writes.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "browser/child_process.hpp"

namespace assay {

/// What a line reader calls, on the io_context's thread.
struct line_handlers {
    /// One line without its end. `whole` is false when the line was longer than the bound: its start is given, the rest is dropped.
    std::function<void(std::string line, bool whole)> line;
    /// The other side closed; called once, not after stop().
    std::function<void()> end;
};

/// A running reader; stop() or dropping the last pointer's owner through stop() ends it.
class line_reader {
  public:
    virtual ~line_reader() = default;
    virtual void stop() = 0;
};

/// Starts to read `descriptor`, which must be non-blocking.
std::shared_ptr<line_reader> start_line_reader(boost::asio::any_io_executor executor, unique_descriptor descriptor,
                                               std::size_t max_line_bytes, line_handlers handlers);

}  // namespace assay
