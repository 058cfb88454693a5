// A tiny site on a port of its own, for browser tests: fixed pages by path, cross-origin isolated, one thread.
#pragma once

#include <map>
#include <string>
#include <thread>

namespace assay::test {

class page_site {
  public:
    /// `pages` maps "/path" to an HTML text; every other path is answered 404.
    explicit page_site(std::map<std::string, std::string> pages);
    ~page_site();
    page_site(const page_site&) = delete;
    page_site& operator=(const page_site&) = delete;

    /// "http://127.0.0.1:PORT"
    std::string origin() const;

  private:
    void serve();
    void answer(int connection) const;

    std::map<std::string, std::string> pages_;
    int listener_ = -1;
    int port_ = 0;
    std::thread thread_;
};

}  // namespace assay::test
