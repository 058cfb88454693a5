#include "analysis/quadruples.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/sample_statistics.hpp"

namespace assay {

std::optional<double> block_median_ms(const arm_record& block) {
    std::vector<double> times;
    times.reserve(block.steps.size());
    for (const step_sample& step : block.steps) times.push_back(step.wall_ms);
    return median(times);
}

std::optional<double> block_final_loss(const arm_record& block) {
    if (block.steps.empty() || !std::isfinite(block.steps.back().loss)) return std::nullopt;
    return block.steps.back().loss;
}

std::vector<quadruple> complete_quadruples(const receipt& document) {
    std::map<int, std::vector<const arm_record*>> by_index;
    for (const arm_record& block : document.arms) by_index[block.quadruple].push_back(&block);

    std::vector<quadruple> complete;
    for (auto& [index, blocks] : by_index) {
        if (blocks.size() != 4) continue;
        std::stable_sort(blocks.begin(), blocks.end(),
                         [](const arm_record* x, const arm_record* y) { return x->position < y->position; });
        quadruple one;
        one.index = index;
        one.baab = blocks.front()->block == 'B';
        std::size_t a_count = 0;
        std::size_t b_count = 0;
        bool usable = true;
        for (const arm_record* block : blocks) {
            const auto time = block_median_ms(*block);
            const bool is_a = block->block == 'A';
            std::size_t& count = is_a ? a_count : b_count;
            if (!time || !(*time > 0) || count == 2) {
                usable = false;
                break;
            }
            (is_a ? one.a : one.b)[count] = block;
            (is_a ? one.log_a : one.log_b)[count] = std::log(*time);
            ++count;
        }
        if (usable) complete.push_back(one);
    }
    return complete;
}

}  // namespace assay
