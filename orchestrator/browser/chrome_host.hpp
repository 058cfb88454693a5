// An arm in a browser: a fresh Chrome with a fresh profile and one page.
#pragma once

#include <memory>
#include <string>

#include "browser/arm_limits.hpp"
#include "browser/chrome_process.hpp"
#include "run/ports.hpp"

namespace assay {

/// What a browser arm is made of.
struct chrome_host_options {
    chrome_launch launch;
    std::string attach_url;  ///< not empty: use the browser behind this WebSocket instead of launching one
    std::string page_url;  ///< "http://127.0.0.1:PORT/arm/"
    arm_limits limits;
};

/// `time` and `random` must outlive the host.
std::unique_ptr<arm_host> make_chrome_host(chrome_host_options options, const clock& time, random_source& random);

}  // namespace assay
