#include "browser/line_reader.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <string_view>

namespace assay {

namespace asio = boost::asio;

namespace {

class descriptor_line_reader final : public line_reader, public std::enable_shared_from_this<descriptor_line_reader> {
  public:
    descriptor_line_reader(asio::any_io_executor executor, unique_descriptor descriptor, std::size_t max_line_bytes,
                           line_handlers handlers)
        : input_(executor, descriptor.release()), max_line_bytes_(max_line_bytes), handlers_(std::move(handlers)) {}

    void read_more() {
        input_.async_read_some(asio::buffer(chunk_),
                               [self = shared_from_this()](boost::system::error_code failure, std::size_t got) {
                                   self->received(failure, got);
                               });
    }

    void stop() override {
        stopped_ = true;
        boost::system::error_code ignored;
        input_.close(ignored);
        handlers_ = {};
    }

  private:
    void received(boost::system::error_code failure, std::size_t got) {
        if (stopped_) return;
        take({chunk_.data(), got});
        if (stopped_) return;
        if (!failure) {
            read_more();
            return;
        }
        if (!line_.empty()) emit();
        if (stopped_) return;
        const auto end = std::exchange(handlers_, {}).end;
        stop();
        if (end) end();
    }

    void take(std::string_view bytes) {
        while (!bytes.empty() && !stopped_) {
            const auto end = bytes.find('\n');
            const auto part = bytes.substr(0, end);
            const auto room = max_line_bytes_ - std::min(max_line_bytes_, line_.size());
            line_.append(part.substr(0, room));
            whole_ = whole_ && part.size() <= room;
            if (end == std::string_view::npos) return;
            emit();
            bytes.remove_prefix(end + 1);
        }
    }

    void emit() {
        if (!line_.empty() && line_.back() == '\r') line_.pop_back();
        const bool whole = std::exchange(whole_, true);
        const auto handler = handlers_.line;  // it may stop the reader
        if (handler) handler(std::exchange(line_, {}), whole);
        line_.clear();
    }

    asio::posix::stream_descriptor input_;
    std::size_t max_line_bytes_;
    line_handlers handlers_;
    std::array<char, 16384> chunk_{};
    std::string line_;
    bool whole_ = true;
    bool stopped_ = false;
};

}  // namespace

std::shared_ptr<line_reader> start_line_reader(asio::any_io_executor executor, unique_descriptor descriptor,
                                               std::size_t max_line_bytes, line_handlers handlers) {
    auto reader = std::make_shared<descriptor_line_reader>(std::move(executor), std::move(descriptor), max_line_bytes,
                                                           std::move(handlers));
    reader->read_more();
    return reader;
}

}  // namespace assay
