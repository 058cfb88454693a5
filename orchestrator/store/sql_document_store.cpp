#include "store/sql_document_store.hpp"

namespace assay {

result<void> sql_document_store::put(std::string_view kind, std::string_view id, std::string_view text) {
    return guard_.run<void>([&](sql_connection& connection) -> result<void> {
        connection.execute(
            "INSERT INTO documents (kind, id, text) VALUES ($1, $2, $3) ON CONFLICT (kind, id) DO UPDATE SET text = $3",
            {std::string(kind), std::string(id), std::string(text)});
        return {};
    });
}

result<std::optional<std::string>> sql_document_store::get(std::string_view kind, std::string_view id) {
    return guard_.run<std::optional<std::string>>(
        [&](sql_connection& connection) -> result<std::optional<std::string>> {
            const auto answer = connection.execute("SELECT text FROM documents WHERE kind = $1 AND id = $2",
                                                   {std::string(kind), std::string(id)});
            if (answer.rows.empty()) return std::optional<std::string>();
            return std::optional(answer.rows[0].text(0));
        });
}

result<std::vector<std::pair<std::string, std::string>>> sql_document_store::list(std::string_view kind) {
    using documents = std::vector<std::pair<std::string, std::string>>;
    return guard_.run<documents>([&](sql_connection& connection) -> result<documents> {
        documents out;
        for (const auto& row :
             connection.execute("SELECT id, text FROM documents WHERE kind = $1 ORDER BY id", {std::string(kind)}).rows)
            out.emplace_back(row.text(0), row.text(1));
        return out;
    });
}

result<void> sql_document_store::remove(std::string_view kind, std::string_view id) {
    return guard_.run<void>([&](sql_connection& connection) -> result<void> {
        connection.execute("DELETE FROM documents WHERE kind = $1 AND id = $2", {std::string(kind), std::string(id)});
        return {};
    });
}

}  // namespace assay
