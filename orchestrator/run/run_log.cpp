#include "run/run_log.hpp"

#include <spdlog/spdlog.h>

namespace assay {

std::shared_ptr<spdlog::logger> log_of_run(std::string run) {
    return spdlog::default_logger()->clone(std::move(run));
}

}  // namespace assay
