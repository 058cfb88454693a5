#include "arm_config.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace assay::native {
namespace {

using nlohmann::json;

/// Reads fields of one object; remembers the first that is missing or out of range.
class field_reader {
  public:
    field_reader(const json& object, std::string prefix, std::string& fault)
        : object_(object), prefix_(std::move(prefix)), fault_(fault) {}

    std::int64_t integer(const char* name, std::int64_t low, std::int64_t high) {
        const auto found = object_.find(name);
        if (found == object_.end() || !found->is_number_integer() || found->get<std::int64_t>() < low ||
            found->get<std::int64_t>() > high) {
            blame(name, "an integer within " + std::to_string(low) + ".." + std::to_string(high));
            return low;
        }
        return found->get<std::int64_t>();
    }

    std::string text(const char* name) {
        const auto found = object_.find(name);
        if (found == object_.end() || !found->is_string()) {
            blame(name, "a string");
            return {};
        }
        return found->get<std::string>();
    }

    const json& object(const char* name) {
        static const json empty = json::object();
        const auto found = object_.find(name);
        if (found == object_.end() || !found->is_object()) {
            blame(name, "an object");
            return empty;
        }
        return *found;
    }

    void blame(const char* name, const std::string& wanted) {
        if (fault_.empty()) fault_ = prefix_ + name + " must be " + wanted;
    }

  private:
    const json& object_;
    std::string prefix_;
    std::string& fault_;
};

}  // namespace

std::variant<arm_config, arm_failure> read_config(const std::string& text) {
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object()) return arm_failure{"bad-config", "the configuration is not a JSON object"};
    std::string fault;
    field_reader top(document, "", fault);
    if (const std::string schema = top.text("schema"); fault.empty() && schema != "assay.arm-config/1.0")
        return arm_failure{"unsupported", "schema " + schema + " is unknown; this arm reads assay.arm-config/1.0"};
    if (const std::string arm = top.text("arm"); fault.empty() && arm != "native")
        return arm_failure{"unsupported", "this is the arm native, not " + arm};

    arm_config config;
    field_reader model(top.object("model"), "model.", fault);
    config.layers = static_cast<int>(model.integer("layers", 1, 96));
    config.d_model = static_cast<int>(model.integer("d_model", 8, 4096));
    config.ctx = static_cast<int>(model.integer("ctx", 2, 4096));
    config.batch = static_cast<int>(model.integer("batch", 1, 1024));
    config.heads = static_cast<int>(model.integer("heads", 1, 64));
    config.steps = static_cast<std::uint32_t>(top.integer("steps", 1, 10000));
    config.warmup = static_cast<std::uint32_t>(top.integer("warmup", 0, 1000));
    config.threads = static_cast<int>(top.integer("threads", 1, 256));

    const std::string seed = top.text("seed");
    const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), config.seed);
    if (seed.empty() || error != std::errc{} || end != seed.data() + seed.size())
        top.blame("seed", "a decimal string of 64 bits");

    field_reader corpus(top.object("corpus"), "corpus.", fault);
    if (document.contains("corpus") && document["corpus"].is_object() && document["corpus"].contains("name")) {
        if (corpus.text("name") != "builtin") corpus.blame("name", "builtin");
    } else {
        config.corpus_path = corpus.text("url");
        config.corpus_sha256 = corpus.text("sha256");
    }
    if (document.contains("options") && document["options"].is_object() &&
        document["options"].contains("repeat_optimizer")) {
        field_reader options(document["options"], "options.", fault);
        config.repeat_optimizer = static_cast<int>(options.integer("repeat_optimizer", 1, 100000));
    }
    if (!fault.empty()) return arm_failure{"bad-config", fault};
    return config;
}

}  // namespace assay::native
