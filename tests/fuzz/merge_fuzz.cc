// Merges the input [last, now, live], and applies `now` as a strategic merge patch to `live`.
#include "operator/json/json_document.h"
#include "operator/workload/merge.h"
#include "operator/workload/semantics.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/json_mutator.h"

namespace yad {
namespace {

void MergeOf(const Json& last, const Json& now, const Json& live) {
  const auto shown = [&] { return "last " + DumpJson(last) + "\nnow  " + DumpJson(now) + "\nlive " + DumpJson(live); };
  // A second merge changes nothing, with `now` or with `last` as the last written object.
  const Json merged = ThreeWayMerge(last, now, live);
  Json again = ThreeWayMerge(now, now, merged);
  YAD_CHECK(again == merged, shown() + "\nonce " + DumpJson(merged) + "\nthen " + DumpJson(again));
  again = ThreeWayMerge(last, now, merged);
  YAD_CHECK(again == merged, shown() + "\nonce " + DumpJson(merged) + "\nthen " + DumpJson(again));
  const Json& pod = MemberOf(MemberOf(MemberOf(live, "spec"), "template"), "spec");
  // A merge of equal objects changes nothing. One exception: it makes serviceAccount and serviceAccountName of the pod
  // equal, as an apiserver does.
  if (live.is_object() && MemberOf(pod, "serviceAccount") == MemberOf(pod, "serviceAccountName")) {
    again = ThreeWayMerge(live, live, live);
    YAD_CHECK(again == live, shown() + "\nthen " + DumpJson(again));
  }

  // A second patch changes nothing. One exception: the first patch keeps "" in a new list, and the second patch removes
  // it. To the apiserver, "" and an absent value are equal.
  Json patched = live;
  ApplyPatch(now, true, patched);
  again = patched;
  ApplyPatch(now, true, again);
  YAD_CHECK(
      Canonical(WorkloadSchema(), again, Defaults::kKept) == Canonical(WorkloadSchema(), patched, Defaults::kKept),
      shown() + "\nonce " + DumpJson(patched) + "\nthen " + DumpJson(again));

  for (const Defaults defaults : {Defaults::kKept, Defaults::kDropped}) {
    const Json canonical = Canonical(WorkloadSchema(), live, defaults);
    YAD_CHECK(Canonical(WorkloadSchema(), canonical, defaults) == canonical, shown() + "\n" + DumpJson(canonical));
  }

  if (!last.is_object() || !now.is_object()) return;
  const bool same = SameObject(WorkloadSchema(), last, now);
  YAD_CHECK(SameObject(WorkloadSchema(), now, last) == same, shown());
  YAD_CHECK(SameObject(WorkloadSchema(), now, now), shown());
  for (const Defaults defaults : {Defaults::kKept, Defaults::kDropped}) {
    const bool alike = Canonical(WorkloadSchema(), last, defaults) == Canonical(WorkloadSchema(), now, defaults);
    if (alike) YAD_CHECK(same, shown());
  }
}

}  // namespace
}  // namespace yad

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = yad::fuzz::Members(data, size, 3);
  if (input.empty()) return 0;
  // The controller and the webhook reject deeper input.
  for (const yad::Json& value : input) {
    if (yad::IsDeeperThan(value, yad::kMaxJsonDepth)) return 0;
  }
  yad::MergeOf(input[0], input[1], yad::WithoutNulls(input[2]));  // an apiserver does not store nulls
  return 0;
}
YAD_FUZZ_JSON();
