#include "support/page_site.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace assay::test {

page_site::page_site(std::map<std::string, std::string> pages) : pages_(std::move(pages)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::runtime_error("the test site has no port");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

page_site::~page_site() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
}

std::string page_site::origin() const {
    return "http://127.0.0.1:" + std::to_string(port_);
}

void page_site::serve() {
    for (;;) {
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) return;
        // A browser opens connections ahead of need: one that stays silent must not hold up the next.
        const timeval patience{0, 300000};
        ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        answer(connection);
        ::close(connection);
    }
}

void page_site::answer(int connection) const {
    std::string request;
    std::array<char, 4096> chunk{};
    while (request.find("\r\n\r\n") == std::string::npos) {
        const auto got = ::recv(connection, chunk.data(), chunk.size(), 0);
        if (got <= 0) return;
        request.append(chunk.data(), static_cast<std::size_t>(got));
    }
    const auto start = request.find(' ') + 1;
    const auto page = pages_.find(request.substr(start, request.find(' ', start) - start));
    const std::string body = page == pages_.end() ? "nothing here" : page->second;
    const std::string head =
        std::string("HTTP/1.1 ") + (page == pages_.end() ? "404 Not Found" : "200 OK") +
        "\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\nCross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp"
        "\r\nConnection: close\r\n\r\n";
    const std::string all = head + body;
    std::size_t sent = 0;
    while (sent < all.size()) {
        const auto put = ::send(connection, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
        if (put <= 0) return;
        sent += static_cast<std::size_t>(put);
    }
}

}  // namespace assay::test
