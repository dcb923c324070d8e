#include "tests/cluster/crash_cell.h"

namespace yad::testing {

void CrashCell::AddSecondWorkload(const std::string& pool) {
  Json second = WorkloadOf(kCellDaemon, pool);
  second.erase("status");
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}) {
    second["metadata"].erase(field);
  }
  // The operator keeps the older of two equally good workloads. For two of the same second, it keeps the name that
  // sorts first.
  const std::string name = std::string(kCellDaemon) + "-" + pool + "-zzzzz";
  second["metadata"]["name"] = name;
  watch().ExpectSecond(name);
  watch().ExpectRemoval(name);
  kube().Create(type(), second);
}

int CrashCell::Play(Prepare prepare, Act act, int at) {
  AddThreePools();
  AddBystander(Pool("a"));
  StartOperator();
  if (const auto prepared = prepare(*this)) {
    WaitUntil(*prepared);
    RememberWorkloads();
  }
  WatchWorkloads();

  gate_.Arm(op().pid(), at);
  const Wanted wanted = act(*this);
  Eventually("the operator was killed, or the cluster has the expected state",
             [&]() -> std::string { return gate_.killed() ? std::string() : DifferenceFrom(wanted); });
  const int count = gate_.Disarm();
  if (gate_.killed()) {
    KillOperator();  // The process is dead. This updates the fixture.
    gate_.Reopen();
    StartOperator();
    WaitUntil(wanted);
  }
  ExpectNoMoreWrites();
  WaitUntil(wanted);
  ExpectNoFaultWasSeen();
  return count;
}

std::string CrashCell::Details() {
  std::string text = "\n  its writes:";
  for (const std::string& write : gate_.writes()) text += "\n    " + write;
  return text + Cell::Details();
}

// Throws TestFailure if the operator writes anything else until it has handled two Barriers.
void CrashCell::ExpectNoMoreWrites() {
  const auto writes = [&] {
    std::vector<std::string> all = gate_.writes();
    std::erase_if(all, [](const std::string& write) { return write.find("/barrier-") != std::string::npos; });
    return all;
  };
  const std::size_t before = writes().size();
  Barrier();
  Barrier();
  if (const auto now = writes(); now.size() != before) {
    throw TestFailure("the operator wrote after the cluster had the expected state: " + now.at(before));
  }
}

}  // namespace yad::testing
