#include "browser/gpu_probe.hpp"

#include <charconv>
#include <cmath>

namespace assay {

boost::asio::awaitable<result<std::optional<double>>> probe_gpu(page_driver* page, std::chrono::milliseconds limit) {
    std::string script = gpu_probe_script;
    script.erase(script.find_last_not_of("; \n") + 1);  // a function expression to call
    // The shader holds neither a backtick nor a backslash, so that a template literal carries it as it is.
    std::string call = "(" + script + ")(`" + gpu_probe_shader + "`)";
    auto text = co_await page->evaluate_text(std::move(call), limit);
    if (!text) co_return text.error();
    if (text->empty()) co_return std::optional<double>();
    double rate = 0;
    const auto parsed = std::from_chars(text->data(), text->data() + text->size(), rate);
    if (parsed.ec != std::errc{} || !std::isfinite(rate) || rate < 0)
        co_return error{error_code::protocol_error, "the GPU probe answered '" + *text + "'"};
    co_return std::optional<double>(rate);
}

}  // namespace assay
