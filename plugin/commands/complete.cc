// Finds the candidates for the next word of a command line.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "operator/api/well_known.h"
#include "operator/capacity/autoscaler.h"
#include "operator/client/auth/config.h"
#include "operator/workload/revision.h"
#include "plugin/commands/changes.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/option_values.h"
#include "plugin/commands/revisions.h"
#include "plugin/view/pool_table.h"

namespace yad {
namespace {

// The timeout of a request. It is short because the user waits for the completion.
constexpr std::chrono::milliseconds kReadTimeout{2'000};

// Values of cobra's ShellCompDirective, a number that determines how the shell's completion script continues. With
// kFiles, the shell also completes file names.
constexpr int kFiles = 0;
constexpr int kNoFiles = 4;

const ResourceType kNamespaces{"", "v1", "namespaces", "Namespace", false};

// The part of the command line before the word to complete.
struct CommandLine {
  bool unknown = false;  // the line has a command that does not exist
  const CommandHelp* command = nullptr;
  std::vector<std::string> positionals;
  const FlagHelp* open_flag = nullptr;  // set if the last word is a flag without its value
  std::string kubeconfig, context, ns;
};

const CommandHelp* FindCommand(const std::vector<CommandHelp>& commands, const std::string& name) {
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const CommandHelp& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

void SetValue(CommandLine& line, const FlagHelp& flag, const std::string& value) {
  if (flag.name == "--kubeconfig") line.kubeconfig = value;
  if (flag.name == "--context") line.context = value;
  if (flag.name == "--namespace") line.ns = value;
}

CommandLine ParseLine(const std::vector<CommandHelp>& commands, const std::vector<std::string>& words) {
  CommandLine line;
  for (const std::string& word : words) {
    if (line.open_flag != nullptr) {
      SetValue(line, *line.open_flag, word);
      line.open_flag = nullptr;
      continue;
    }
    if (word.starts_with('-') && word != "-") {
      // Before the command is known, uses the flags of the first command. Only the flags that all commands share are
      // valid there.
      const std::vector<FlagHelp>& flags = line.command != nullptr ? line.command->flags : commands.front().flags;
      const std::size_t equals = word.find('=');
      const bool attached = word[1] != '-' && word.size() > 2 && equals != 2;  // "-nshops" is short for "-n shops"
      const FlagHelp* flag = FindFlag(flags, word.substr(0, attached ? 2 : equals));
      if (flag == nullptr || !flag->takes_value) continue;
      if (attached) {
        SetValue(line, *flag, word.substr(2));
      } else if (equals != std::string::npos) {
        SetValue(line, *flag, word.substr(equals + 1));
      } else {
        line.open_flag = flag;
      }
      continue;
    }
    if (line.command == nullptr) {
      line.command = FindCommand(commands, word);
      if (line.command == nullptr) {
        line.unknown = true;
        return line;
      }
    } else if (const CommandHelp* below = FindCommand(commands, line.command->name + " " + word);
               below != nullptr && line.positionals.empty()) {
      line.command = below;
    } else {
      line.positionals.push_back(word);
    }
  }
  return line;
}

// Finds names of objects in the cluster. Finds none if the cluster does not respond.
class NamesInCluster {
 public:
  explicit NamesInCluster(const CommandLine& line) {
    auto config = LoadClusterConfig(line.kubeconfig, line.context, InPod::kHomeFile);
    if (!config) return;
    ns_ = line.ns.empty() ? config->ns : line.ns;
    ClientOptions options;
    options.timeout = kReadTimeout;
    if (auto client = MakeClient(*config, options)) client_ = *std::move(client);
  }

  std::vector<std::string> Of(const ResourceType& type) {
    std::vector<std::string> names;
    if (client_ == nullptr) return names;
    if (const auto objects = ListAll(*client_, type, type.namespaced ? ns_ : "")) {
      for (const Json& object : *objects) names.push_back(StringAt(object, {"metadata", "name"}));
    }
    return names;
  }
  std::vector<std::string> Pools(const std::string& daemon) {
    std::vector<std::string> names;
    const Json object = Daemon(daemon);
    for (const PoolStatusView& pool : PoolsOf(object)) names.emplace_back(pool.name());
    return names;
  }
  std::vector<std::string> Groups(const std::string& daemon) { return ManualGroups(Daemon(daemon)); }
  std::vector<std::string> UpdateRevision(const std::string& daemon) {
    return {StringAt(Daemon(daemon), {"status", "updateRevision"})};
  }
  std::vector<std::string> Revisions(const std::string& daemon) {
    std::vector<std::string> numbers;
    const Json object = Daemon(daemon);
    if (object.is_null()) return numbers;
    if (const auto revisions = ReadRevisions(*client_, object)) {
      for (const RevisionEntry& entry : *revisions) {
        numbers.push_back(std::to_string(entry.revision->number) + "\t" + ImagesOf(entry.revision->content));
      }
    }
    return numbers;
  }

 private:
  Json Daemon(const std::string& argument) {
    const auto name = DaemonNameOf(argument);
    if (client_ == nullptr || !name) return nullptr;
    return client_->Get(kYurtAppDaemonType, {ns_, *name}).value_or(Json());
  }

  std::unique_ptr<Client> client_;
  std::string ns_;
};

struct Candidates {
  std::vector<std::string> words;  // "word\tdescription"
  int directive = kNoFiles;
};

Candidates ForValue(const CommandLine& line) {
  const std::string& flag = line.open_flag->name;
  if (!line.open_flag->values.empty()) return {line.open_flag->values};
  if (flag == "--kubeconfig" || flag == "--filename" || flag == "--pool-file" || flag == "--from") return {{}, kFiles};
  if (flag == "--namespace" || flag == "--operator-namespace") return {NamesInCluster(line).Of(kNamespaces)};
  const std::string daemon = line.positionals.empty() ? "" : line.positionals.front();
  if (flag == "--pool") {
    return {daemon.empty() || line.command->name == "render" ? NamesInCluster(line).Of(kNodePoolType)
                                                             : NamesInCluster(line).Pools(daemon)};
  }
  if (flag == "--revision" && line.command->name == "approve") return {NamesInCluster(line).UpdateRevision(daemon)};
  if (flag == "--to-revision" || flag == "--revision") return {NamesInCluster(line).Revisions(daemon)};
  return {};
}

// `is_value` is true if the word is the value of the flag at the end of `before`.
Candidates For(const std::vector<CommandHelp>& commands, const std::vector<std::string>& before,
               const std::string& word, bool is_value) {
  const CommandLine line = ParseLine(commands, before);
  if (line.open_flag != nullptr) return ForValue(line);
  Candidates candidates;
  if (line.unknown || is_value) return candidates;
  if (word.starts_with('-')) {
    if (line.command == nullptr) return candidates;
    for (const FlagHelp& flag : line.command->flags) candidates.words.push_back(flag.name + "\t" + flag.help);
    return candidates;
  }
  const std::string above = line.command == nullptr ? "" : line.command->name + " ";
  for (const CommandHelp& command : commands) {
    if (!command.name.starts_with(above) || !line.positionals.empty()) continue;
    const std::string name = command.name.substr(above.size());
    if (name.find(' ') == std::string::npos) candidates.words.push_back(name + "\t" + command.summary);
  }
  if (line.command == nullptr) return candidates;
  const std::string& command = line.command->name;
  if (!line.positionals.empty()) {
    if (command == "approve") return {NamesInCluster(line).Groups(line.positionals.front())};
    return candidates;
  }
  if (command == "version" || command == "capacity plan" || command == "freeze" || command == "unfreeze" ||
      command == "dashboard")
    return candidates;
  if (command == "completion") return {{"bash", "zsh", "fish"}};
  if (command == "render") return {{}, kFiles};
  const ResourceType& type = command == "capacity" ? kNodePoolAutoscalerType
                             : command == "hold" || command == "release" || command == "explain" ? kNodePoolType
                                                                                                 : kYurtAppDaemonType;
  for (std::string& name : NamesInCluster(line).Of(type)) candidates.words.push_back(std::move(name));
  return candidates;
}

}  // namespace

int RunComplete(const std::vector<std::string>& arguments, Console& console) {
  std::string word = arguments.empty() ? "" : arguments.back();
  std::vector<std::string> before(arguments.begin(), arguments.empty() ? arguments.end() : arguments.end() - 1);
  // As in programs that use cobra, the candidates for "--flag=x" are values without "--flag=".
  const std::size_t equals = word.starts_with('-') ? word.find('=') : std::string::npos;
  const bool is_value = equals != std::string::npos;
  if (is_value) {
    before.push_back(word.substr(0, equals));
    word.erase(0, equals + 1);
  }
  const std::vector<CommandHelp> commands = DescribeCommands();
  Candidates candidates = For(commands, before, word, is_value);
  for (const std::string& candidate : candidates.words) {
    if (!candidate.starts_with(word)) continue;
    // Prints the candidate and, after a tab, its description. Printable replaces control characters in both, because
    // the shell inserts the text into the command line.
    const std::size_t tab = candidate.find('\t');
    console.out << Printable(candidate.substr(0, tab));
    if (tab != std::string::npos) console.out << "\t" << Printable(candidate.substr(tab + 1));
    console.out << "\n";
  }
  console.out << ":" << candidates.directive << "\n";
  return kDone;
}

}  // namespace yad
