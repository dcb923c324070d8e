// Input of the benchmarks: objects in the apiserver's format, and a daemon at rest over any number of pools.
#ifndef TESTS_BENCH_MICRO_FIXTURES_H_
#define TESTS_BENCH_MICRO_FIXTURES_H_

#include <cstddef>
#include <string>

#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::bench {

inline constexpr char kImage[] = "registry.example.org/edge/gateway:1.4.2";
inline constexpr char kNewImage[] = "registry.example.org/edge/gateway:1.5.0";

// Returns YurtAppDaemon ns/web with one container of usual size. Its Deployments have about 2.2 KB in the apiserver's
// answers, without managedFields.
Json GatewayDaemon(const std::string& image = kImage);
// Returns the daemon with three entries of overrides: an image for every pool, replicas for some by name, a patch for
// some by label.
Json GatewayDaemonWithOverrides();

std::string PoolName(int index);  // "edge-00042"; ten regions by label, a taint for every third
Json Pool(int index);

// Returns the pool's Deployment as an apiserver answers it: with its defaults, healthy.
Json ServedDeployment(const Json& daemon, const RevisionPtr& revision, int pool);
// Adds managedFields of two managers, as an apiserver writes them for this object.
Json WithManagedFields(Json object);

// Returns the daemon with all its objects in `pools` pools, existing and healthy. Cached for each number; any thread
// may call it.
const Snapshot& AtRest(int pools);
// Returns the same snapshot after a change of the daemon's image.
Snapshot WithNewRevision(int pools);

// Returns a page of `count` Deployments, as text.
std::string DeploymentPage(int first, int count);

// Returns the number of bytes that malloc has allocated and that are not freed yet.
std::size_t AllocatedBytes();

}  // namespace yad::bench

#endif  // TESTS_BENCH_MICRO_FIXTURES_H_
