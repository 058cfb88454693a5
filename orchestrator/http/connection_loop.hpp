// One connection over any stream: requests in, answers out. Included by the files that make one for a kind of stream.
#pragma once

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/problem.hpp"
#include "http/request_target.hpp"
#include "http/response_head.hpp"

namespace assay::http {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t first_buffer_bytes = 2048;
constexpr std::size_t body_buffer_bytes = 64 * 1024;
constexpr std::size_t event_batch_bytes = 64 * 1024;

template <class View>
std::string_view standard_view(const View& view) {
    return {view.data(), view.size()};
}

/// Where a handler on another thread leaves its answer; the connection sleeps on `answered` meanwhile.
struct mailbox {
    explicit mailbox(asio::io_context& io) : answered(io) {}
    asio::steady_timer answered;
    std::optional<http_response> answer;
};

template <class Stream>
class connection final : public connection_base, public std::enable_shared_from_this<connection<Stream>> {
  public:
    connection(std::shared_ptr<server_core> core, Stream stream, std::string peer)
        : core_(std::move(core)), stream_(std::move(stream)), peer_(std::move(peer)), wakeup_(core_->io) {}

    void abort() override {
        error_code ignored;
        stream_.lowest_layer().close(ignored);
        wakeup_.cancel();
        if (mailbox_) mailbox_->answered.cancel();
        aborted_ = true;
    }
    void wake() override { wakeup_.cancel(); }

    asio::awaitable<void> serve() {
        if constexpr (is_secure) {
            set_deadline(core_->options.limits.header);
            error_code failed;
            co_await stream_.async_handshake(Stream::server, asio::redirect_error(asio::use_awaitable, failed));
            if (failed) {
                abort();
                co_return;
            }
        }
        for (std::size_t served = 0; !aborted_ && served < core_->options.limits.requests_per_connection; ++served) {
            const bool may_follow = co_await serve_one();
            if (!may_follow || core_->stopping) break;
        }
        co_await linger();
        abort();
    }

  private:
    static constexpr bool is_secure = !std::is_same_v<Stream, asio::ip::tcp::socket>;
    using parser = beast_http::request_parser<beast_http::string_body>;
    enum class read_outcome { complete, closed, refused };

    void set_deadline(std::chrono::milliseconds limit) { deadline = core_->coarse_now + limit; }

    /// Reads more bytes behind what is there; false when the peer has closed or an error came.
    asio::awaitable<bool> fill(std::size_t most) {
        if (begin_ > 0) {
            std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                      buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
            end_ -= begin_;
            begin_ = 0;
        }
        if (end_ == buffer_.size()) {
            if (buffer_.size() >= most) co_return false;
            buffer_.resize(std::min(most, std::max(first_buffer_bytes, buffer_.size() * 2)));
        }
        error_code failed;
        const std::size_t count =
            co_await stream_.async_read_some(asio::buffer(buffer_.data() + end_, buffer_.size() - end_),
                                             asio::redirect_error(asio::use_awaitable, failed));
        end_ += count;
        co_return !failed;
    }

    /// Reads one request into parser_. When it is refused, `refusal_` says why and the connection must end.
    asio::awaitable<read_outcome> read_request() {
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(core_->options.limits.header_bytes));
        parser_->body_limit(boost::none);
        parser_->eager(false);
        const auto& limits = core_->options.limits;
        idle = begin_ == end_;
        set_deadline(idle ? limits.idle : limits.header);
        bool header_seen = false;
        while (!parser_->is_done()) {
            bool need_more = begin_ == end_;
            if (!need_more) {
                error_code failed;
                begin_ += parser_->put(asio::buffer(buffer_.data() + begin_, end_ - begin_), failed);
                if (failed == beast_http::error::need_more) {
                    need_more = true;
                } else if (failed) {
                    refusal_ = refusal_of(failed);
                    co_return read_outcome::refused;
                }
            }
            if (!header_seen && parser_->is_header_done()) {
                header_seen = true;
                set_deadline(limits.body);
                if (!check_head()) co_return read_outcome::refused;
                if (parser_->is_done()) break;
                if (wants_continue()) {
                    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
                    error_code failed;
                    co_await asio::async_write(stream_, asio::buffer(go_on),
                                               asio::redirect_error(asio::use_awaitable, failed));
                    if (failed) co_return read_outcome::closed;
                }
                continue;
            }
            if (!need_more) continue;
            const std::size_t most = header_seen ? body_buffer_bytes : limits.header_bytes + first_buffer_bytes;
            if (!co_await fill(most)) co_return read_outcome::closed;
            if (idle) {
                idle = false;
                set_deadline(limits.header);
            }
        }
        co_return read_outcome::complete;
    }

    bool wants_continue() const {
        const auto& message = parser_->get();
        return message.version() >= 11 && boost::beast::iequals(message[beast_http::field::expect], "100-continue");
    }

    /// Checks what the head alone tells; sets the body's limit.
    bool check_head() {
        const auto& message = parser_->get();
        if (message.version() != 11 && message.version() != 10) {
            refusal_ = problem(505, {error_code_of_request, "Only HTTP/1.1 and HTTP/1.0 are spoken here"});
            return false;
        }
        const auto target = standard_view(message.target());
        const auto limit =
            core_->body_limit(standard_view(message.method_string()), target.substr(0, target.find('?')));
        if (const auto length = parser_->content_length(); length && *length > limit) {
            refusal_ =
                problem({assay::error_code::too_large, "The body has " + std::to_string(*length) + " bytes; at most " +
                                                           std::to_string(limit) + " are taken"});
            return false;
        }
        parser_->body_limit(limit);
        return true;
    }

    static constexpr auto error_code_of_request = assay::error_code::invalid_argument;

    http_response refusal_of(error_code failed) const {
        if (failed == beast_http::error::header_limit)
            return problem(
                431, {assay::error_code::too_large, "The request's headers are over the limit of " +
                                                        std::to_string(core_->options.limits.header_bytes) + " bytes"});
        if (failed == beast_http::error::body_limit || failed == beast_http::error::buffer_overflow)
            return problem({assay::error_code::too_large, "The body is over the limit"});
        if (failed == beast_http::error::bad_version)
            return problem(505, {error_code_of_request, "Only HTTP/1.1 and HTTP/1.0 are spoken here"});
        return problem({error_code_of_request, "The request is not well-formed HTTP: " + failed.message()});
    }

    /// Serves one request; false when the connection must end.
    asio::awaitable<bool> serve_one() {
        const auto outcome = co_await read_request();
        if (outcome == read_outcome::closed) co_return false;
        const auto& message = parser_->get();
        head_facts facts;
        facts.date = core_->date;
        if (outcome == read_outcome::refused) {
            facts.keep_alive = false;
            core_->metrics.count_refused();
            co_await write_answer(std::move(refusal_), facts);
            co_return false;
        }
        facts.keep_alive = parser_->keep_alive() && !core_->stopping;
        facts.is_head = message.method() == beast_http::verb::head;
        facts.if_none_match = standard_view(message[beast_http::field::if_none_match]);
        facts.accept_encoding = standard_view(message[beast_http::field::accept_encoding]);
        if (facts.is_head || message.method() == beast_http::verb::get) {
            const auto host = standard_view(message[beast_http::field::host]);
            const auto target = standard_view(message.target());
            if (core_->hosts.allows_host(host)) {
                // A served name holds no escapes, so the raw target finds it or nothing does.
                if (const auto file = core_->files->find(target.substr(0, target.find('?')))) {
                    core_->metrics.count_static();
                    const auto body = begin_static_response(*file, facts, head_);
                    const bool by_kernel = !is_secure && file->kernel_bytes && body.data() == file->bytes.data();
                    bool sent = false;
                    if (by_kernel)
                        sent = co_await write_by_kernel(file);
                    else
                        sent = co_await write(body);
                    if (!sent) co_return false;
                    co_return facts.keep_alive;
                }
            }
        }
        http_request request;
        if (auto refused = take_request(request)) {
            co_await write_answer(std::move(*refused), facts);
            co_return facts.keep_alive && !aborted_;
        }
        auto decided = core_->decide(request);
        const auto begun = std::chrono::steady_clock::now();
        const std::string pattern(decided.target ? decided.target->pattern() : "none");
        const std::string method(decided.target ? request.method : "any");  // an unknown method must not make a series
        if (!decided.answer) {
            co_await answer_with(std::move(*decided.target), std::move(request));
            if (!mailbox_answer_) co_return false;
            decided.answer = std::move(mailbox_answer_);
            mailbox_answer_.reset();
        }
        facts.date = core_->date;  // the second may have changed meanwhile, and its text with it
        if (decided.answer->stream && !facts.is_head) {
            co_await stream_events(std::move(*decided.answer), facts);
            co_return false;
        }
        const int status = decided.answer->status;
        const bool sent = co_await write_answer(std::move(*decided.answer), facts);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
        core_->metrics.count_request(method, pattern, status, taken.count());
        if (!sent) co_return false;
        co_return facts.keep_alive;
    }

    /// Copies the parsed request into our own form; a refusal where its target is malformed.
    std::optional<http_response> take_request(http_request& request) {
        auto& message = parser_->get();
        auto target = parse_request_target(standard_view(message.target()));
        if (!target) {
            const auto& cause = target.error();
            return problem(cause.code == assay::error_code::too_large ? 414 : 400, cause);
        }
        request.method = standard_view(message.method_string());
        request.path = std::move(target->path);
        request.query = std::move(target->query);
        for (const auto& field : message) {
            std::string name(standard_view(field.name_string()));
            std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) {
                return static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter);
            });
            request.headers.emplace_back(std::move(name), standard_view(field.value()));
        }
        request.body = std::move(message.body());
        request.peer = peer_;
        return std::nullopt;
    }

    /// Runs the handler where it belongs and leaves the answer in mailbox_answer_ (nothing when the connection ended).
    asio::awaitable<void> answer_with(route target, http_request request) {
        deadline = steady_time::max();
        if (target.built_in && target.built_in->place == runs_on::server_thread) {
            mailbox_answer_ = call(target, core_->api, request);
            co_return;
        }
        mailbox_ = std::make_shared<mailbox>(core_->io);
        auto box = mailbox_;
        auto core = core_;
        const respond_function respond = [box, core](http_response answer) {
            auto shared = std::make_shared<http_response>(std::move(answer));
            asio::post(core->io, [box, shared] {
                if (box->answer) return;
                box->answer = std::move(*shared);
                box->answered.cancel();
            });
        };
        const auto& limits = core_->options.limits;
        bool accepted = true;
        if (target.added && target.added->deferred) {
            box->answered.expires_after(limits.deferred);
            target.added->deferred(std::move(request), respond);
        } else {
            box->answered.expires_after(limits.handler);
            auto shared = std::make_shared<http_request>(std::move(request));
            accepted = core_->store_work && core_->store_work->submit([target, shared, core, respond] {
                respond(call(target, core->api, *shared));
            });
        }
        if (!accepted) {
            mailbox_answer_ = problem({assay::error_code::unavailable, "The server has too much to do just now"});
            mailbox_.reset();
            co_return;
        }
        error_code ignored;
        while (!box->answer && !aborted_ && box->answered.expiry() > std::chrono::steady_clock::now())
            co_await box->answered.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        mailbox_.reset();
        if (aborted_) co_return;
        if (box->answer)
            mailbox_answer_ = std::move(box->answer);
        else
            mailbox_answer_ = problem({assay::error_code::deadline_exceeded, "The answer took too long"});
    }

    static http_response call(const route& target, api_context& api, const http_request& request) {
        try {
            return target.built_in ? target.built_in->handler(api, request) : target.added->blocking(request);
        } catch (const std::exception& failure) {
            spdlog::error("{} {}: {}", request.method, request.path, failure.what());
            return problem({assay::error_code::internal, "The server failed to handle this; its log says why"});
        }
    }

    asio::awaitable<bool> write_answer(http_response answer, head_facts facts) {
        const auto body = begin_response(answer, facts, head_);
        co_return co_await write(body);
    }

    asio::awaitable<bool> write(std::string_view body) {
        set_deadline(core_->options.limits.write);
        const std::array<asio::const_buffer, 2> parts{asio::buffer(head_), asio::buffer(body)};
        error_code failed;
        co_await asio::async_write(stream_, parts, asio::redirect_error(asio::use_awaitable, failed));
        co_return !failed;
    }

    /// Sends the head and a large file that the kernel holds, without a copy through this process.
    asio::awaitable<bool> write_by_kernel(std::shared_ptr<const static_file> file) {
        set_deadline(core_->options.limits.write);
        // The request was read asynchronously, so that the descriptor does not block.
        const int socket = stream_.lowest_layer().native_handle();
        std::size_t head_sent = 0, file_sent = 0;
        while (true) {
            auto progress = send_head(socket, head_, head_sent);
            if (progress == send_progress::all)
                progress = send_memory_file(socket, *file->kernel_bytes, file->bytes.size(), file_sent);
            if (progress != send_progress::would_block) co_return progress == send_progress::all;
            error_code failed;
            co_await stream_.lowest_layer().async_wait(asio::ip::tcp::socket::wait_write,
                                                       asio::redirect_error(asio::use_awaitable, failed));
            if (failed || aborted_) co_return false;
        }
    }

    /// Sends live events until the stream or the peer ends. A reader that does not read is cut by the write deadline.
    asio::awaitable<void> stream_events(http_response answer, head_facts facts) {
        facts.keep_alive = false;
        begin_response(answer, facts, head_);
        head_ += "retry: 2000\n\n";
        if (!co_await write({})) co_return;
        parser_.reset();
        buffer_ = {};
        begin_ = end_ = 0;
        streaming = true;
        auto last_sent = core_->coarse_now;
        while (!aborted_ && !core_->stopping) {
            auto batch = answer.stream->next(event_batch_bytes);
            if (batch.bytes.empty() && !batch.ended) {
                if (core_->coarse_now - last_sent < core_->options.limits.event_keep_alive) {
                    deadline = steady_time::max();
                    wakeup_.expires_after(core_->options.limits.event_keep_alive);
                    error_code ignored;
                    co_await wakeup_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
                    continue;
                }
                batch.bytes = ": still here\n\n";
            }
            head_ = std::move(batch.bytes);
            if (!head_.empty() && !co_await write({})) break;
            head_.clear();
            last_sent = core_->coarse_now;
            if (batch.ended) break;
        }
        streaming = false;
    }

    /// Ends politely: what the peer still sends is read for a moment, since closing over unread bytes would reset the
    /// connection and take the answer away with it.
    asio::awaitable<void> linger() {
        if (aborted_) co_return;
        error_code failed;
        if constexpr (is_secure) {
            deadline = core_->coarse_now + std::chrono::seconds(1);
            co_await stream_.async_shutdown(asio::redirect_error(asio::use_awaitable, failed));
            co_return;
        }
        stream_.lowest_layer().shutdown(asio::ip::tcp::socket::shutdown_send, failed);
        deadline = core_->coarse_now + std::chrono::seconds(1);
        buffer_.resize(std::max(buffer_.size(), first_buffer_bytes));
        std::size_t left = 1024 * 1024;
        while (!failed && left > 0) {
            const auto count = co_await stream_.async_read_some(asio::buffer(buffer_),
                                                                asio::redirect_error(asio::use_awaitable, failed));
            left -= std::min(left, count);
        }
    }

    std::shared_ptr<server_core> core_;
    Stream stream_;
    std::string peer_;
    asio::steady_timer wakeup_;
    std::shared_ptr<mailbox> mailbox_;
    std::optional<http_response> mailbox_answer_;
    std::optional<parser> parser_;
    http_response refusal_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;  ///< the unread bytes in buffer_
    std::string head_;
    bool aborted_ = false;
};

template <class Stream>
boost::asio::awaitable<void> serve_stream(std::shared_ptr<server_core> core, Stream stream, std::string peer) {
    auto served = std::make_shared<connection<Stream>>(core, std::move(stream), std::move(peer));
    core->connections.insert(served);
    core->open_connections.fetch_add(1, std::memory_order_relaxed);
    try {
        co_await served->serve();
    } catch (const std::exception& failure) {
        spdlog::warn("a connection ended by an exception: {}", failure.what());
    }
    served->abort();
    core->connections.erase(served);
    core->open_connections.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace assay::http
