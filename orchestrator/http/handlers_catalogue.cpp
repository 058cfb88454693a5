// What can be asked for, and who measures: presets, policies, machines.
#include <vector>

#include "contract/json_writer.hpp"
#include "contract/model.hpp"
#include "http/documents.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"

namespace assay::http {

http_response list_presets(api_context&, const http_request&) {
    json_array list;
    for (const auto& preset : presets()) {
        const auto& shape = preset.shape;
        list.raw(json_object()
                     .add("name", preset.name)
                     .add("layers", shape.layers)
                     .add("d_model", shape.d_model)
                     .add("ctx", shape.ctx)
                     .add("batch", shape.batch)
                     .add("heads", shape.heads)
                     .add("parameters", parameter_count(shape))
                     .add("flops_per_step", flops_per_step(shape))
                     .text());
    }
    http_response response;
    response.body = json_object().raw("presets", list.text()).text();
    return response;
}

http_response list_policies(api_context& context, const http_request&) {
    json_array list;
    for (const auto& [name, text] : context.policies) list.raw(text);
    http_response response;
    response.body = json_object().raw("policies", list.text()).text();
    return response;
}

http_response get_policy(api_context& context, const http_request& request) {
    const auto found = context.policies.find(request.capture("name"));
    if (found == context.policies.end()) {
        error cause{error_code::not_found, "There is no policy '" + std::string(request.capture("name")) + "'"};
        for (const auto& [name, text] : context.policies)
            cause.remedy += (cause.remedy.empty() ? "Known: " : ", ") + name;
        return problem(cause);
    }
    http_response response;
    response.body = found->second;
    return response;
}

http_response list_machines(api_context& context, const http_request& request) {
    if (const auto checked = check_query(request, {}); !checked) return problem(checked.error());
    std::vector<receipt_summary> newest_first;
    const auto walked = walk_receipts(*context.store, {}, max_walked_receipts,
                                      [&](const receipt_summary& summary) { newest_first.push_back(summary); });
    if (!walked) return problem(walked.error());
    http_response response;
    response.body = machine_list_document(newest_first);
    return response;
}

}  // namespace assay::http
