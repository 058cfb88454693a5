#include "contract/run_notice.hpp"

#include "contract/json_edge.hpp"
#include "contract/json_writer.hpp"

namespace assay {

std::string run_news_text(const run_news& news, std::string_view notice_id) {
    json_object out;
    out.add("schema", "assay.notice/1.0").add("id", notice_id).add("event", "run-ended");
    out.add("run_id", news.run_id).add("state", news.state).add("ended_at", news.ended_at);
    out.add("receipt_id", news.receipt_id).add("verdict", news.verdict).add("machine", news.machine_name);
    out.add("preset", news.preset);
    if (!news.arms.empty()) {
        json_array arms;
        for (const auto& arm : news.arms) arms.add(arm);
        out.raw("arms", arms.text());
    }
    return out.add("speedup", news.speedup).add("label", news.label).text();
}

std::string run_notice_text(const run_notice& notice) {
    json_object out;
    out.add("id", notice.id).add("url", notice.url).add("run_id", notice.run_id).add("created_at", notice.created_at);
    out.add("attempts", notice.attempts).add("last_error", notice.last_error).add("given_up_at", notice.given_up_at);
    return out.add("body", notice.body).text();
}

result<run_notice> parse_run_notice(std::string_view json_text) {
    const json_rules rules{error_code::corrupt, true};
    return read_document<run_notice>(json_text, rules,
                                     [](const json& document, const json_context& at, run_notice& notice) {
                                         object_reader reader(document, at);
                                         reader.required("id", notice.id);
                                         reader.required("url", notice.url);
                                         reader.required("run_id", notice.run_id);
                                         reader.required("created_at", notice.created_at);
                                         reader.required("attempts", notice.attempts);
                                         reader.optional("last_error", notice.last_error);
                                         reader.optional("given_up_at", notice.given_up_at);
                                         reader.required("body", notice.body);
                                     });
}

}  // namespace assay
