#include "browser/cdp_connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "browser/notifier.hpp"

namespace assay {

namespace asio = boost::asio;
using json = nlohmann::json;

namespace {

struct waiting_call {
    std::string method;
    std::optional<cdp_answer> answer;
    bool wanted = true;
};

}  // namespace

class cdp_connection::state : public std::enable_shared_from_this<cdp_connection::state> {
  public:
    state(asio::any_io_executor executor, std::shared_ptr<cdp_transport> transport)
        : executor_(executor), transport_(std::move(transport)), changed_(executor) {}

    cdp_ticket post(const cdp_session_id& session, std::string_view method, const json& parameters, bool wanted) {
        const std::uint64_t id = ++last_id_;
        json frame{{"id", id}, {"method", method}, {"params", parameters}};
        if (!session.empty()) frame["sessionId"] = session;
        calls_[id] = waiting_call{std::string(method), std::nullopt, wanted};
        transport_->send(frame.dump(-1, ' ', false, json::error_handler_t::replace));
        return {id};
    }

    asio::awaitable<cdp_answer> reply(cdp_ticket ticket, std::chrono::milliseconds limit, bool even_after_failure) {
        const auto self = shared_from_this();
        const auto deadline = std::chrono::steady_clock::now() + limit;
        for (;;) {
            const auto found = calls_.find(ticket.id);
            if (found == calls_.end()) co_return error{error_code::internal, "a reply was asked for twice"};
            if (found->second.answer) {
                auto answer = std::move(*found->second.answer);
                calls_.erase(found);
                co_return answer;
            }
            const std::string method = found->second.method;
            const auto& failure = closed_ ? closed_ : even_after_failure ? std::nullopt : failed_;
            if (failure) {
                calls_.erase(found);
                error why = *failure;
                co_return why;
            }
            if (std::chrono::steady_clock::now() >= deadline) {
                found->second.wanted = false;  // a late answer is dropped
                co_return error{error_code::deadline_exceeded,
                                "the browser did not answer " + method + " within " + std::to_string(limit.count()) +
                                    " ms",
                                {},
                                {},
                                "silence"};
            }
            co_await changed_.wait_until(deadline);
        }
    }

    static asio::awaitable<void> read(std::shared_ptr<state> self) {
        for (;;) {
            auto frame = co_await self->transport_->receive();
            if (!frame) {
                self->end(frame.error());
                co_return;
            }
            if (!self->take_safely(std::move(*frame))) {
                self->transport_->close();
                self->end(error{error_code::protocol_error, "the browser sent a message that is not DevTools JSON"});
                co_return;
            }
        }
    }

    /// Events of unexpected shape throw inside the handlers; the peer is then at fault, whatever it is.
    bool take_safely(std::string frame) {
        try {
            return take(std::move(frame));
        } catch (const json::exception&) {
            return false;
        }
    }

    bool take(std::string frame) {
        const json message = json::parse(frame, nullptr, false);
        if (!message.is_object()) return false;
        if (const auto id = message.find("id"); id != message.end()) {
            if (!id->is_number_unsigned()) return false;
            answer(id->get<std::uint64_t>(), message);
            return true;
        }
        const auto method = message.find("method");
        if (method == message.end() || !method->is_string()) return false;
        static const json nothing = json::object();
        const auto parameters = message.find("params");
        const auto session = message.find("sessionId");
        const std::string of = session != message.end() && session->is_string() ? session->get<std::string>() : "";
        if (const auto handler = handlers_.find(of); handler != handlers_.end()) {
            const auto keep = handler->second;  // it may replace itself
            keep(method->get_ref<const std::string&>(), parameters != message.end() ? *parameters : nothing);
        }
        return true;
    }

    void answer(std::uint64_t id, const json& message) {
        const auto found = calls_.find(id);
        if (found == calls_.end()) return;
        if (!found->second.wanted) {
            calls_.erase(found);
            return;
        }
        if (const auto refusal = message.find("error"); refusal != message.end()) {
            const std::string words = refusal->is_object() ? refusal->value("message", "") : "";
            found->second.answer = error{error_code::protocol_error,
                                         "the browser refused " + found->second.method + ": " + words};
        } else {
            const auto value = message.find("result");
            found->second.answer = std::make_shared<const json>(value != message.end() ? *value : json::object());
        }
        changed_.notify();
    }

    void end(const error& why) {
        if (closed_) return;
        closed_ = why;
        std::erase_if(calls_, [](const auto& entry) { return !entry.second.wanted; });
        changed_.notify();
        if (on_closed_ && !closing_) {
            const auto handler = std::exchange(on_closed_, nullptr);
            handler(why);
        }
    }

    void close() {
        closing_ = true;
        handlers_.clear();
        on_closed_ = nullptr;
        transport_->close();
        if (!closed_) closed_ = error{error_code::cancelled, "the connection to the browser is closed"};
        changed_.notify();
    }

    asio::any_io_executor executor_;
    std::shared_ptr<cdp_transport> transport_;
    notifier changed_;
    std::uint64_t last_id_ = 0;
    std::unordered_map<std::uint64_t, waiting_call> calls_;
    std::map<cdp_session_id, event_handler> handlers_;
    closed_handler on_closed_;
    std::optional<error> failed_, closed_;
    bool closing_ = false;
};

cdp_connection::cdp_connection(asio::any_io_executor executor, std::shared_ptr<cdp_transport> transport)
    : state_(std::make_shared<state>(std::move(executor), std::move(transport))) {}

cdp_connection::~cdp_connection() { close(); }

void cdp_connection::start() {
    // The reader keeps the state alive and ends with the transport, which the destructor closes.
    asio::co_spawn(state_->executor_, state::read(state_), asio::detached);
}

cdp_ticket cdp_connection::post(const cdp_session_id& session, std::string_view method, const json& parameters) {
    return state_->post(session, method, parameters, true);
}

asio::awaitable<cdp_answer> cdp_connection::reply(cdp_ticket ticket, std::chrono::milliseconds limit) {
    return state_->reply(ticket, limit, false);
}

asio::awaitable<cdp_answer> cdp_connection::call(cdp_session_id session, std::string method, const json& parameters,
                                                 std::chrono::milliseconds limit) {
    // No coroutine of its own: the parameters need not live until the reply.
    return state_->reply(state_->post(session, method, parameters, true), limit, false);
}

asio::awaitable<cdp_answer> cdp_connection::call_anyway(std::string method, std::chrono::milliseconds limit) {
    return state_->reply(state_->post({}, method, json::object(), true), limit, true);
}

void cdp_connection::send_only(const cdp_session_id& session, std::string_view method, const json& parameters) {
    state_->post(session, method, parameters, false);
}

void cdp_connection::on_event(const cdp_session_id& session, event_handler handler) {
    state_->handlers_[session] = std::move(handler);
}

void cdp_connection::on_closed(closed_handler handler) { state_->on_closed_ = std::move(handler); }

void cdp_connection::fail_calls(const error& why) {
    if (!state_->failed_) state_->failed_ = why;
    state_->changed_.notify();
}

bool cdp_connection::is_open() const { return !state_->closed_; }
std::size_t cdp_connection::waiting_calls() const { return state_->calls_.size(); }
void cdp_connection::close() { state_->close(); }

}  // namespace assay
