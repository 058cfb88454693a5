// The first questions of the shipped adapter policies, asked again of the stored adapter: what no verified run can lack.
// `assay verify` asks all of them (orchestrator/gate/); a policy of somebody's own is not at hand in a browser.

import type { AdapterViews, Receipt } from "../data/receipt";
import type { Check } from "./envelope";

/** The vendor that a shipped policy asks for; "" where any will do. */
const vendor_of_policy: Record<string, string> = { "apple-metal-3": "apple", nvidia: "nvidia", "any-hardware": "" };
const software = /swiftshader|llvmpipe|softpipe|basic render|\bwarp\b/i;

function faultOf(policy: string, views: AdapterViews | undefined): string | undefined {
  const page = views?.page;
  if (page === undefined) return "no adapter was seen";
  if (page.is_fallback !== false) return "the adapter is a fallback, or does not say that it is none";
  const vendor = vendor_of_policy[policy]!;
  if (vendor !== "" && page.vendor.toLowerCase() !== vendor) return `the adapter's vendor is "${page.vendor}"`;
  if (policy === "apple-metal-3" && page.architecture.toLowerCase() !== "metal-3") return `the adapter's architecture is "${page.architecture}"`;
  return software.test(`${page.architecture} ${page.device} ${page.description}`) ? "the adapter is a software renderer" : undefined;
}

/** Faults of a receipt that claims a qualified run. Empty: nothing speaks against it. */
export function checkGate(receipt: Receipt): Check[] {
  const { result } = receipt.verdict;
  const policy = receipt.request.policy ?? "apple-metal-3";
  if (result !== "verified" && result !== "inconclusive") return [];
  if (policy === "any") return [{ name: "gate", outcome: "failed", detail: `The policy "any" lets everything run and qualifies nothing, yet it claims "${result}".` }];
  if (!Object.hasOwn(vendor_of_policy, policy)) return [];
  for (const [index, block] of (receipt.arms ?? []).entries()) {
    if (block.arm === "native" || block.arm.startsWith("external:")) continue;
    const fault = faultOf(policy, block.adapter_before) ?? faultOf(policy, block.adapter_after);
    if (fault !== undefined)
      return [{ name: "gate", outcome: "failed", detail: `It claims "${result}" by the policy "${policy}", but at block ${index + 1} ${fault}.` }];
  }
  return [];
}
