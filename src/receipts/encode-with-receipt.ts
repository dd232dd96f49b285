/** Report -> JSON bytes with a receipt that has no signature yet. */
import type { Analyses, AnalyzeRequest, Analyzer } from '../analysis/analyze.ts';
import { composeReceipt, type Signing } from './compose-receipt.ts';
import { attachReceipt, type Unsigned } from './sign.ts';
import { describeSoftware } from './software.ts';

/** @param request with `hashSamples` */
export function encodeWithReceipt(
  { models }: Analyzer,
  request: AnalyzeRequest,
  { analyses, report }: { readonly analyses: Analyses; readonly report: object },
  signing: Signing,
): Unsigned {
  return attachReceipt(
    report,
    composeReceipt(request, { analyses, report }, describeSoftware(models), signing),
  );
}
