// A request's and a shape's JSON, shared by the parsers of this room. Only .cpp files include this.
#pragma once

#include "contract/json_edge.hpp"
#include "contract/model.hpp"
#include "contract/run_request.hpp"

namespace assay {

void read_json(const json& value, const json_context& at, model_shape& out);
json shape_json(const model_shape& shape);

/// Reads and validates.
void read_json(const json& value, const json_context& at, run_request& out);
json request_json(const run_request& request);

}  // namespace assay
