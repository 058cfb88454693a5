// The one translation unit that compiles Boost.Asio (with its OpenSSL part) and Boost.Beast.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
