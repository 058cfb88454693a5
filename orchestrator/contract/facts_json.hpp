// JSON of adapter, page, machine and environment facts, shared by events and receipts. Only .cpp files include this.
#pragma once

#include "contract/adapter.hpp"
#include "contract/arm_event.hpp"
#include "contract/environment.hpp"
#include "contract/json_edge.hpp"

namespace assay {

void read_json(const json& value, const json_context& at, page_adapter& out);
void read_json(const json& value, const json_context& at, devtools_gpu_device& out);
void read_json(const json& value, const json_context& at, devtools_adapter& out);
void read_json(const json& value, const json_context& at, adapter_views& out);
void read_json(const json& value, const json_context& at, page_facts& out);
void read_json(const json& value, const json_context& at, machine_facts& out);
void read_json(const json& value, const json_context& at, environment_snapshot& out);

json facts_json(const page_adapter& adapter);
json facts_json(const devtools_adapter& adapter);
json facts_json(const adapter_views& views);
json facts_json(const page_facts& page);
json facts_json(const machine_facts& machine);
json facts_json(const environment_snapshot& snapshot);

}  // namespace assay
