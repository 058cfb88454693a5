#include "notify/run_notifier.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "contract/run_facts.hpp"
#include "notify/command_hook.hpp"
#include "notify/webhook.hpp"
#include "receipt/atomic_file.hpp"
#include "run/run_log.hpp"

namespace assay::notify {
namespace {

namespace fs = std::filesystem;
using steady = std::chrono::steady_clock;

constexpr auto delivery_limit = std::chrono::seconds(15);
constexpr auto idle_look = std::chrono::seconds(30);

bool wants(const configured_webhook& webhook, const std::optional<std::string>& verdict) {
    const auto& wanted = webhook.verdicts;
    return wanted.empty() || (verdict && std::find(wanted.begin(), wanted.end(), *verdict) != wanted.end());
}

/// A receipt's file for a hook, removed again where it was made for it.
struct lent_file {
    std::string path;
    bool made = false;
    ~lent_file() {
        std::error_code ignored;
        if (made) fs::remove(path, ignored);
    }
};

}  // namespace

run_notifier::run_notifier(notifier_services services, notifier_settings settings)
    : services_(std::move(services)), settings_(std::move(settings)), thread_([this] { work_loop(); }) {}

run_notifier::~run_notifier() {
    {
        const std::lock_guard held(mutex_);
        stopping_ = true;
        if (delivering_ != nullptr) delivering_->interrupt();
    }
    changed_.notify_all();
    thread_.join();
}

void run_notifier::publish(run_progress progress) {
    if (progress.kind == "done") {
        const std::lock_guard held(mutex_);
        if (!settings_.webhooks.empty() || !settings_.hooks.empty()) {
            if (news_.size() == max_waiting_news) news_.pop_front();
            news_.emplace_back(progress.run, progress.json_text);
            changed_.notify_all();
        }
    }
    if (services_.next != nullptr) services_.next->publish(std::move(progress));
}

void run_notifier::configure(notifier_settings settings) {
    const std::lock_guard held(mutex_);
    settings_ = std::move(settings);
}

bool run_notifier::stopping() const {
    const std::lock_guard held(mutex_);
    return stopping_;
}

notifier_settings run_notifier::settings() const {
    const std::lock_guard held(mutex_);
    return settings_;
}

void run_notifier::work_loop() {
    load_waiting();
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (!news_.empty()) {
            auto [run, data] = std::move(news_.front());
            news_.pop_front();
            lock.unlock();
            try {
                tell(run, data);
            } catch (const std::exception& failure) {
                log_of_run(run)->error("its end could not be told: {}", failure.what());
            }
            lock.lock();
            continue;
        }
        auto wake = steady::now() + idle_look;
        for (const auto& [id, each] : pending_) wake = std::min(wake, each.due);
        if (wake > steady::now()) {
            changed_.wait_until(lock, wake, [this] { return stopping_ || !news_.empty(); });
            if (stopping_ || !news_.empty()) continue;
        }
        lock.unlock();
        try {
            try_due();
        } catch (const std::exception& failure) {
            spdlog::error("a notice could not be delivered: {}", failure.what());
        }
        lock.lock();
    }
}

void run_notifier::load_waiting() {
    const auto texts = services_.documents->list(waiting_notices);
    if (!texts) return spdlog::error("the waiting notices cannot be read: {}", texts.error().text());
    for (const auto& [id, text] : *texts)
        if (auto notice = parse_run_notice(text)) pending_[id] = {std::move(*notice), steady::now()};
}

void run_notifier::tell(const std::string& run, const std::string& progress_json) {
    const auto ended = parse_progress_state(progress_json);
    if (!ended) return log_of_run(run)->error("its end cannot be read: {}", ended.error().text());
    run_news news;
    news.run_id = run;
    news.state = ended->state;
    news.ended_at = format_utc(services_.time->now());
    news.verdict = ended->verdict;
    news.receipt_id = ended->receipt_id;
    if (news.receipt_id)
        if (const auto summary = services_.store->find_receipt(receipt_id(*news.receipt_id))) {
            news.machine_name = summary->machine_name;
            news.preset = summary->preset;
            news.arms = {summary->arm_a, summary->arm_b};
            news.speedup = summary->speedup;
            news.label = summary->label;
        }
    const auto now = settings();
    for (const auto& webhook : now.webhooks) {
        if (!wants(webhook, news.verdict)) continue;
        run_notice notice;
        notice.id = make_sortable_id(*services_.time, *services_.random);
        notice.url = webhook.url;
        notice.run_id = run;
        notice.created_at = news.ended_at;
        notice.body = run_news_text(news, notice.id);
        if (const auto kept = services_.documents->put(waiting_notices, notice.id, run_notice_text(notice)); !kept)
            log_of_run(run)->error("its notice could not be kept: {}", kept.error().text());
        pending_[notice.id] = {notice, steady::now()};
    }
    run_hooks(news, now.hooks);
}

void run_notifier::run_hooks(const run_news& news, const std::vector<configured_hook>& hooks) {
    if (hooks.empty()) return;
    lent_file file;
    if (news.receipt_id) {
        const std::string name = *news.receipt_id + ".assay.json";
        std::error_code failure;
        file.path = (fs::path(services_.receipts_folder) / name).string();
        if (!fs::exists(file.path, failure)) {
            const auto bytes = services_.store->receipt_file(receipt_id(*news.receipt_id));
            file.path = (fs::path(services_.scratch_folder) / name).string();
            fs::create_directories(services_.scratch_folder, failure);
            file.made = bytes && write_file_atomically(file.path, *bytes, 0600).has_value();
            if (!file.made) file.path.clear();
        }
    }
    std::vector<std::pair<std::string, std::string>> variables{{"ASSAY_RUN", news.run_id},
                                                               {"ASSAY_STATE", news.state},
                                                               {"ASSAY_VERDICT", news.verdict.value_or("")},
                                                               {"ASSAY_RECEIPT", file.path},
                                                               {"ASSAY_RECEIPT_ID", news.receipt_id.value_or("")}};
    for (const auto& hook : hooks) {
        const auto status = run_command_hook(hook.command, variables, std::chrono::seconds(hook.timeout_seconds),
                                             [this] { return stopping(); });
        if (!status)
            log_of_run(news.run_id)->error("{}", status.error().text());
        else if (*status != 0)
            log_of_run(news.run_id)->error("the hook '{}' ended with status {}", hook.command.front(), *status);
    }
}

void run_notifier::try_due() {
    std::vector<run_notice> due;
    for (const auto& [id, each] : pending_)
        if (each.due <= steady::now()) due.push_back(each.notice);
    for (auto& notice : due) {
        if (stopping()) return;
        attempt(std::move(notice));
    }
}

void run_notifier::attempt(run_notice notice) {
    const auto now = settings();
    const auto webhook = std::find_if(now.webhooks.begin(), now.webhooks.end(),
                                      [&](const configured_webhook& each) { return each.url == notice.url; });
    if (webhook == now.webhooks.end()) return give_up(std::move(notice), "its address is no longer configured");
    auto server = client::parse_url(notice.url, "/webhooks");
    if (!server) return give_up(std::move(notice), server.error().text());
    client::http_client client(std::move(*server), {}, {});
    {
        const std::lock_guard held(mutex_);
        if (stopping_) return;
        delivering_ = &client;
    }
    const auto outcome = deliver(client, notice, webhook->secret, *services_.time, delivery_limit);
    {
        const std::lock_guard held(mutex_);
        delivering_ = nullptr;
        if (stopping_ && outcome.result != delivery::delivered) return;  // an attempt that we broke off does not count
    }
    if (outcome.result == delivery::delivered) {
        pending_.erase(notice.id);
        if (auto removed = services_.documents->remove(waiting_notices, notice.id); !removed)
            spdlog::error("notice {}: {}", notice.id, removed.error().text());
        return;
    }
    ++notice.attempts;
    if (outcome.result == delivery::refused || notice.attempts >= max_delivery_attempts)
        return give_up(std::move(notice), outcome.why);
    notice.last_error = outcome.why;
    (void)services_.documents->put(waiting_notices, notice.id, run_notice_text(notice));
    const auto pause = services_.pause ? services_.pause(notice.attempts) : retry_pause(notice.attempts);
    pending_[notice.id] = {notice, steady::now() + pause};
}

void run_notifier::give_up(run_notice notice, std::string why) {
    // The address may carry a secret of the receiver's: it is for an administrator to read, not for the log.
    log_of_run(notice.run_id)->error("notice {} is given up after {} attempts: {}", notice.id, notice.attempts, why);
    notice.last_error = std::move(why);
    notice.given_up_at = format_utc(services_.time->now());
    pending_.erase(notice.id);
    (void)services_.documents->put(undelivered_notices, notice.id, run_notice_text(notice));
    (void)services_.documents->remove(waiting_notices, notice.id);
    if (const auto all = services_.documents->list(undelivered_notices); all && all->size() > max_undelivered)
        for (std::size_t i = 0; i + max_undelivered < all->size(); ++i)
            (void)services_.documents->remove(undelivered_notices, (*all)[i].first);
}

}  // namespace assay::notify
