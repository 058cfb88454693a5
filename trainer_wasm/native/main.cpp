// The arm `native`: the trainer built for the host, driven by one arm-config text and speaking the arm contract
// (protocols/schemas/arm-event.schema.json) as JSON lines on standard output.
//
//   assay-native-arm [CONFIG]              CONFIG is the JSON text; without it, standard input is read to its end
//   assay-native-arm --dump FOLDER [CONFIG]  writes weights.f32, batches.i32 and tensors.json for an external trainer
//
// Exit code 0 after the last event, 1 after an error event, 2 for wrong usage.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "abi.hpp"
#include "arm_config.hpp"

namespace {

using assay::native::arm_config;
using assay::native::arm_failure;
using nlohmann::json;
using clock_type = std::chrono::steady_clock;

/// Steps are told in batches, so that no step waits for a reader of the one before.
constexpr std::chrono::milliseconds steps_interval{250};

double milliseconds_since(clock_type::time_point begin) {
    return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}

/// Writes one event a line, numbered from 0.
class event_writer {
  public:
    void send(json event) {
        event["sequence"] = sequence_++;
        std::cout << event.dump() << std::endl;
    }

  private:
    std::uint64_t sequence_ = 0;
};

std::string hexadecimal(const std::array<std::uint8_t, 32>& digest) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

/// The event contract's code for a status of the trainer.
std::string code_for(int status) {
    switch (status) {
        case abi_bad_argument:
            return "bad-config";
        case abi_out_of_memory:
            return "out-of-memory";
        case abi_not_finite:
            return "not-finite";
        default:
            return "internal";
    }
}

arm_failure trainer_failure(int status) {
    return {code_for(status), assay_last_error()};
}

/// Gives the trainer its corpus.
std::optional<arm_failure> load_corpus(const arm_config& config) {
    if (config.corpus_path.empty()) {
        if (const int status = assay_corpus_builtin(); status != abi_ok) return trainer_failure(status);
        return std::nullopt;
    }
    std::ifstream file(config.corpus_path, std::ios::binary);
    if (!file) return arm_failure{"bad-config", "the corpus " + config.corpus_path + " cannot be read"};
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::uint8_t* memory = assay_corpus_reserve(static_cast<std::uint32_t>(bytes.size()));
    if (memory == nullptr) return trainer_failure(abi_out_of_memory);
    std::copy(bytes.begin(), bytes.end(), memory);
    std::array<std::uint8_t, 32> digest;
    assay_corpus_sha256(digest.data());
    if (hexadecimal(digest) != config.corpus_sha256)
        return arm_failure{"corpus-mismatch", "the corpus " + config.corpus_path + " has SHA-256 " +
                                                  hexadecimal(digest) + ", not " + config.corpus_sha256};
    return std::nullopt;
}

std::optional<arm_failure> create(const arm_config& config, int mode) {
    assay_test_repeat_optimizer(config.repeat_optimizer);
    const int status =
        assay_create(config.layers, config.d_model, config.ctx, config.batch, config.heads, config.threads,
                     static_cast<std::uint32_t>(config.seed), static_cast<std::uint32_t>(config.seed >> 32), mode);
    if (status != abi_ok) return trainer_failure(status);
    return std::nullopt;
}

std::optional<arm_failure> run_phase(event_writer& events, const char* phase, std::uint32_t steps) {
    std::vector<double> wall_ms;
    std::vector<double> losses;
    std::uint32_t first = 0;
    auto last_sent = clock_type::now();
    const auto flush = [&] {
        if (wall_ms.empty()) return;
        events.send({{"event", "steps"}, {"phase", phase}, {"first", first}, {"wall_ms", wall_ms}, {"loss", losses}});
        first += static_cast<std::uint32_t>(wall_ms.size());
        wall_ms.clear();
        losses.clear();
        last_sent = clock_type::now();
    };
    for (std::uint32_t step = 0; step < steps; ++step) {
        float loss = 0.0f;
        const auto begin = clock_type::now();
        const int status = assay_step(&loss);
        const double taken = milliseconds_since(begin);
        if (status != abi_ok) {
            flush();
            return trainer_failure(status);
        }
        wall_ms.push_back(taken);
        losses.push_back(loss);
        if (clock_type::now() - last_sent >= steps_interval) flush();
    }
    flush();
    events.send({{"event", "done"}, {"phase", phase}, {"steps", steps}});
    return std::nullopt;
}

std::optional<arm_failure> run(event_writer& events, const arm_config& config) {
    const auto corpus_begin = clock_type::now();
    if (auto failure = load_corpus(config)) return failure;
    const double corpus_ms = milliseconds_since(corpus_begin);
    const auto create_begin = clock_type::now();
    if (auto failure = create(config, mode_train)) return failure;
    const double create_ms = milliseconds_since(create_begin);

    std::array<std::uint8_t, 32> weights;
    std::array<std::uint8_t, 32> batches;
    std::array<std::uint8_t, 32> corpus;
    assay_weights_sha256(weights.data());
    assay_batches_sha256(config.steps, batches.data());
    assay_corpus_sha256(corpus.data());
    events.send({{"event", "prepared"},
                 {"arm", "native"},
                 {"threads", config.threads},
                 {"weights_sha256", hexadecimal(weights)},
                 {"batches_sha256", hexadecimal(batches)},
                 {"corpus_sha256", hexadecimal(corpus)},
                 {"parameters", static_cast<std::uint64_t>(assay_parameter_count())},
                 {"cold_start", {{"corpus", corpus_ms}, {"create", create_ms}}},
                 {"wait", "synchronous"},
                 {"variant", json::parse(assay_build_facts())}});
    if (auto failure = run_phase(events, "warmup", config.warmup)) return failure;
    if (const int status = assay_reset(); status != abi_ok) return trainer_failure(status);
    return run_phase(events, "measure", config.steps);
}

bool write_file(const std::filesystem::path& path, const void* data, std::size_t bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    return static_cast<bool>(file);
}

/// Initial weights, the batches of every timed step and the tensors' names, for a trainer in another language.
std::optional<arm_failure> dump(const arm_config& config, const std::filesystem::path& folder) {
    if (auto failure = load_corpus(config)) return failure;
    if (auto failure = create(config, mode_inputs)) return failure;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    const auto floats = static_cast<std::size_t>(assay_parameter_count());
    bool written = write_file(folder / "weights.f32", assay_parameters(), floats * sizeof(float));
    const std::size_t batch_bytes = sizeof(std::int32_t) * 2 * config.batch * config.ctx;
    std::ofstream batches(folder / "batches.i32", std::ios::binary);
    for (std::uint32_t index = 0; index < config.steps; ++index)
        batches.write(reinterpret_cast<const char*>(assay_batch(index)), static_cast<std::streamsize>(batch_bytes));
    written = written && batches.flush();
    json tensors = json::array();
    for (int i = 0; i < assay_tensor_count(); ++i)
        tensors.push_back({{"name", assay_tensor_name(i)},
                           {"offset", static_cast<std::uint64_t>(assay_tensor_offset(i))},
                           {"size", static_cast<std::uint64_t>(assay_tensor_size(i))},
                           {"decays", assay_tensor_decays(i) == 1}});
    std::array<std::uint8_t, 32> weights_digest;
    std::array<std::uint8_t, 32> batches_digest;
    std::array<std::uint8_t, 32> corpus_digest;
    assay_weights_sha256(weights_digest.data());
    assay_batches_sha256(config.steps, batches_digest.data());
    assay_corpus_sha256(corpus_digest.data());
    const std::string text = json{{"tensors", tensors},
                                  {"weights_sha256", hexadecimal(weights_digest)},
                                  {"batches_sha256", hexadecimal(batches_digest)},
                                  {"corpus_sha256", hexadecimal(corpus_digest)}}
                                 .dump(2);
    written = written && write_file(folder / "tensors.json", text.data(), text.size());
    if (!written) return arm_failure{"internal", "the dump cannot be written to " + folder.string()};
    return std::nullopt;
}

/// The build asks for instructions that an older processor lacks; it would die of SIGILL without a word.
bool processor_suffices() {
#if defined(__x86_64__) && defined(__AVX2__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

}  // namespace

int main(int argument_count, char** arguments) {
    std::vector<std::string> words(arguments + 1, arguments + argument_count);
    std::optional<std::filesystem::path> dump_folder;
    if (words.size() >= 2 && words[0] == "--dump") {
        dump_folder = words[1];
        words.erase(words.begin(), words.begin() + 2);
    }
    if (words.size() > 1 || (words.size() == 1 && words[0].starts_with("-"))) {
        std::fputs("usage: assay-native-arm [--dump FOLDER] [CONFIG as JSON text, else standard input]\n", stderr);
        return 2;
    }
    event_writer events;
    if (!dump_folder) events.send({{"event", "ready"}, {"arms", {"native"}}});
    const auto report = [&](const arm_failure& failure) {
        events.send({{"event", "error"}, {"code", failure.code}, {"message", failure.message}});
        return 1;
    };
    if (!processor_suffices())
        return report({"unsupported", "this build of the trainer needs a processor with AVX2 and FMA"});
    const std::string text = words.empty() ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : words[0];
    const auto read = assay::native::read_config(text);
    if (const auto* failure = std::get_if<arm_failure>(&read)) return report(*failure);
    const arm_config& config = std::get<arm_config>(read);
    const auto failure = dump_folder ? dump(config, *dump_folder) : run(events, config);
    return failure ? report(*failure) : 0;
}
