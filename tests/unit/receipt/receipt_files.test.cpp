#include "receipt/receipt_files.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "receipt/atomic_file.hpp"
#include "support/temporary_folder.hpp"

using namespace assay;
namespace fs = std::filesystem;

namespace {

const receipt_id first_id("01KC000000000000000000000A"), second_id("01KC000000000000000000000B");

}  // namespace

TEST_CASE("receipts are written, read and listed oldest first") {
    test::temporary_folder home;
    const auto files = receipt_files::open(home.path()).value();
    REQUIRE(files.write(second_id, "two").has_value());
    REQUIRE(files.write(first_id, "one").has_value());
    CHECK(files.read(second_id).value() == "two");
    CHECK(files.list().value() == std::vector{first_id, second_id});
    CHECK(fs::exists(home.path() / "receipts" / "01KC000000000000000000000A.assay.json"));
}

TEST_CASE("the same receipt twice is one file; another under its id is refused") {
    test::temporary_folder home;
    const auto files = receipt_files::open(home.path()).value();
    REQUIRE(files.write(first_id, "one").has_value());
    CHECK(files.write(first_id, "one").has_value());
    CHECK(files.write(first_id, "other").error().code == error_code::conflict);
    CHECK(files.read(first_id).value() == "one");
}

TEST_CASE("an id from outside cannot leave the folder") {
    test::temporary_folder home;
    const auto files = receipt_files::open(home.path()).value();
    CHECK(files.write(receipt_id("../../etc/passwd"), "x").error().code == error_code::invalid_argument);
    CHECK(files.read(receipt_id("../key")).error().code == error_code::invalid_argument);
    CHECK(files.read(second_id).error().code == error_code::not_found);
}

TEST_CASE("a write that fails half way leaves neither a torn receipt nor a temporary file") {
    test::temporary_folder home;
    const auto files = receipt_files::open(home.path()).value();
    // A file-size limit makes the kernel fail the write in the middle, as a full disk does.
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 4096;
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto written = files.write(first_id, std::string(100000, 'x'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, old_handler);
    CHECK(written.error().code == error_code::io_error);
    CHECK(fs::is_empty(home.path() / "receipts"));
    CHECK(files.write(first_id, std::string(100000, 'x')).has_value());
}

TEST_CASE("a temporary file of a killed process is not taken for a receipt") {
    test::temporary_folder home;
    const auto files = receipt_files::open(home.path()).value();
    std::ofstream(home.path() / "receipts" / "01KC000000000000000000000A.assay.json.part-1-0") << "half";
    std::ofstream(home.path() / "receipts" / "notes.assay.json") << "{}";
    CHECK(files.list().value().empty());
}

TEST_CASE("a replaced file is the old or the new one, whole") {
    test::temporary_folder folder;
    const auto path = folder.path() / "file";
    REQUIRE(write_file_atomically(path, "old").has_value());
    REQUIRE(write_file_atomically(path, "new").has_value());
    CHECK(read_whole_file(path, 100).value() == "new");
    CHECK(read_whole_file(path, 2).error().code == error_code::too_large);
    CHECK(read_whole_file(folder.path(), 100).error().code == error_code::io_error);
    CHECK(write_file_atomically(folder.path() / "absent" / "file", "x").error().code == error_code::not_found);
}
