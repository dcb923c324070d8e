// What the benchmarks work on: objects as an apiserver answers them, and a daemon at rest over any number of pools.
#ifndef TESTS_BENCH_MICRO_FIXTURES_H_
#define TESTS_BENCH_MICRO_FIXTURES_H_

#include <cstddef>
#include <string>

#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::bench {

inline constexpr char kImage[] = "registry.example.org/edge/gateway:1.4.2";
inline constexpr char kNewImage[] = "registry.example.org/edge/gateway:1.5.0";

// YurtAppDaemon ns/web with one container of everyday size: its Deployments have about 2.2 KB as an apiserver answers
// them, managedFields left out.
Json GatewayDaemon(const std::string& image = kImage);
// With three entries of overrides: an image for every pool, replicas for some by name, a patch for some by label.
Json GatewayDaemonWithOverrides();

std::string PoolName(int index);  // "edge-00042"; ten regions by label, a taint for every third
Json Pool(int index);

// The pool's Deployment as an apiserver answers it: with its defaults, healthy.
Json ServedDeployment(const Json& daemon, const RevisionPtr& revision, int pool);
// managedFields of two managers, as server-side bookkeeping writes them for this object.
Json WithManagedFields(Json object);

// The daemon, and what it wants in `pools` pools, all there and healthy. Made once for each number; any thread.
const Snapshot& AtRest(int pools);
// The same where the daemon has got a new image a moment ago.
Snapshot WithNewRevision(int pools);

// A page of `count` Deployments, as text.
std::string DeploymentPage(int first, int count);

// Bytes that malloc has given out and not got back.
std::size_t AllocatedBytes();

}  // namespace yad::bench

#endif  // TESTS_BENCH_MICRO_FIXTURES_H_
