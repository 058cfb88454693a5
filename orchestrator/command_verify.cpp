// `assay verify FILE...`: VALID or INVALID with reasons, offline.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "application.hpp"
#include "command_options.hpp"
#include "contract/verification_json.hpp"
#include "receipt/chain.hpp"
#include "receipt/digest.hpp"
#include "receipt/envelope.hpp"
#include "run/verify_receipt.hpp"

namespace assay {
namespace {

result<std::string> read_file(const std::string& file) {
    std::error_code failure;
    const auto size = std::filesystem::file_size(file, failure);
    if (failure) return error{error_code::not_found, "'" + file + "' cannot be read: " + failure.message()};
    if (size > max_receipt_file_bytes)
        return error{error_code::too_large, "'" + file + "' is larger than any receipt"};
    std::ifstream in(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    if (!in.good() && !in.eof()) return error{error_code::io_error, "'" + file + "' could not be read to its end"};
    return bytes;
}

result<verify_options_of_key> accepted_keys(const verify_options& options) {
    verify_options_of_key accepted;
    accepted.nonce = options.nonce;
    if (options.key) {
        accepted.key_id = *options.key;
        if (std::filesystem::exists(*options.key)) {
            auto text = read_file(*options.key);
            if (!text) return text.error();
            auto key = parse_public_key(*text);
            if (!key)
                return error{error_code::invalid_argument, "'" + *options.key + "' is no public key: " + key.error().message,
                             "--key", "Name a .pub file, as `assay keygen` prints its public key, or a key id."};
            accepted.key_id = key->id();
        } else if (!is_sha256_hex(*options.key)) {
            return error{error_code::invalid_argument, "'" + *options.key + "' is neither a file nor a key id", "--key",
                         "A key id is 64 hexadecimal digits; `assay keygen` prints it."};
        }
    }
    if (options.trust) {
        auto trust = trust_store::load(*options.trust);
        if (!trust) return trust.error();
        accepted.trust = std::move(*trust);
    }
    if (auto files = find_installed_files(shared_options{})) accepted.policies = files->policies;
    return accepted;
}

void print(const std::string& file, const receipt_verification& found, bool as_json) {
    if (as_json) {
        verification_report report{file, found.valid, found.reasons, found.remarks, found.key_id,
                                   found.file_sha256, {}, {}, {}, {}};
        if (found.document) {
            report.receipt_id = found.document->id;
            report.verdict = verdict_name(found.document->verdict.result);
            report.created_at = found.document->created_at;
            if (found.document->machine) report.machine_id = found.document->machine->machine_id;
        }
        std::cout << verification_text(report) << '\n';
        return;
    }
    std::cout << (found.valid ? "VALID    " : "INVALID  ") << file << '\n';
    if (found.document)
        std::cout << "  receipt " << found.document->id << " of " << found.document->created_at << ", verdict "
                  << verdict_name(found.document->verdict.result) << '\n';
    if (!found.key_id.empty()) std::cout << "  signed by the key " << found.key_id << '\n';
    for (const std::string& why : found.reasons) std::cout << "  - " << why << '\n';
    for (const std::string& remark : found.remarks) std::cout << "  note: " << remark << '\n';
}

void print(const chain_fault& fault, bool as_json) {
    if (as_json)
        std::cout << chain_fault_text({chain_fault_name(fault.type), fault.machine_id, fault.sequence, fault.message})
                  << '\n';
    else
        std::cout << "CHAIN    " << chain_fault_name(fault.type) << ": " << fault.message << '\n';
}

receipt_verification unreadable_file(const error& cause) {
    receipt_verification out;
    out.reasons.push_back(cause.text());
    return out;
}

}  // namespace

int command_verify(const verify_options& options) {
    auto accepted = accepted_keys(options);
    if (!accepted) return report_error(accepted.error());
    bool all_valid = true;
    bool unreadable = false;
    std::vector<chain_entry> links;
    for (const std::string& file : options.files) {
        auto bytes = read_file(file);
        if (!bytes) {
            report_error(bytes.error());
            if (options.json) print(file, unreadable_file(bytes.error()), true);
            unreadable = true;
            continue;
        }
        const receipt_verification found = verify_receipt(*bytes, *accepted);
        print(file, found, options.json);
        all_valid = all_valid && found.valid;
        if (found.link) links.push_back(*found.link);
    }
    if (options.chain)
        for (const chain_fault& fault : check_chain(std::move(links))) {
            all_valid = false;
            print(fault, options.json);
        }
    if (unreadable) return exit_usage;
    return all_valid ? exit_verified : exit_inconclusive;
}

}  // namespace assay
