// A run's progress on a terminal, from its live events: the same for a run here and for one on a server.
#pragma once

#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

#include "run/ports.hpp"

namespace assay {

/// Draws one line that renews itself: arm, phase, steps done, step time, loss. Off a terminal it prints a line for each arm
/// and phase instead. Events that are unknown or malformed are passed over.
class progress_bar {
  public:
    progress_bar(std::ostream& out, bool is_terminal) : out_(out), is_terminal_(is_terminal) {}
    ~progress_bar() { clear(); }
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    void take(std::string_view kind, std::string_view json_text);
    /// Removes the line, so that something else can be printed.
    void clear();

  private:
    void draw(const std::string& line);

    std::ostream& out_;
    const bool is_terminal_;
    std::size_t drawn_ = 0;
    std::string last_said_;
};

/// Shows a local run's events; they come from the thread that runs it.
class progress_printer final : public progress_sink {
  public:
    progress_printer(std::ostream& out, bool is_terminal) : bar_(out, is_terminal) {}
    void publish(run_progress progress) override { bar_.take(progress.kind, progress.json_text); }

  private:
    progress_bar bar_;
};

}  // namespace assay
