#include "store/open_store.hpp"

#include <filesystem>

#include "store/migrate.hpp"
#include "store/sql_document_store.hpp"
#include "store/sql_lab_store.hpp"
#include "store/sql_run_store.hpp"

namespace assay {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite://";
constexpr std::string_view postgresql_schemes[] = {"postgresql://", "postgres://"};

std::unique_ptr<sql_connection> connect(std::string_view url) {
    if (is_postgresql_url(url)) return connect_postgresql(std::string(url));
    const std::filesystem::path path(url.substr(sqlite_scheme.size()));
    std::error_code ignored;  // the open below says what is wrong with the folder
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    return connect_sqlite(path.string());
}

}  // namespace

bool is_postgresql_url(std::string_view url) {
    for (const auto scheme : postgresql_schemes)
        if (url.starts_with(scheme)) return true;
    return false;
}

std::string store_url_for_display(std::string_view url) {
    std::string out(url);
    const auto host = out.find("://");
    if (host == std::string::npos) return out;
    const auto at = out.find('@', host + 3), colon = out.find(':', host + 3);
    if (at != std::string::npos && colon != std::string::npos && colon < at)
        out.replace(colon + 1, at - colon - 1, "***");
    return out;
}

result<std::unique_ptr<sql_connection>> open_sql(std::string_view url, const clock& time) {
    const bool named = is_postgresql_url(url) || (url.starts_with(sqlite_scheme) && url.size() > sqlite_scheme.size());
    if (!named)
        return error{error_code::invalid_argument, "\"" + store_url_for_display(url) + "\" is not a store", "--store",
                     "Give sqlite://PATH or postgresql://USER@HOST/DATABASE."};
    try {
        auto connection = connect(url);
        migrate(*connection, embedded_migrations(), time);
        return connection;
    } catch (const error_exception& failure) {
        return failure.cause();
    }
}

result<std::unique_ptr<run_store>> open_store(std::string_view url, const clock& time) {
    auto connection = open_sql(url, time);
    if (!connection) return connection.error();
    return std::unique_ptr<run_store>(std::make_unique<sql_run_store>(std::move(*connection), time));
}

result<std::unique_ptr<lab_store>> open_lab_store(std::string_view url, const clock& time) {
    auto connection = open_sql(url, time);
    if (!connection) return connection.error();
    return std::unique_ptr<lab_store>(std::make_unique<sql_lab_store>(std::move(*connection), time));
}

result<std::unique_ptr<document_store>> open_document_store(std::string_view url, const clock& time) {
    auto connection = open_sql(url, time);
    if (!connection) return connection.error();
    return std::unique_ptr<document_store>(std::make_unique<sql_document_store>(std::move(*connection)));
}

}  // namespace assay
