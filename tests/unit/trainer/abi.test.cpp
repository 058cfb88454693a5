#include "abi.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

TEST_CASE("the C interface says what is wrong and what to do about it") {
    CHECK(assay_create(1, 32, 16, 2, 3, 1, 42, 0, mode_train) == abi_bad_argument);
    CHECK(std::string(assay_last_error()) == "heads (3) does not divide d_model (32)");
    CHECK(assay_create(1, 32, 16, 2, 2, 0, 42, 0, mode_train) == abi_bad_argument);
    CHECK(assay_create(1, 32, 16, 2, 2, 1, 42, 0, 9) == abi_bad_argument);

    REQUIRE(assay_corpus_reserve(16) != nullptr);
    CHECK(assay_create(1, 32, 16, 2, 2, 1, 42, 0, mode_train) == abi_no_corpus);
    CHECK(std::string(assay_last_error()).find("needs 17 at least") != std::string::npos);

    float loss = 0.0f;
    CHECK(assay_step(&loss) == abi_not_created);
    CHECK(assay_batch(0) == nullptr);

    // 96 layers of 4096 need terabytes: refused with both numbers, and nothing is touched.
    REQUIRE(assay_corpus_builtin() == abi_ok);
    CHECK(assay_bytes_needed(96, 4096, 4096, 1024, 64, 1, mode_train) > 1e13);
    CHECK(assay_create(96, 4096, 4096, 1024, 64, 1, 42, 0, mode_train) == abi_out_of_memory);
    const std::string message = assay_last_error();
    CHECK(message.find("bytes and") != std::string::npos);
    CHECK(message.find("are at hand") != std::string::npos);
}

TEST_CASE("the C interface trains, resets, and describes its tensors") {
    REQUIRE(assay_corpus_builtin() == abi_ok);
    CHECK(assay_corpus_size() == 1048576);
    REQUIRE(assay_create(1, 32, 16, 2, 2, 2, 42, 0, mode_train) == abi_ok);
    float first = 0.0f, again = 0.0f;
    CHECK(assay_step(&first) == abi_ok);
    CHECK(std::isfinite(first));
    CHECK(assay_reset() == abi_ok);
    CHECK(assay_step(&again) == abi_ok);
    CHECK(first == again);

    CHECK(assay_tensor_count() == 2 + 12 + 2);
    CHECK(std::string(assay_tensor_name(0)) == "wte");
    CHECK(std::string(assay_tensor_name(4)) == "layer0.qkv.weight");
    CHECK(std::string(assay_tensor_name(15)) == "lnf.bias");
    CHECK(assay_tensor_decays(0) == 1);
    CHECK(assay_tensor_decays(2) == 0);
    double end = 0.0;
    for (int i = 0; i < assay_tensor_count(); ++i) {
        CHECK(assay_tensor_offset(i) == end);
        end += assay_tensor_size(i);
    }
    CHECK(end == assay_parameter_count());
    CHECK(assay_gradients() != nullptr);

    assay_profile_enable(1);
    CHECK(assay_step(&again) == abi_ok);
    double profiled = 0.0;
    for (int i = 0; i < assay_profile_count(); ++i) profiled += assay_profile_milliseconds(i);
    CHECK(profiled > 0.0);
    assay_profile_enable(0);
    const std::string facts = assay_build_facts();
    CHECK(facts.find("\"microkernel\":\"") != std::string::npos);
}

TEST_CASE("inputs mode refuses to train") {
    REQUIRE(assay_corpus_builtin() == abi_ok);
    REQUIRE(assay_create(1, 32, 16, 2, 2, 1, 42, 0, mode_inputs) == abi_ok);
    float loss = 0.0f;
    CHECK(assay_step(&loss) == abi_not_created);
    CHECK(std::string(assay_last_error()) == "this model was made for inputs only");
    CHECK(assay_gradients() == nullptr);
}
