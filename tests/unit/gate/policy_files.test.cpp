#include <doctest/doctest.h>

#include <fstream>

#include "contract/policy.hpp"
#include "support/temporary_folder.hpp"

using namespace assay;

TEST_CASE("a policy with an unknown key, a wrong type or another schema is refused and the place is named") {
    const auto parse = [](const std::string& rest) {
        return parse_adapter_policy(R"({"schema": "assay.adapter-policy/1.0", "name": "x")" + rest + "}");
    };
    CHECK(parse("").has_value());
    CHECK_EQ(parse(R"(, "vendor": ["apple"])").error().field, "/vendor");
    CHECK_EQ(parse(R"(, "vendors": "apple")").error().field, "/vendors");
    CHECK_EQ(parse(R"(, "vendors": ["Apple"])").error().field, "/vendors");
    CHECK_EQ(parse(R"(, "vendors": [])").error().field, "/vendors");
    CHECK_EQ(parse(R"(, "pci_vendors": ["10de"])").error().field, "/pci_vendors/0");
    CHECK_EQ(parse(R"(, "probe": {"min_gflops": 5, "max_gflops": 1})").error().field, "/probe");
    CHECK_EQ(parse(R"(, "refuse_software": 1)").error().field, "/refuse_software");
    const auto newer = parse_adapter_policy(R"({"schema": "assay.adapter-policy/2.0", "name": "x"})");
    CHECK_EQ(newer.error().code, error_code::unsupported_version);
    CHECK_NE(newer.error().message.find("assay.adapter-policy/2.0"), std::string::npos);
    CHECK_EQ(parse(R"(, "pci_vendors": ["0x10de"])").value().pci_vendors->front(), 0x10de);
}

TEST_CASE("an environment rule names a known fact and bounds of its kind") {
    const auto parse = [](const std::string& rules) {
        return parse_environment_policy(R"({"schema": "assay.environment-policy/1.0", "name": "x", "rules": {)" + rules + "}}");
    };
    CHECK(parse("").has_value());
    CHECK(parse(R"("power_source": {"level": "require", "accept": ["ac"]})").has_value());
    CHECK_EQ(parse(R"("moon_phase": {"level": "warn", "max": 1})").error().field, "/rules/moon_phase");
    CHECK_EQ(parse(R"("power_source": {"level": "require", "max": 1})").error().field, "/rules/power_source");
    CHECK_EQ(parse(R"("disk_free_gib": {"level": "require", "accept": ["1"]})").error().field, "/rules/disk_free_gib");
    CHECK_EQ(parse(R"("disk_free_gib": {"level": "demand", "min": 1})").error().field, "/rules/disk_free_gib/level");
    CHECK_EQ(parse(R"("disk_free_gib": {"level": "warn", "min": 2, "max": 1})").error().field, "/rules/disk_free_gib");
    CHECK_EQ(parse(R"("disk_free_gib": {"level": "warn", "min": 1, "unknown": "maybe"})").error().field,
             "/rules/disk_free_gib/unknown");
}

TEST_CASE("a policy is found by its name, by a path only where paths are allowed") {
    const std::string folder = std::string(ASSAY_SOURCE_DIR) + "/orchestrator/gate/policies";
    CHECK_EQ(load_adapter_policy(folder, "nvidia", policy_source::names_only).value().name, "nvidia");
    const auto missing = load_adapter_policy(folder, "intel", policy_source::names_only);
    CHECK_EQ(missing.error().code, error_code::not_found);
    CHECK_NE(missing.error().remedy.find("any, any-hardware, apple-metal-3, nvidia"), std::string::npos);
    for (const char* path : {"../policies/nvidia", "/etc/passwd", "nvidia.json", ".hidden", ""})
        CHECK_EQ(load_adapter_policy(folder, path, policy_source::names_only).error().code, error_code::invalid_argument);

    const test::temporary_folder own;
    const auto file = own.path() / "mine.json";
    std::ofstream(file) << R"({"schema": "assay.adapter-policy/1.0", "name": "mine"})";
    CHECK_EQ(load_adapter_policy(folder, file.string(), policy_source::names_and_files).value().name, "mine");
    std::ofstream(file) << std::string(70000, ' ');
    CHECK_EQ(load_adapter_policy(folder, file.string(), policy_source::names_and_files).error().code, error_code::too_large);
}
