#include "plugin/commands/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "operator/base/join.h"
#include "plugin/commands/arguments.h"
#include "plugin/commands/option_values.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

constexpr char kFooter[] = R"(
NAME is the name of a YurtAppDaemon: web, yad/web or yurtappdaemon/web. For capacity, it is the name of a
NodePoolAutoscaler: hangzhou or npa/hangzhou.

Exit codes:
  0  done; status: the rollout is complete; diff: nothing differs
  1  status: the rollout has stopped; diff: something differs
  2  the command line is wrong
  3  the command failed: an object was not found, the server rejected a request or did not respond,
     or a file cannot be read
  4  status: --timeout expired

More: docs/kubectl-yad.md in the repository)";

constexpr char kForAll[] =
    "\n\nAll commands take --kubeconfig, --context, -n/--namespace and --request-timeout (kubectl yad --help).";

const std::map<std::string, OutputFormat> kOutputs{{"wide", OutputFormat::kWide},
                                                   {"json", OutputFormat::kJson},
                                                   {"yaml", OutputFormat::kYaml},
                                                   {"name", OutputFormat::kName},
                                                   {"html", OutputFormat::kHtml}};

class Parser {
 public:
  explicit Parser(PluginOptions& options)
      : options_(options), app_("Shows and controls rollouts of YurtAppDaemons.", "kubectl yad") {
    app_.fallthrough();
    app_.require_subcommand(1);
    app_.footer(kFooter);
    app_.get_formatter()->column_width(34);
    app_.add_option("--kubeconfig", options_.kubeconfig, "Kubeconfig file. Default: the file that kubectl would use.");
    app_.add_option("--context", options_.context, "Context of the kubeconfig. Default: the current context.");
    app_.add_option("-n,--namespace", options_.ns, "Namespace. Default: the namespace of the context.");
    Parsed(&app_, "--request-timeout", "DURATION", DurationValue, options_.request_timeout,
           "Timeout of one request to the server, such as 10s or 1m; 0 means 30s.");
    AddCommands();
  }

  CLI::App& app() { return app_; }

  // Derives options from several flags and checks their combination. Returns an error message; "" if the options are
  // valid.
  std::string Finish() {
    if (options_.command == "status") options_.watch = status_watch_;
    options_.open = !no_open_;
    if (!positional_file_.empty()) {
      if (!options_.file.empty()) return "the manifest is given twice: give either FILE or -f FILE";
      options_.file = positional_file_;
    }
    return CheckCombination(options_);
  }

 private:
  CLI::App* Add(const std::string& name, const std::string& summary, const std::string& examples) {
    CLI::App* added = app_.add_subcommand(name, summary);
    added->footer("\nExamples:\n" + examples + kForAll);
    added->callback([this, name] { options_.command = name; });
    return added;
  }

  // Adds a command for one YurtAppDaemon.
  CLI::App* AddForDaemon(const std::string& name, const std::string& summary, const std::string& examples) {
    CLI::App* added = Add(name, summary, examples);
    Name(added)->required();
    return added;
  }

  // Returns a check that fails with the message of the Error that `parse` returns.
  template <typename Parse>
  static auto CheckWith(Parse parse) {
    return [parse](const std::string& text) {
      const auto value = parse(text);
      return value ? std::string() : value.error().message;
    };
  }

  // Adds a flag or an argument. `parse` returns the value of a string, or an Error if the string is not valid.
  template <typename Parse, typename Value>
  static CLI::Option* Parsed(CLI::App* app, const std::string& name, const std::string& type, Parse parse, Value& value,
                             const std::string& help) {
    return app
        ->add_option_function<std::string>(
            name,
            [parse, &value](const std::string& text) {
              if (auto parsed = parse(text)) value = *std::move(parsed);
            },
            help)
        ->type_name(type)
        ->check(CheckWith(parse));
  }

  CLI::Option* Name(CLI::App* app) {
    return Parsed(app, "NAME", "", DaemonNameOf, options_.daemon, "YurtAppDaemon: NAME or yad/NAME.");
  }

  void Pool(CLI::App* app) {
    const auto parse = [](const std::string& argument) -> Result<std::vector<std::string>> {
      YAD_TRY(const auto pool, PoolNameValue(argument));
      return std::vector{pool};
    };
    Parsed(app, "POOL", "", parse, options_.pools, "NodePool: NAME or nodepool/NAME.")->required();
  }

  // Adds --pool, which may be given several times.
  CLI::Option* Pools(CLI::App* app, const std::string& help) {
    const auto bare = [](const std::string& pool) { return PoolNameValue(pool).value_or(pool); };
    return app->add_option("--pool", options_.pools, help)->allow_extra_args(false)->type_name("POOL")->transform(bare);
  }

  void OperatorNamespace(CLI::App* app) {
    Parsed(app, "--operator-namespace", "NAMESPACE", NamespaceValue, options_.operator_ns,
           "Namespace of the operator. Default: the namespace of its Deployment.");
  }

  void Output(CLI::App* app, const std::vector<std::string>& formats) {
    const std::string names = Join(formats, "|");
    const auto parse = [formats, names](const std::string& format) -> Result<OutputFormat> {
      if (std::find(formats.begin(), formats.end(), format) != formats.end()) return kOutputs.at(format);
      return Fail(Reason::kBadRequest, "unknown output format \"" + format + "\"; valid: " + names);
    };
    Parsed(app, "-o,--output", names, parse, options_.output, "Output format.");
  }

  void Revision(CLI::App* app, const std::string& flag, const std::string& help) {
    Parsed(app, flag, "N", NumberFrom<std::int64_t>(0), options_.revision, help);
  }

  void Now(CLI::App* app, const std::string& help) { Parsed(app, "--now", "TIME", TimeValue, options_.now, help); }

  void File(CLI::App* app, const std::string& help) {
    app->add_option("-f,--filename", options_.file, help)->type_name("FILE");
  }

  // The order of the commands is their order in the help.
  void AddCommands() {
    AddViews();
    AddActions();
    AddGates();
    AddPreviews();
    AddCapacity();

    CLI::App* completion = Add("completion", "Print a script that completes commands, names and flags",
                               "  source <(kubectl-yad completion bash)");
    Parsed(completion, "SHELL", "", ShellValue, options_.shell, "Shell: bash, zsh or fish.")->required();

    Add("version", "Print the version of this program", "  kubectl yad version");
  }

  void AddViews() {
    CLI::App* status = AddForDaemon("status", "Wait until the rollout is complete, and show its progress",
                                    "  kubectl yad status web\n"
                                    "  kubectl yad status web --timeout=10m; [ $? -ne 1 ] || kubectl yad undo web");
    status->add_flag("-w,--watch", status_watch_,
                     "The command waits until the rollout ends. This is the default. With --watch=false, it shows the "
                     "progress and exits.");
    Parsed(status, "--timeout", "DURATION", DurationValue, options_.timeout,
           "Maximum time to wait. When it expires, the exit code is 4. Default: 0, no limit.");

    CLI::App* pools = Add("pools", "Show the pools of a YurtAppDaemon or, without NAME, all YurtAppDaemons",
                          "  kubectl yad pools web -o wide\n  kubectl yad pools web -w\n  kubectl yad pools -A");
    Name(pools);
    pools->add_flag("-A,--all-namespaces", options_.all_namespaces,
                    "If set, the command shows the YurtAppDaemons of all namespaces.");
    pools->add_flag("-w,--watch", options_.watch, "If set, the command shows changes until it is interrupted.");
    Output(pools, {"wide", "json", "yaml", "name"});

    CLI::App* history = AddForDaemon("history", "Show the revisions of a YurtAppDaemon",
                                     "  kubectl yad history web\n  kubectl yad history web --revision=3");
    Revision(history, "--revision",
             "Number of the revision whose template and overrides are shown. Default: 0, which shows all revisions.");
    Output(history, {"json", "yaml", "name"});
  }

  void AddActions() {
    CLI::App* undo =
        AddForDaemon("undo", "Restore the template, the serviceTemplate and the overrides of an earlier revision",
                     "  kubectl yad undo web\n  kubectl yad undo web --to-revision=3 --dry-run=server -o yaml");
    Revision(undo, "--to-revision",
             "Number of the revision to restore. Default: 0, the newest earlier revision that has not failed. If the "
             "rollout has stopped, the earlier revision that has the most Ready pools.");
    Parsed(undo, "--dry-run", "none|client|server", DryRunValue, options_.dry_run,
           "client: the command only prints the result. server: the server checks the request, but stores nothing.");
    Output(undo, {"json", "yaml", "name"});

    Output(AddForDaemon("pause", "Pause the rollout: no pool is updated to another revision until resume",
                        "  kubectl yad pause web"),
           {"json", "yaml", "name"});
    Output(AddForDaemon("resume", "End a pause", "  kubectl yad resume web"), {"json", "yaml", "name"});

    CLI::App* restart = AddForDaemon(
        "restart",
        "Restart the pods of all pools by a rollout; with --pool, restart the pods of some pools immediately",
        "  kubectl yad restart web\n  kubectl yad restart web --pool=hangzhou --pool=shanghai");
    Pools(restart, "Pool whose pods are restarted immediately; may be given several times.");
    Output(restart, {"json", "yaml", "name"});

    CLI::App* approve = AddForDaemon("approve", "Approve groups of a rollout that wait for approval",
                                     "  kubectl yad approve web north --revision=web-5cb667fbdb");
    Parsed(approve, "--revision", "NAME", RevisionNameValue, options_.approved_revision,
           "Name of the revision. The command fails if status.updateRevision differs from it.");
    approve
        ->add_option("GROUP", options_.groups, "Groups of spec.updateStrategy.rollingUpdate that have approval Manual.")
        ->type_name("")
        ->required();
    Output(approve, {"json", "yaml", "name"});
  }

  void AddPreviews() {
    CLI::App* diff = Add("diff",
                         "Show the changes that the operator would make to the workloads, now or after a file is "
                         "applied. The command writes nothing",
                         "  kubectl yad diff web\n  kubectl yad diff -f web.yaml");
    Name(diff);
    File(diff, "Manifest that would be applied; - is standard input.");

    AddSimulate();
    AddDashboard();

    CLI::App* render = Add("render", "Show the objects that the operator would create for a pool, without a cluster",
                           "  kubectl yad render web.yaml --pool=hangzhou\n  kubectl get nodepools -o yaml | kubectl "
                           "yad render web.yaml --pool-file=-");
    render->add_option("FILE", positional_file_, "Manifest of the YurtAppDaemon; - is standard input.")->type_name("");
    File(render, "Manifest of the YurtAppDaemon, instead of the argument FILE; - is standard input.");
    Pools(render, "Name of a pool; may be given several times.")->check(CheckWith(PoolNameValue));
    render
        ->add_option("--pool-file", options_.pool_file,
                     "File with the NodePools, whose labels, types and taints are then known; - is standard input.")
        ->type_name("FILE");
    render->add_option("--uid", options_.uid, "Uid of the YurtAppDaemon. The names of the workloads depend on it.")
        ->type_name("UID");
    Output(render, {"json", "yaml", "name"});
  }

  // Adds the commands that control when the update of a pool may start.
  void AddGates() {
    CLI::App* hold =
        Add("hold", "Hold a pool: no update of the pool starts until release (updateStrategy RollingUpdate)",
            "  kubectl yad hold hangzhou --reason='stocktaking until Friday'");
    Pool(hold);
    Parsed(hold, "--reason", "TEXT", HoldReasonValue, options_.reason,
           "Reason for the hold. The status of the YurtAppDaemons shows it while the pool waits.")
        ->required();
    Output(hold, {"json", "yaml", "name"});

    CLI::App* release = Add("release", "End a hold", "  kubectl yad release hangzhou");
    Pool(release);
    Output(release, {"json", "yaml", "name"});

    AddFreeze();

    CLI::App* windows = AddForDaemon("windows", "Show when the update windows of each pool open",
                                     "  kubectl yad windows web\n  kubectl yad windows web -o json");
    Output(windows, {"json", "yaml"});

    CLI::App* explain =
        Add("explain", "Show the nodes, the hold and the windows of a NodePool, and what its YurtAppDaemons wait for",
            "  kubectl yad explain hangzhou\n  kubectl yad explain hangzhou -o json");
    Pool(explain);
    Output(explain, {"json", "yaml"});
  }

  void AddFreeze() {
    CLI::App* freeze =
        Add("freeze", "Freeze updates: no update of any YurtAppDaemon starts until unfreeze or a given time",
            "  kubectl yad freeze --reason='end of year' --until=2027-01-04T06:00:00Z\n"
            "  kubectl yad freeze --reason='incident 42' --until=12h");
    Parsed(freeze, "--reason", "TEXT", FreezeReasonValue, options_.reason,
           "Reason for the freeze. The status of the YurtAppDaemons shows it while pools wait.")
        ->required();
    // `end` is called twice, so the clock is read before.
    const auto end = [now = Clock::Real().WallNow()](const std::string& text) { return FreezeEnd(text, now); };
    Parsed(freeze, "--until", "TIME", end, options_.until,
           "End of the freeze: a time (RFC 3339), or a duration from now, such as 12h. Default: no end.");
    OperatorNamespace(freeze);
    Output(freeze, {"json", "yaml", "name"});

    CLI::App* unfreeze = Add("unfreeze", "End a freeze", "  kubectl yad unfreeze");
    OperatorNamespace(unfreeze);
    Output(unfreeze, {"name"});
  }

  void AddSimulate() {
    CLI::App* simulate =
        Add("simulate", "Show how a rollout would go, now or after a file is applied. The command writes nothing",
            "  kubectl yad simulate web\n  kubectl yad simulate -f web.yaml --failing\n"
            "  kubectl yad simulate web --from snapshot.yaml\n"
            "  kubectl yad simulate web --failure-rate=5% -o html >rollout.html");
    Name(simulate);
    File(simulate, "Manifest that would be applied; - is standard input.");
    simulate
        ->add_option(
            "--from", options_.from,
            "File with the output of kubectl get -o yaml or -o json; - is standard input. The command reads the "
            "objects from this file, and sends no request to a server.")
        ->type_name("SNAPSHOT");
    Now(simulate, "Time at which the simulation begins (RFC 3339). Default: now.");
    Parsed(simulate, "--duration", "DURATION", DurationValue, options_.duration,
           "Duration of each pool's update. Default: the duration of the pool's last update, or 2m.");
    simulate->add_flag(
        "--failing", options_.failing,
        "If set, every simulated update fails, so the output shows how many pools a bad revision would reach.");
    AddFailures(simulate);
    OperatorNamespace(simulate);
    Output(simulate, {"json", "yaml", "html"});
  }

  void AddFailures(CLI::App* simulate) {
    CLI::Option* rate = Parsed(simulate, "--failure-rate", "RATE", RateValue, options_.failure_rate,
                               "Probability that the update of a pool fails, such as 5%. If set, the command also "
                               "simulates the rollout --runs "
                               "times with random failures.");
    Parsed(simulate, "--runs", "N", NumberFrom(1, kMaxFailureRuns), options_.runs,
           "Number of simulations with random failures. Default: 100.")
        ->needs(rate);
    Parsed(simulate, "--seed", "N", NumberFrom<std::uint64_t>(0), options_.seed,
           "Seed of the random failures. The same seed gives the same result. Default: 1.")
        ->needs(rate);
  }

  void AddDashboard() {
    CLI::App* page = Add("dashboard", "Serve a web page of rollouts, on this computer only",
                         "  kubectl yad dashboard\n  kubectl yad dashboard --port=8001 --no-open");
    Parsed(page, "--port", "PORT", NumberFrom(0, 65535), options_.port,
           "Port on 127.0.0.1. Default: 0, any free port.");
    page->add_flag("--no-open", no_open_, "If set, the command opens no browser.");
    OperatorNamespace(page);
  }

  void AddCapacity() {
    CLI::App* capacity = Add("capacity", "Show the NodePoolAutoscalers with their leased nodes and shortages",
                             "  kubectl yad capacity\n  kubectl yad capacity hangzhou");
    Parsed(capacity, "NAME", "", AutoscalerNameOf, options_.autoscaler, "NodePoolAutoscaler: NAME or npa/NAME.");
    Output(capacity, {"json", "yaml"});

    CLI::App* plan = capacity->add_subcommand(
        "plan", "Show the leases and releases that the operator would plan from a file, without a cluster");
    plan->footer(
        "\nExamples:\n  kubectl get npa,nodes,pods -A -o json | kubectl yad capacity plan -f -\n  kubectl yad "
        "capacity plan -f snapshot.yaml --now=2026-11-22T12:00:00Z -o json" +
        std::string(kForAll));
    File(plan, "File with Nodes, Pods, one NodePoolAutoscaler, and optionally its NodePool; - is standard input.");
    Now(plan, "Time of the plan (RFC 3339). Default: now.");
    Output(plan, {"json", "yaml"});
    capacity->final_callback([this, plan] { options_.command = plan->parsed() ? "capacity plan" : "capacity"; });
  }

  PluginOptions& options_;
  CLI::App app_;
  bool status_watch_ = true;
  bool no_open_ = false;
  std::string positional_file_;  // for render
};

// Rewords a message of CLI11 about the value of a flag.
std::string AboutValue(const std::string& message) {
  static constexpr std::string_view kNoFlagValue = "Could not convert: ", kMissing = ": 1 required ", kEnd = " missing";
  if (const std::size_t equals = message.find(" = "); message.starts_with(kNoFlagValue) && equals != std::string::npos)
    return message.substr(kNoFlagValue.size(), equals - kNoFlagValue.size()) + ": \"" + message.substr(equals + 3) +
           "\" is neither true nor false";
  const std::size_t at = message.find(kMissing);
  if (at == std::string::npos || !message.ends_with(kEnd)) return message;
  const std::size_t type = at + kMissing.size();
  return message.substr(0, at) + " needs a value: " + message.substr(type, message.size() - kEnd.size() - type);
}

// Returns the error message that kubectl would print.
std::string Explain(const CLI::ParseError& error, const CLI::App& app) {
  if (!app.get_subcommands().empty()) {
    const std::vector<std::string> others = app.remaining(true);
    const bool unexpected = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    if (!unexpected || others.empty()) return AboutValue(error.what());
    const std::string& first = others.front();
    return first.starts_with('-') ? "unknown flag: " + first.substr(0, first.find('='))
                                  : "unexpected argument \"" + first + "\"";
  }
  for (const std::string& argument : app.remaining()) {
    if (!argument.starts_with('-')) return "unknown command \"" + argument + "\"";
  }
  return app.remaining().empty() ? "no command is given" : "unknown flag: " + app.remaining().front();
}

}  // namespace

std::optional<PluginOptions> ParsePluginOptions(const std::vector<std::string>& arguments, Console& console,
                                                int& exit_code) {
  PluginOptions options;
  Parser parser(options);
  CLI::App& app = parser.app();
  const auto reject = [&](const std::string& why) {
    std::string command = "kubectl yad";
    for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
      at = at->get_subcommands().front();
      command += " " + at->get_name();
    }
    console.err << "error: " << why << "\nSee '" << command << " --help' for help and examples.\n";
    exit_code = kUsage;
    return std::nullopt;
  };
  if (arguments.empty()) {
    console.out << app.help();
    exit_code = kDone;
    return std::nullopt;
  }
  try {
    std::vector<std::string> adapted = AdaptArguments(arguments, DescribeCommands());
    std::reverse(adapted.begin(), adapted.end());
    app.parse(std::move(adapted));
  } catch (const CLI::Success& success) {
    exit_code = app.exit(success, console.out, console.err);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return reject(Explain(error, app));
  }
  if (const std::string why = parser.Finish(); !why.empty()) return reject(why);
  return options;
}

std::vector<CommandHelp> DescribeCommands() {
  PluginOptions options;
  Parser parser(options);
  std::vector<CommandHelp> commands;
  const auto flags_of = [](const CLI::App& app, CommandHelp& help) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_lnames().empty() || FindFlag(help.flags, "--" + option->get_lnames().front())) continue;
      FlagHelp& flag = help.flags.emplace_back();
      flag.name = "--" + option->get_lnames().front();
      if (!option->get_snames().empty()) flag.brief = "-" + option->get_snames().front();
      flag.help = option->get_description();
      flag.takes_value = option->get_items_expected_max() > 0;
      const std::string type = option->get_type_name();
      if (type.find('|') == std::string::npos) continue;
      std::istringstream values(type);
      for (std::string value; std::getline(values, value, '|');) flag.values.push_back(value);
    }
  };
  const auto all = [](const CLI::App*) { return true; };
  const auto describe = [&](const CLI::App& command, const std::string& name) {
    CommandHelp& help = commands.emplace_back();
    help.name = name;
    help.summary = command.get_description();
    flags_of(command, help);
    flags_of(parser.app(), help);
  };
  for (const CLI::App* command : parser.app().get_subcommands(all)) {
    describe(*command, command->get_name());
    for (const CLI::App* below : command->get_subcommands(all))
      describe(*below, command->get_name() + " " + below->get_name());
  }
  return commands;
}

}  // namespace yad
