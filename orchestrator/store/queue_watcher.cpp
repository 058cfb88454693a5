#include "store/queue_watcher.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <chrono>
#include <memory>

namespace assay {
namespace {

/// How quickly the thread sees that it should end.
constexpr int look_interval_ms = 200;
constexpr auto pause_before_reconnect = std::chrono::seconds(1);

}  // namespace

queue_watcher::queue_watcher(std::string url, std::function<void()> queued)
    : url_(std::move(url)), queued_(std::move(queued)), thread_([this] { listen(); }) {}

queue_watcher::~queue_watcher() {
    stopping_ = true;
    thread_.join();
}

void queue_watcher::listen() {
    while (!stopping_) {
        listen_once();
        const auto until = std::chrono::steady_clock::now() + pause_before_reconnect;
        while (!stopping_ && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(look_interval_ms));
    }
}

void queue_watcher::listen_once() {
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(url_.c_str()), &PQfinish);
    if (PQstatus(connection.get()) != CONNECTION_OK) return;
    PQclear(PQexec(connection.get(), "LISTEN assay_queue"));
    queued_();
    while (!stopping_ && PQstatus(connection.get()) == CONNECTION_OK) {
        pollfd wait{PQsocket(connection.get()), POLLIN, 0};
        if (::poll(&wait, 1, look_interval_ms) <= 0) continue;
        if (PQconsumeInput(connection.get()) == 0) return;
        bool any = false;
        while (PGnotify* news = PQnotifies(connection.get())) {
            PQfreemem(news);
            any = true;
        }
        if (any) queued_();
    }
}

}  // namespace assay
