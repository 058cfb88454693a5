// What can stand as A or B.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace assay {

enum class arm_kind {
    wasm,      ///< wasm-scalar, wasm-simd, wasm-simd-mt, wasm-relaxed-mt, wasm64-...
    webgpu,    ///< webgpu, webgpu-f16
    native,    ///< the same C++ built for the host
    external,  ///< external:NAME, a configured command
};

/// The kind of a known arm; the error lists the known names.
result<arm_kind> arm_kind_of(std::string_view arm);

/// True for arms that use more than one thread ("-mt"), native and external ones included.
bool arm_is_threaded(std::string_view arm);

}  // namespace assay
