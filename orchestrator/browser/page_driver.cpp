#include "browser/page_driver.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "browser/page_disturbances.hpp"

namespace assay {

namespace asio = boost::asio;
using json = nlohmann::json;

class page_driver::state : public std::enable_shared_from_this<page_driver::state> {
  public:
    state(cdp_connection& connection, std::string url, page_handlers handlers)
        : connection_(connection), url_(std::move(url)), handlers_(std::move(handlers)) {}

    void browser_event(std::string_view method, const json& parameters) {
        if (method == "Target.attachedToTarget") {
            const auto target = parameters.value("/targetInfo/targetId"_json_pointer, std::string());
            const auto session = parameters.value("sessionId", std::string());
            // A browser of ours opens no page by itself, so that the first is the one asked for.
            if (session_.empty() && context_.empty()) set_up(target, session);
            return;
        }
        const auto about = parameters.value("targetId", std::string());
        if (about.empty() || about != target_) return;
        if (method == "Target.targetCrashed") fail(page_crash(parameters.value("status", ""), parameters.value("errorCode", 0)));
        if (method == "Target.detachedFromTarget" || method == "Target.targetDestroyed")
            fail(error{error_code::page_failed, "the page was closed while its arm was open", {}, {}, "page-closed"});
    }

    void set_up(const std::string& target, const std::string& session) {
        target_ = target;
        session_ = session;
        connection_.on_event(session, [self = weak_from_this()](std::string_view method, const json& parameters) {
            if (const auto alive = self.lock()) alive->page_event(method, parameters);
        });
        const json none = json::object();
        set_up_calls_ = {
            connection_.post(session, "Page.enable", none),
            connection_.post(session, "Runtime.enable", none),
            connection_.post(session, "Log.enable", none),
            connection_.post(session, "Inspector.enable", none),
            connection_.post(session, "Runtime.addBinding", {{"name", "assayEvent"}}),
            connection_.post(session, "Runtime.runIfWaitingForDebugger", none),
        };
    }

    void page_event(std::string_view method, const json& parameters) {
        if (method == "Runtime.bindingCalled") {
            if (parameters.value("name", "") == "assayEvent" && handlers_.event)
                handlers_.event(parameters.value("payload", ""));
            return;
        }
        auto seen = look_at_page_event(method, parameters, url_, navigated_);
        if (seen.dismiss_dialog) connection_.send_only(session_, "Page.handleJavaScriptDialog", {{"accept", false}});
        if (seen.line && handlers_.console) handlers_.console(std::move(*seen.line));
        if (seen.failure) fail(std::move(*seen.failure));
    }

    void fail(error why) {
        if (failed_) return;
        failed_ = true;
        if (handlers_.failed) handlers_.failed(std::move(why));
    }

    cdp_connection& connection_;
    std::string url_;
    page_handlers handlers_;
    std::string target_, session_, context_;
    std::vector<cdp_ticket> opening_calls_, set_up_calls_;
    bool navigated_ = false;
    bool failed_ = false;
};

page_driver::page_driver(cdp_connection& connection, std::string url, page_handlers handlers)
    : state_(std::make_shared<state>(connection, std::move(url), std::move(handlers))) {}

page_driver::~page_driver() = default;

void page_driver::post_open() {
    auto& connection = state_->connection_;
    connection.on_event({}, [self = std::weak_ptr(state_)](std::string_view method, const json& parameters) {
        if (const auto alive = self.lock()) alive->browser_event(method, parameters);
    });
    const json pages_only = json::array({json{{"type", "page"}}});
    auto& calls = state_->opening_calls_;
    calls.push_back(connection.post({}, "Target.setDiscoverTargets", {{"discover", true}, {"filter", pages_only}}));
    calls.push_back(connection.post({}, "Target.setAutoAttach", {{"autoAttach", true},
                                                                 {"waitForDebuggerOnStart", true},
                                                                 {"flatten", true},
                                                                 {"filter", pages_only}}));
    calls.push_back(connection.post({}, "Target.createTarget", {{"url", state_->url_}}));
}

asio::awaitable<result<void>> page_driver::opened(std::chrono::milliseconds limit) {
    const auto self = state_;
    const auto deadline = std::chrono::steady_clock::now() + limit;
    // set_up_calls_ fill when the browser has announced the page, which it does before it answers createTarget.
    for (auto* calls : {&self->opening_calls_, &self->set_up_calls_}) {
        const auto tickets = std::exchange(*calls, {});
        for (const auto ticket : tickets) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
            auto answer = co_await self->connection_.reply(ticket, std::max(left, std::chrono::milliseconds(1)));
            if (!answer) co_return answer.error();
        }
    }
    if (self->session_.empty())
        co_return error{error_code::protocol_error, "the browser made a page but did not attach to it"};
    co_return result<void>();
}

asio::awaitable<result<void>> page_driver::open_in_own_context(std::chrono::milliseconds limit) {
    const auto self = state_;
    auto& connection = self->connection_;
    const cdp_session_id browser;
    const json context_options{{"disposeOnDetach", true}};
    auto context = co_await connection.call(browser, "Target.createBrowserContext", context_options, limit);
    if (!context) co_return context.error();
    self->context_ = (*context)->value("browserContextId", "");
    connection.on_event({}, [self = std::weak_ptr(state_)](std::string_view method, const json& parameters) {
        if (const auto alive = self.lock()) alive->browser_event(method, parameters);
    });
    const json target_options{{"url", "about:blank"}, {"browserContextId", self->context_}};
    auto target = co_await connection.call(browser, "Target.createTarget", target_options, limit);
    if (!target) co_return target.error();
    const std::string target_id = (*target)->value("targetId", "");
    const json session_options{{"targetId", target_id}, {"flatten", true}};
    auto session = co_await connection.call(browser, "Target.attachToTarget", session_options, limit);
    if (!session) co_return session.error();
    self->set_up(target_id, (*session)->value("sessionId", ""));
    self->set_up_calls_.push_back(connection.post(self->session_, "Page.navigate", {{"url", self->url_}}));
    co_return co_await opened(limit);
}

asio::awaitable<result<std::string>> page_driver::evaluate_text(std::string expression, std::chrono::milliseconds limit) {
    const auto self = state_;
    json parameters{{"expression", std::move(expression)}, {"awaitPromise", true}, {"returnByValue", true}};
    auto answer = co_await self->connection_.call(self->session_, "Runtime.evaluate", parameters, limit);
    if (!answer) co_return answer.error();
    if (const auto thrown = (*answer)->find("exceptionDetails"); thrown != (*answer)->end()) {
        const std::string words = exception_text(*thrown);
        co_return error{error_code::page_failed, "the page threw " + words, {}, {}, "exception"};
    }
    const json value = (*answer)->value("/result/value"_json_pointer, json());
    if (value.is_null()) co_return std::string();
    if (!value.is_string()) co_return error{error_code::protocol_error, "the page answered with something that is no text"};
    co_return value.get<std::string>();
}

asio::awaitable<result<void>> page_driver::evaluate(std::string expression, std::chrono::milliseconds limit) {
    // void: a promise in the result would be kept alive by the session.
    auto answer = co_await evaluate_text("void (" + std::move(expression) + ")", limit);
    if (!answer) co_return answer.error();
    co_return result<void>();
}

asio::awaitable<void> page_driver::close_page(std::chrono::milliseconds limit) {
    const auto self = state_;
    if (self->target_.empty() || !self->connection_.is_open()) co_return;
    self->failed_ = true;  // what happens from here on is our own doing
    self->connection_.send_only({}, "Target.closeTarget", {{"targetId", self->target_}});
    if (self->context_.empty()) {
        co_await self->connection_.call_anyway("Browser.getVersion", limit);  // answered after what was sent before
        co_return;
    }
    self->connection_.send_only({}, "Target.disposeBrowserContext", {{"browserContextId", self->context_}});
    co_await self->connection_.call_anyway("Browser.getVersion", limit);
}

}  // namespace assay
