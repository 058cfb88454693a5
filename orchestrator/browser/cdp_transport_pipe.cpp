#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <vector>

#include "browser/cdp_frame_buffer.hpp"
#include "browser/cdp_transport.hpp"

namespace assay {

namespace asio = boost::asio;

namespace {

class pipe_transport final : public cdp_transport, public std::enable_shared_from_this<pipe_transport> {
  public:
    pipe_transport(asio::any_io_executor executor, unique_descriptor reader, unique_descriptor writer)
        : reader_(executor, reader.release()), writer_(executor, writer.release()), chunk_(chunk_bytes) {}

    void send(std::string frame) override {
        if (!writer_.is_open()) return;
        unsent_bytes_ += frame.size() + 1;
        if (unsent_bytes_ > max_unsent_bytes) {
            close();
            return;
        }
        frame.push_back('\0');
        unsent_.push_back(std::move(frame));
        if (!writing_) write_next();
    }

    asio::awaitable<result<std::string>> receive() override {
        const auto self = shared_from_this();
        for (;;) {
            if (auto frame = frames_.next()) co_return std::move(*frame);
            if (!reader_.is_open()) co_return gone("the pipe to the browser is closed");
            boost::system::error_code failure;
            const std::size_t got = co_await reader_.async_read_some(
                asio::buffer(chunk_), asio::redirect_error(asio::use_awaitable, failure));
            if (failure) co_return gone("the browser closed its pipe (" + failure.message() + ")");
            if (!frames_.append({chunk_.data(), got})) {
                close();
                co_return error{error_code::too_large,
                                "the browser sent a message over " + std::to_string(max_cdp_frame_bytes >> 20) + " MiB"};
            }
        }
    }

    void close() override {
        boost::system::error_code ignored;
        reader_.close(ignored);
        writer_.close(ignored);
        unsent_.clear();
        unsent_bytes_ = 0;
    }

  private:
    static constexpr std::size_t chunk_bytes = std::size_t{256} << 10;

    static error gone(std::string message) {
        return error{error_code::browser_crashed, std::move(message), {}, {}, "crashed"};
    }

    void write_next() {
        writing_ = true;
        in_flight_ = std::move(unsent_.front());
        unsent_.pop_front();
        asio::async_write(writer_, asio::buffer(in_flight_),
                          [self = shared_from_this()](boost::system::error_code failure, std::size_t) {
                              self->written(failure);
                          });
    }

    void written(boost::system::error_code failure) {
        writing_ = false;
        unsent_bytes_ -= std::min(unsent_bytes_, in_flight_.size());
        if (failure) {
            // The reading side reports the end once it has delivered what still came.
            boost::system::error_code ignored;
            writer_.close(ignored);
            unsent_.clear();
            return;
        }
        if (!unsent_.empty()) write_next();
    }

    asio::posix::stream_descriptor reader_, writer_;
    std::vector<char> chunk_;
    cdp_frame_buffer frames_;
    std::deque<std::string> unsent_;
    std::string in_flight_;
    std::size_t unsent_bytes_ = 0;
    bool writing_ = false;
};

}  // namespace

std::shared_ptr<cdp_transport> make_pipe_transport(asio::any_io_executor executor, unique_descriptor reader,
                                                   unique_descriptor writer) {
    return std::make_shared<pipe_transport>(std::move(executor), std::move(reader), std::move(writer));
}

}  // namespace assay
