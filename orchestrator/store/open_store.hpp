// The one way to a store: by its URL.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "run/document_store.hpp"
#include "run/lab_ports.hpp"
#include "run/ports.hpp"
#include "store/sql_connection.hpp"

namespace assay {

/// Opens "sqlite://PATH" (made where missing, its folder too; "sqlite:///var/x.db" is /var/x.db) or a libpq URI
/// "postgresql://...", and brings it to this build's form. `time` outlives the store. Errors: invalid_argument for
/// another kind of URL, unavailable, corrupt, unsupported_version.
result<std::unique_ptr<run_store>> open_store(std::string_view url, const clock& time);

/// The lab's half of the same store, on a connection of its own.
result<std::unique_ptr<lab_store>> open_lab_store(std::string_view url, const clock& time);

/// The small documents of the same store, on a connection of their own.
result<std::unique_ptr<document_store>> open_document_store(std::string_view url, const clock& time);

/// True for a PostgreSQL store, whose queue can be watched (queue_watcher).
bool is_postgresql_url(std::string_view url);

/// The connection alone, in this build's form, for what stands beside run_store.
result<std::unique_ptr<sql_connection>> open_sql(std::string_view url, const clock& time);

/// The URL with any password replaced, for logs and messages.
std::string store_url_for_display(std::string_view url);

}  // namespace assay
