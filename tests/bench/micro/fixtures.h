// The input of the micro-benchmarks: objects in the apiserver's format, and a daemon with up-to-date workloads in any
// number of pools.
#ifndef TESTS_BENCH_MICRO_FIXTURES_H_
#define TESTS_BENCH_MICRO_FIXTURES_H_

#include <cstddef>
#include <string>

#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::bench {

inline constexpr char kImage[] = "registry.example.org/edge/gateway:1.4.2";
inline constexpr char kNewImage[] = "registry.example.org/edge/gateway:1.5.0";

// Returns YurtAppDaemon ns/web with one container of a typical size. Its Deployments have about 2.2 KB each, without
// managedFields.
Json GatewayDaemon(const std::string& image = kImage);
// Returns the daemon with three overrides: an image for every pool, replicas for pools by name, and a patch for pools
// by label.
Json GatewayDaemonWithOverrides();

std::string PoolName(int index);  // "edge-00042"
Json Pool(int index);             // has a label for one of ten regions; every third pool has a taint

// Returns the pool's Deployment in the apiserver's format, with its defaults and a healthy status.
Json ServedDeployment(const Json& daemon, const RevisionPtr& revision, int pool);
// Adds managedFields, as an apiserver does for two managers.
Json WithManagedFields(Json object);

// Returns the daemon with `pools` pools and all its objects, all healthy. Caches each result. Thread-safe.
const Snapshot& AtRest(int pools);
// Returns AtRest(pools) after a change of the daemon's image.
Snapshot WithNewRevision(int pools);

// Returns the JSON of a list of `count` Deployments.
std::string DeploymentPage(int first, int count);

// Returns the number of bytes that malloc has allocated and not freed.
std::size_t AllocatedBytes();

}  // namespace yad::bench

#endif  // TESTS_BENCH_MICRO_FIXTURES_H_
