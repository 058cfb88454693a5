// Files that arrive in parts: the other half of sql_lab_store.
#include "receipt/digest.hpp"
#include "receipt/envelope.hpp"
#include "store/sql_lab_store.hpp"

namespace assay {
namespace {

std::uint64_t contiguous_size(sql_connection& connection, const std::string& sha256) {
    const auto answer = connection.execute(
        "SELECT COALESCE(max(position + length(bytes)), 0) FROM upload_parts WHERE sha256 = $1", {sha256});
    return static_cast<std::uint64_t>(answer.rows[0].integer(0));
}

error not_a_digest() {
    return {error_code::invalid_argument, "a file is named by its SHA-256, 64 lower-case hexadecimal digits", "sha256"};
}

}  // namespace

result<std::uint64_t> sql_lab_store::add_upload_part(std::string_view sha256, std::uint64_t position,
                                                     std::string_view bytes) {
    if (!is_sha256_hex(sha256)) return not_a_digest();
    for (const char c : bytes)
        if (static_cast<unsigned char>(c) >= 0x80 || c == '\0')
            return error{error_code::invalid_argument, "a receipt file is ASCII text", "body"};
    const std::string name(sha256);
    return guard_.run<std::uint64_t>([&](sql_connection& connection) -> result<std::uint64_t> {
        sql_transaction transaction(connection);
        const auto present = contiguous_size(connection, name);
        if (position > present)
            return error{error_code::conflict,
                         "the next byte wanted is " + std::to_string(present) + ", not " + std::to_string(position),
                         "position"};
        if (present + bytes.size() > max_receipt_file_bytes)
            return error{error_code::too_large, "no receipt file is so large"};
        // A part sent again after a lost answer may overlap what is there; only what is new counts.
        const auto known = static_cast<std::size_t>(std::min<std::uint64_t>(present - position, bytes.size()));
        const auto fresh = bytes.substr(known);
        if (!fresh.empty())
            connection.execute(
                "INSERT INTO upload_parts (sha256, position, bytes, arrived_ms) VALUES ($1, $2, $3, $4) ON CONFLICT DO "
                "NOTHING",
                {name, static_cast<std::int64_t>(present), std::string(fresh), now_ms()});
        const auto size = contiguous_size(connection, name);
        transaction.commit();
        return size;
    });
}

result<std::uint64_t> sql_lab_store::upload_size(std::string_view sha256) {
    if (!is_sha256_hex(sha256)) return not_a_digest();
    return guard_.run<std::uint64_t>([&](sql_connection& connection) -> result<std::uint64_t> {
        return contiguous_size(connection, std::string(sha256));
    });
}

result<std::string> sql_lab_store::read_upload(std::string_view sha256) {
    if (!is_sha256_hex(sha256)) return not_a_digest();
    const std::string name(sha256);
    auto bytes = guard_.run<std::string>([&](sql_connection& connection) -> result<std::string> {
        std::string whole;
        for (const auto& row :
             connection.execute("SELECT bytes FROM upload_parts WHERE sha256 = $1 ORDER BY position", {name}).rows)
            whole += row.text(0);
        return whole;
    });
    if (!bytes || sha256_hex(*bytes) == name) return bytes;
    if (bytes->empty()) return error{error_code::conflict, "no part of the file " + name + " has arrived"};
    // Cut short or damaged on the way: with parts in order from the start, only beginning anew helps.
    if (auto dropped = drop_upload(sha256); !dropped) return dropped.error();
    return error{error_code::corrupt,
                 "the file that arrived does not have the digest " + name,
                 {},
                 "Send it again from its start."};
}

result<void> sql_lab_store::drop_upload(std::string_view sha256) {
    return guard_.run<void>([&](sql_connection& connection) -> result<void> {
        connection.execute("DELETE FROM upload_parts WHERE sha256 = $1", {std::string(sha256)});
        return {};
    });
}

result<std::int64_t> sql_lab_store::drop_old_uploads(std::chrono::seconds age) {
    return guard_.run<std::int64_t>([&](sql_connection& connection) -> result<std::int64_t> {
        return connection
            .execute("DELETE FROM upload_parts WHERE arrived_ms < $1",
                     {now_ms() - std::chrono::milliseconds(age).count()})
            .changed;
    });
}

}  // namespace assay
