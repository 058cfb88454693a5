// The order in which blocks run.
#pragma once

#include <cstdint>
#include <vector>

namespace assay {

/// The plan of a run: 4 * quadruples letters, each quadruple "ABBA" or "BAAB"; either cancels linear drift exactly.
///
/// - A run of one quadruple is always "ABBA", whatever the seed: that is the order the product promises
///   (WASM, WebGPU, WebGPU, WASM).
/// - With two or more, quadruples 2k and 2k + 1 are one of each, in an order drawn from the seed, so that both orders
///   are equally common (which carry-over and quadratic drift ask for) and nobody can know the next one beforehand.
/// - A longer plan of the same seed begins with the shorter one (from two quadruples on), so that a run that adds
///   quadruples as it goes follows the plan made for its bound.
/// - `randomise` false gives "ABBA" always.
///
/// `quadruples` < 1 gives an empty plan. Pure.
std::vector<char> make_plan(int quadruples, std::uint64_t seed, bool randomise);

}  // namespace assay
