// The known-cost probe: a small matrix product on the page's GPU.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>

#include "browser/page_driver.hpp"

namespace assay {

/// Runs gpu_probe.js in the page and returns its rate in GFLOP/s; absent without an adapter, 0 when the product was wrong.
/// Takes some 100 ms on a software adapter, less on hardware.
boost::asio::awaitable<result<std::optional<double>>> probe_gpu(page_driver* page, std::chrono::milliseconds limit);

/// The script and the shader, built into the program.
extern const char* const gpu_probe_script;
extern const char* const gpu_probe_shader;

}  // namespace assay
