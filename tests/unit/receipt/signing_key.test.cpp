#include "receipt/signing_key.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>
#include <vector>

#include "receipt/digest.hpp"
#include "receipt/trust.hpp"
#include "support/temporary_folder.hpp"

using namespace assay;
namespace fs = std::filesystem;

namespace {

std::string from_hex(std::string_view hex) {
    std::string out;
    for (std::size_t at = 0; at < hex.size(); at += 2)
        out += static_cast<char>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16));
    return out;
}

}  // namespace

TEST_CASE("Ed25519 gives the key and signature of RFC 8032, test 2") {
    const auto key =
        signing_key::from_seed(from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")).value();
    CHECK(to_hex(key.public_half().bytes()) == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    CHECK(to_hex(key.sign("\x72")) ==
          "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb430"
          "2aeeb00d291612bb0c00");
    CHECK(key.public_half().id() == sha256_hex(key.public_half().bytes()));
}

TEST_CASE("a signature holds for its message and key only") {
    const auto key = signing_key::generate(), other = signing_key::generate();
    const auto signature = key.sign("message");
    CHECK(key.public_half().verifies("message", signature));
    CHECK_FALSE(key.public_half().verifies("massage", signature));
    CHECK_FALSE(other.public_half().verifies("message", signature));
    CHECK_FALSE(key.public_half().verifies("message", signature.substr(1)));
}

TEST_CASE("the key file is made once, for its owner's eyes only, and read back") {
    test::temporary_folder folder;
    const auto home = folder.path() / "new" / "home";
    const auto made = load_or_make_identity(home).value();
    struct stat status {};
    REQUIRE(::stat((home / "key").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    const auto again = load_or_make_identity(home).value();
    CHECK(again.key.public_half() == made.key.public_half());
    CHECK(again.machine_id == made.machine_id);
    CHECK(made.machine_id == made.key.public_half().id().substr(0, 16));
}

TEST_CASE("a key file that others may read is refused") {
    test::temporary_folder folder;
    REQUIRE(load_or_make_identity(folder.path()).has_value());
    for (const mode_t mode : {0640, 0604, 0620, 0666}) {
        ::chmod((folder.path() / "key").c_str(), mode);
        CHECK(load_identity(folder.path()).error().code == error_code::forbidden);
    }
}

TEST_CASE("a damaged key file is reported, never replaced") {
    test::temporary_folder folder;
    for (const char* text :
         {"", "assay-ed25519-1\n", "assay-ed25519-1\nseed AAAA\nmachine 0123456789abcdef\n", "assay-ed25519-2\n"}) {
        const auto path = folder.path() / "key";
        std::ofstream(path) << text;
        ::chmod(path.c_str(), 0600);
        CHECK(load_or_make_identity(folder.path()).error().code == error_code::corrupt);
    }
}

TEST_CASE("processes that start at once agree on one key") {
    test::temporary_folder folder;
    std::vector<std::string> ids(8);
    std::vector<std::thread> threads;
    for (auto& id : ids)
        threads.emplace_back(
            [&id, &folder] { id = load_or_make_identity(folder.path()).value().key.public_half().id(); });
    for (auto& thread : threads) thread.join();
    for (const auto& id : ids) CHECK(id == ids[0]);
    int files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++files;
    CHECK(files == 1);
}

TEST_CASE("a rotated key keeps the machine's id, and trust in the old key reaches the new one") {
    test::temporary_folder folder;
    const auto first = load_or_make_identity(folder.path()).value();
    const auto rotated = rotate_key(folder.path(), "2026-11-30T21:00:00.000Z").value();
    const auto now = load_identity(folder.path()).value();
    CHECK(now.key.public_half() == rotated.identity.key.public_half());
    CHECK_FALSE(now.key.public_half() == first.key.public_half());
    CHECK(now.machine_id == first.machine_id);

    auto trust = trust_store::load(folder.path() / "trust").value();
    const auto new_id = now.key.public_half().id(), old_id = first.key.public_half().id();
    CHECK_FALSE(trust.trusts(new_id));
    trust.add_public_key("mac-1", first.key.public_half());
    CHECK(trust.trusts(new_id));
    CHECK(trust.trusts(old_id));
    CHECK(trust.first_key_id(new_id) == old_id);
    trust.revoke({old_id, "stolen"});
    CHECK_FALSE(trust.trusts(old_id));
    CHECK_FALSE(trust.trusts(new_id));
}

TEST_CASE("a rotation certificate with any byte changed is refused") {
    const auto old_key = signing_key::generate(), new_key = signing_key::generate();
    const auto certificate = rotation_certificate(old_key, new_key, "0123456789abcdef", "2026-11-30T21:00:00.000Z");
    REQUIRE(trust_store().add_rotation(certificate).has_value());
    for (std::size_t at = 0; at < certificate.size(); ++at) {
        auto changed = certificate;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        if (changed != certificate) CHECK_FALSE(trust_store().add_rotation(changed).has_value());
    }
}

TEST_CASE("a trust folder gives keys and revocations, and a damaged file in it is an error that names it") {
    test::temporary_folder folder;
    const auto good = signing_key::generate(), bad = signing_key::generate(), unknown = signing_key::generate();
    std::ofstream(folder.path() / "good.pub") << public_key_text(good.public_half());
    std::ofstream(folder.path() / "bad.pub") << public_key_text(bad.public_half());
    std::ofstream(folder.path() / "revoked") << "# lost machines\n" << bad.public_half().id() << " laptop was stolen\n";
    const auto trust = trust_store::load(folder.path()).value();
    CHECK(trust.trusts(good.public_half().id()));
    CHECK_FALSE(trust.trusts(bad.public_half().id()));
    CHECK(trust.revocation(bad.public_half().id())->reason == "laptop was stolen");
    CHECK_FALSE(trust.trusts(unknown.public_half().id()));

    std::ofstream(folder.path() / "revoked") << "not-a-key-id\n";
    CHECK(trust_store::load(folder.path()).error().message.find("revoked") != std::string::npos);
    CHECK_FALSE(trust_store::load(folder.path() / "absent").has_value());
}
