// The command line: the command and the values of its flags.
#ifndef PLUGIN_COMMANDS_PLUGIN_OPTIONS_H_
#define PLUGIN_COMMANDS_PLUGIN_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/clock.h"

namespace yad {

// The largest value of --runs of simulate.
inline constexpr int kMaxFailureRuns = 1000;

enum class OutputFormat { kDefault, kWide, kJson, kYaml, kName, kHtml };
enum class DryRun { kNone, kClient, kServer };

struct PluginOptions {
  std::string command;  // its name, such as "pools" or "capacity plan"

  // Cluster and user.
  std::string kubeconfig;
  std::string context;
  std::string ns;  // "": the context's namespace
  bool all_namespaces = false;
  std::chrono::milliseconds request_timeout{0};  // 0: the client's default

  // The objects on which the command works.
  std::string daemon;      // the name, without "yad/"
  std::string autoscaler;  // the name, without "npa/"
  std::vector<std::string> groups;
  std::vector<std::string> pools;
  std::string reason;                    // of a hold or a freeze
  std::optional<WallTime> until;         // of a freeze; nullopt: without end
  std::string operator_ns;               // "": the namespace of the operator's Deployment
  std::optional<std::int64_t> revision;  // --revision, --to-revision
  std::string approved_revision;         // for approve: the name of a revision; "": status.updateRevision
  std::string file;                      // "-": standard input
  std::string pool_file;
  std::string uid;
  std::string shell;

  // Behaviour and output.
  OutputFormat output = OutputFormat::kDefault;
  DryRun dry_run = DryRun::kNone;
  bool watch = false;
  std::chrono::milliseconds timeout{0};  // for status; 0: none
  std::optional<WallTime> now;           // for capacity plan and simulate
  bool failing = false;                  // for simulate: every update fails
  std::string from;                      // for simulate: a file that replaces the cluster; "-": standard input
  std::optional<std::chrono::milliseconds>
      duration;                        // for simulate: of an update; nullopt: as long as the pool's last update
  std::optional<double> failure_rate;  // for simulate: from 0 to 1
  int runs = 100;                      // for simulate, with failure_rate
  std::uint64_t seed = 1;              // for simulate, with failure_rate
  int port = 0;                        // for dashboard; 0: any free port
  bool open = true;                    // for dashboard: open a browser
};

}  // namespace yad

#endif  // PLUGIN_COMMANDS_PLUGIN_OPTIONS_H_
