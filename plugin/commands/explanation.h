// The content of `kubectl yad explain` for a NodePool, as data, as text and as JSON. Pure, except for ExplainPool.
#ifndef PLUGIN_COMMANDS_EXPLANATION_H_
#define PLUGIN_COMMANDS_EXPLANATION_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "plugin/commands/pool_opening.h"

namespace yad {

// An explanation lists at most this many nodes and misplaced pods (pods of the pool that run on a node outside the
// pool). The counts include all of them.
inline constexpr std::size_t kMaxNamedNodes = 20;
inline constexpr std::size_t kMaxNamedPods = 10;

struct ExplainedNode {
  std::string name;
  bool ready = false;
  WallTime since;      // last transition of condition Ready; the epoch: unknown
  WallTime heartbeat;  // renewTime of the node's Lease; the epoch: unknown, or there is no Lease
  std::string leased;  // phase of the node's lease; "": the node is not leased to the pool
};

struct MisplacedPod {
  ObjectKey pod;
  std::string node;
};

struct ExplainedDaemon {
  ObjectKey key;
  // - True: the daemon selects the pool.
  // - False: the daemon no longer selects the pool, and the pool's workload is being removed.
  // - nullopt: unknown, because the pool can't be read or the spec is invalid.
  std::optional<bool> selects;
  std::string fault;                   // the reason why the spec is invalid; "": the spec is valid
  std::optional<PoolOpening> opening;  // only for updateStrategy RollingUpdate
  Json pool;                           // the entry of status.pools; null if the status does not list the pool
};

// Objects that could not be read.
struct Unread {
  std::string what;  // "nodes", "pods outside namespace shop"
  std::string why;   // the message of the server
};

// The objects that an explanation of one NodePool describes. A member without a value could not be read, and `unread`
// has the reason.
struct Explanation {
  std::string name;
  WallTime now;
  std::optional<Json> pool;
  // "node n1: DrainInProgress": the first Node by name with a condition that holds the pool. "": no such Node.
  std::string maintenance;
  std::optional<std::vector<ExplainedNode>> nodes;     // nodes that are not ready first, then by name
  std::optional<std::vector<MisplacedPod>> misplaced;  // by name
  std::optional<std::vector<ExplainedDaemon>> daemons;
  std::vector<Unread> unread;
};

// Reads the objects from the server. If the user may not read the objects of all namespaces, reads those of namespace
// `ns`. Fails if the pool does not exist, or if the server does not respond.
Result<Explanation> ExplainPool(Client& client, const std::string& ns, const std::string& pool, WallTime now);

std::vector<std::string> DescribePool(const Explanation& explanation);
Json ToJson(const Explanation& explanation);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_EXPLANATION_H_
