// A small blocking HTTP client over a raw socket, for tests that must send what no library would.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cctype>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::test {

struct http_answer {
    int status = 0;
    std::map<std::string, std::string> headers;  ///< names in lower case
    std::string body;
};

/// One connection to 127.0.0.1. Reads give up after `patience` seconds.
class http_probe {
  public:
    explicit http_probe(std::uint16_t port, int patience = 10) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const timeval limit{patience, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error("cannot connect");
    }
    ~http_probe() { ::close(socket_); }
    http_probe(const http_probe&) = delete;
    http_probe& operator=(const http_probe&) = delete;

    /// False when the peer has closed.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    void finish_sending() { ::shutdown(socket_, SHUT_WR); }

    /// Reads one answer; status 0 when the connection ended first.
    http_answer read_answer(bool of_head_request = false) {
        http_answer answer;
        if (!read_until("\r\n\r\n")) return answer;
        const auto head_end = buffer_.find("\r\n\r\n");
        const std::string head = buffer_.substr(0, head_end + 2);
        buffer_.erase(0, head_end + 4);
        answer.status = std::stoi(head.substr(9, 3));
        for (auto at = head.find("\r\n") + 2; at < head.size();) {
            const auto end = head.find("\r\n", at);
            const auto colon = head.find(':', at);
            std::string name = head.substr(at, colon - at);
            for (auto& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
            answer.headers[name] = head.substr(colon + 2, end - colon - 2);
            at = end + 2;
        }
        if (answer.status == 100) return read_answer(of_head_request);
        if (of_head_request || !answer.headers.count("content-length")) return answer;
        const auto length = std::stoul(answer.headers["content-length"]);
        while (buffer_.size() < length && read_some()) {
        }
        answer.body = buffer_.substr(0, length);
        buffer_.erase(0, length);
        return answer;
    }

    http_answer ask(std::string_view method, std::string_view target, std::string_view headers = {},
                    std::string_view body = {}) {
        std::string text = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
        text += headers;
        if (!body.empty())
            text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
        text += "\r\n";
        text += body;
        send(text);
        return read_answer(method == "HEAD");
    }

    /// Everything until `mark` has come; empty when the connection ended first. What was read stays read.
    std::string read_through(std::string_view mark) {
        if (!read_until(mark)) return {};
        const auto end = buffer_.find(mark) + mark.size();
        std::string text = buffer_.substr(0, end);
        buffer_.erase(0, end);
        return text;
    }
    /// Reads until the peer closes; true when it did so within the patience.
    bool closed_by_peer() {
        while (true) {
            char byte = 0;
            const auto count = ::recv(socket_, &byte, 1, 0);
            if (count == 0) return true;
            if (count < 0) return errno == ECONNRESET;
        }
    }

  private:
    bool read_some() {
        char bytes[16384];
        const auto count = ::recv(socket_, bytes, sizeof bytes, 0);
        if (count <= 0) return false;
        buffer_.append(bytes, static_cast<std::size_t>(count));
        return true;
    }
    bool read_until(std::string_view mark) {
        while (buffer_.find(mark) == std::string::npos)
            if (!read_some()) return false;
        return true;
    }

    int socket_;
    std::string buffer_;
};

}  // namespace assay::test
