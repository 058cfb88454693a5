#include "adapter_fixtures.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "contract/facts_json.hpp"

namespace assay::test {

std::vector<adapter_fixture> adapter_fixtures() {
    std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/tests/unit/gate/fixtures/adapters.json");
    const auto document = nlohmann::json::parse(file);
    const json_rules rules;
    const json_context at(rules);
    std::vector<adapter_fixture> all;
    for (const auto& entry : document) {
        adapter_fixture fixture;
        fixture.name = entry.at("name");
        fixture.provenance = entry.at("provenance");
        fixture.source = entry.at("source");
        fixture.adapter_class = entry.at("class");
        fixture.accepted_by = entry.at("accepted_by");
        read_json(entry.at("views"), at, fixture.views);
        all.push_back(std::move(fixture));
    }
    return all;
}

}  // namespace assay::test
