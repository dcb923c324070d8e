#include "operator/yurtappdaemon/plan/gates.h"

namespace yad {

PoolGate Gates::Of(const NodePool& pool) {
  PoolGate gate;
  if (pool.hold) {
    gate.held = true;
    gate.hold = *pool.hold;
  } else if (!pool.windows.fault.empty()) {
    gate.held = gate.invalid_windows = true;
    gate.hold = pool.windows.fault;
  } else if (const auto node = snapshot_.maintenance.find(pool.name); node != snapshot_.maintenance.end()) {
    gate.held = gate.maintenance = true;
    gate.hold = node->second;
  }
  if (!pool.windows.fault.empty()) return gate;
  const RollingUpdate& strategy = snapshot_.daemon.strategy.rolling;
  if (pool.windows.windows) {
    gate.window = WindowsAt(*pool.windows.windows, pool.windows.time_zone, snapshot_.now);
  } else if (!strategy.windows.empty()) {
    const auto [known, is_new] = by_zone_.try_emplace(pool.windows.time_zone);
    if (is_new) known->second = WindowsAt(strategy.windows, pool.windows.time_zone, snapshot_.now);
    gate.window = known->second;
  }
  return gate;
}

}  // namespace yad
