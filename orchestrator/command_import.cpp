// `assay import FILE...`: published figures into receipts of their own evidence class, signed as imported here.
#include <fstream>
#include <iostream>
#include <iterator>

#include "command_options.hpp"
#include "contract/published_history.hpp"
#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/random.hpp"
#include "receipt/receipt_files.hpp"
#include "receipt/signing_key.hpp"
#include "run/home.hpp"
#include "run/measurement_lock.hpp"
#include "run/receipt_recorder.hpp"
#include "store/open_store.hpp"

namespace assay {
namespace {

constexpr std::size_t max_history_bytes = 1u << 20;

result<published_history> read_history(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text;
    text.resize(max_history_bytes + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (in.bad() || (text.empty() && !in.eof())) return error{error_code::not_found, "'" + file + "' cannot be read"};
    if (text.size() > max_history_bytes) return error{error_code::too_large, "'" + file + "' is larger than 1 MiB"};
    auto history = parse_published_history(text);
    if (!history) {
        error cause = history.error();
        cause.message = "'" + file + "': " + cause.message;
        return cause;
    }
    return history;
}

result<int> import_figures(const published_history& history, const receipt_recorder& recorder, run_store& store) {
    const real_clock time;
    system_random random;
    int imported = 0;
    for (const published_figure& figure : history.figures) {
        receipt document = published_receipt(history, figure, make_sortable_id(time, random), format_utc(time.now()));
        auto recorded = recorder.record(std::move(document));
        if (!recorded) return recorded.error();
        if (auto added = store.add_receipt(recorded->summary, recorded->file_bytes); !added) return added.error();
        std::cout << evidence_name(recorded->document.evidence) << "  " << figure.preset << "  " << figure.arms[0]
                  << " against " << figure.arms[1] << "  " << recorded->path.string() << '\n';
        ++imported;
    }
    return imported;
}

}  // namespace

int command_import(const import_options& options) {
    std::vector<published_history> histories;
    for (const std::string& file : options.files) {
        auto history = read_history(file);
        if (!history) return report_error(history.error());
        histories.push_back(std::move(*history));
    }
    auto home = open_home(options.home);
    if (!home) return report_error(home.error());
    // The chain has one end: nothing else may record while figures are added.
    auto lock = measurement_lock::try_acquire(home->measurement_lock());
    if (!lock) return report_error(lock.error());
    if (!*lock)
        return report_error(
            {error_code::conflict, "A measurement is running on this machine", {}, "Import when it has ended."});
    auto identity = load_or_make_identity(home->root);
    if (!identity) return report_error(identity.error());
    auto files = receipt_files::open(home->root);
    if (!files) return report_error(files.error());
    const receipt_recorder recorder(std::move(*identity), std::move(*files));
    const real_clock time;
    auto store = open_store(options.store.value_or(home->default_store()), time);
    if (!store) return report_error(store.error());
    int imported = 0;
    for (const published_history& history : histories) {
        auto count = import_figures(history, recorder, **store);
        if (!count) return report_error(count.error());
        imported += *count;
    }
    std::cout << imported << " figures imported\n";
    return exit_verified;
}

}  // namespace assay
