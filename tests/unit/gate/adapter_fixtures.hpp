// Adapters of many machines, each marked `recorded` (with its source) or `constructed`; see fixtures/adapters.json.
#pragma once

#include <string>
#include <vector>

#include "contract/adapter.hpp"

namespace assay::test {

struct adapter_fixture {
    std::string name, provenance, source, adapter_class;
    std::vector<std::string> accepted_by;  ///< shipped policies
    adapter_views views;
};

std::vector<adapter_fixture> adapter_fixtures();

}  // namespace assay::test
