#include "plugin/commands/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "plugin/commands/commands.h"
#include "plugin/commands/option_values.h"

namespace yad {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Parsed {
  std::optional<PluginOptions> options;
  int exit_code = -1;
  std::string out, err;
};

Parsed Parse(const std::vector<std::string>& arguments) {
  Parsed parsed;
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream in;
  Console console{out, err, in, [] { return std::nullopt; }};
  parsed.options = ParsePluginOptions(arguments, console, parsed.exit_code);
  parsed.out = out.str();
  parsed.err = err.str();
  return parsed;
}

TEST(OptionsTest, ADaemonIsNamedWithOrWithoutItsKind) {
  for (const char* name :
       {"web", "yad/web", "yurtappdaemon/web", "yurtappdaemons/web", "udd/web", "yurtappdaemon.apps.openyurt.io/web"}) {
    const Parsed parsed = Parse({"status", name});
    ASSERT_TRUE(parsed.options) << parsed.err;
    EXPECT_EQ(parsed.options->daemon, "web");
  }
}

TEST(OptionsTest, APoolIsNamedWithOrWithoutItsKind) {
  const std::vector<std::string> hangzhou{"hangzhou"};
  for (const char* name : {"hangzhou", "nodepool/hangzhou", "nodepool.apps.openyurt.io/hangzhou"}) {
    EXPECT_EQ(Parse({"release", name}).options->pools, hangzhou);
    EXPECT_EQ(Parse({"explain", name}).options->pools, hangzhou);
    EXPECT_EQ(Parse({"restart", "web", "--pool", name}).options->pools, hangzhou);
    EXPECT_EQ(Parse({"render", "web.yaml", "--pool", name}).options->pools, hangzhou);
  }
}

TEST(OptionsTest, GlobalFlagsMayBeAtAnyPosition) {
  for (const auto& arguments : {std::vector<std::string>{"-n", "shop", "pools", "web"},
                                {"pools", "web", "-n", "shop"},
                                {"pools", "--namespace=shop", "web"}}) {
    const Parsed parsed = Parse(arguments);
    ASSERT_TRUE(parsed.options) << parsed.err;
    EXPECT_EQ(parsed.options->ns, "shop");
    EXPECT_EQ(parsed.options->daemon, "web");
  }
}

TEST(OptionsTest, ValuesMayFollowAnEqualsSignAsInKubectl) {
  const Parsed pools = Parse({"pools", "-n=shop", "-o=json"});
  ASSERT_TRUE(pools.options) << pools.err;
  EXPECT_EQ(pools.options->ns, "shop");
  EXPECT_EQ(pools.options->output, OutputFormat::kJson);
  EXPECT_EQ(Parse({"diff", "-f=web.yaml"}).options->file, "web.yaml");
  EXPECT_FALSE(Parse({"status", "web", "-w=false"}).options->watch);
  EXPECT_TRUE(Parse({"pools", "-A=true"}).options->all_namespaces);
  EXPECT_FALSE(Parse({"pools", "-A=false"}).options->all_namespaces);
  EXPECT_EQ(Parse({"hold", "hangzhou", "--reason", "-n=shop"}).options->reason, "-n=shop")
      << "the argument is the value of --reason";
  EXPECT_EQ(Parse({"hold", "hangzhou", "--reason=a=b"}).options->reason, "a=b");
}

TEST(OptionsTest, FlagWithAnEmptyValueTakesNoOtherArgument) {
  const Parsed pools = Parse({"pools", "--namespace=", "web"});
  ASSERT_TRUE(pools.options) << pools.err;
  EXPECT_EQ(pools.options->ns, "");
  EXPECT_EQ(pools.options->daemon, "web");
  EXPECT_EQ(Parse({"pools", "-n=", "web"}).options->daemon, "web");
  EXPECT_EQ(Parse({"restart", "web", "--pool="}).options->pools, std::vector<std::string>{""})
      << "an empty value must not mean all pools";
  EXPECT_THAT(Parse({"freeze", "--reason=", "--until=1h"}).err, HasSubstr("the reason must not be empty"));
}

TEST(OptionsTest, PoolFlagTakesOneValue) {
  const Parsed render = Parse({"render", "--pool", "a", "--pool=b", "web.yaml"});
  ASSERT_TRUE(render.options) << render.err;
  EXPECT_EQ(render.options->file, "web.yaml");
  EXPECT_EQ(render.options->pools, (std::vector<std::string>{"a", "b"}));
  const Parsed restart = Parse({"restart", "--pool", "a", "web"});
  ASSERT_TRUE(restart.options) << restart.err;
  EXPECT_EQ(restart.options->daemon, "web");
}

TEST(OptionsTest, StatusWaitsUnlessWatchIsFalse) {
  EXPECT_TRUE(Parse({"status", "web"}).options->watch);
  EXPECT_TRUE(Parse({"status", "web", "-w"}).options->watch);
  EXPECT_FALSE(Parse({"status", "web", "--watch=false"}).options->watch);
  EXPECT_FALSE(Parse({"pools", "web"}).options->watch);
  EXPECT_TRUE(Parse({"pools", "web", "-w"}).options->watch);
  EXPECT_EQ(Parse({"status", "web", "--timeout=1m30s"}).options->timeout, std::chrono::seconds(90));
}

TEST(OptionsTest, OptionsOfEachCommandAreParsed) {
  const auto restart = Parse({"restart", "web", "--pool", "a", "--pool=b"}).options;
  EXPECT_EQ(restart->pools, (std::vector<std::string>{"a", "b"}));
  const auto approve = Parse({"approve", "yad/web", "north", "south"}).options;
  EXPECT_EQ(approve->daemon, "web");
  EXPECT_EQ(approve->groups, (std::vector<std::string>{"north", "south"}));
  EXPECT_EQ(Parse({"approve", "web", "north", "--revision=web-2"}).options->approved_revision, "web-2");
  const auto undo = Parse({"undo", "web", "--to-revision=3", "--dry-run=server", "-o", "yaml"}).options;
  EXPECT_EQ(undo->revision, 3);
  EXPECT_EQ(undo->dry_run, DryRun::kServer);
  EXPECT_EQ(undo->output, OutputFormat::kYaml);
  const auto hold = Parse({"hold", "hangzhou", "--reason", "no time"}).options;
  EXPECT_EQ(hold->pools, std::vector<std::string>{"hangzhou"});
  EXPECT_EQ(hold->reason, "no time");
  EXPECT_EQ(Parse({"release", "hangzhou"}).options->pools, std::vector<std::string>{"hangzhou"});
  const auto freeze = Parse({"freeze", "--reason=x", "--until", "12h", "--operator-namespace", "yad-system"}).options;
  EXPECT_EQ(freeze->command, "freeze");
  EXPECT_EQ(freeze->reason, "x");
  EXPECT_GT(freeze->until, Clock::Real().WallNow() + std::chrono::hours(11));
  EXPECT_EQ(freeze->operator_ns, "yad-system");
  EXPECT_EQ(Parse({"freeze", "--reason", std::string(256, 'x')}).options->until, std::nullopt);
  EXPECT_THAT(Parse({"freeze", "--reason=x", "--until=2026-01-02T03:04:05Z"}).err,
              HasSubstr("--until: \"2026-01-02T03:04:05Z\" is not in the future"));
  EXPECT_THAT(Parse({"freeze", "--reason=x", "--until=soon"}).err,
              HasSubstr("--until: \"soon\" is not a valid time: give an RFC 3339 time"));
  EXPECT_EQ(Parse({"unfreeze", "--operator-namespace=yad-system"}).options->operator_ns, "yad-system");
  EXPECT_EQ(Parse({"windows", "yad/web", "-o", "json"}).options->daemon, "web");
  EXPECT_EQ(Parse({"explain", "hangzhou", "-o", "yaml"}).options->pools, std::vector<std::string>{"hangzhou"});
  const auto render = Parse({"render", "-", "--pool", "a", "--uid", "u"}).options;
  EXPECT_EQ(render->file, "-");
  EXPECT_EQ(render->uid, "u");
  EXPECT_EQ(Parse({"render", "-f", "x.yaml", "--pool-file", "p.yaml"}).options->file, "x.yaml");
  EXPECT_EQ(Parse({"diff", "-f", "-"}).options->file, "-");
  const auto simulate = Parse({"simulate", "web", "--duration", "90s", "--failing", "-o", "json"}).options;
  EXPECT_EQ(simulate->daemon, "web");
  EXPECT_EQ(simulate->duration, std::chrono::seconds(90));
  EXPECT_TRUE(simulate->failing);
  EXPECT_FALSE(Parse({"simulate", "-f", "-"}).options->duration);
  EXPECT_FALSE(Parse({"simulate", "-f", "-"}).options->failure_rate);
  const auto runs = Parse({"simulate", "web", "--failure-rate=2.5%", "--runs=9", "--seed=7", "-o", "html"}).options;
  EXPECT_DOUBLE_EQ(runs->failure_rate.value_or(-1), 0.025);
  EXPECT_EQ(runs->runs, 9);
  EXPECT_EQ(runs->seed, 7u);
  EXPECT_EQ(runs->output, OutputFormat::kHtml);
  EXPECT_EQ(Parse({"simulate", "web", "--failure-rate", "0.5"}).options->failure_rate, 0.5);
  const auto from = Parse({"simulate", "web", "--from", "x.yaml", "--now", "2026-01-02T03:04:05Z"}).options;
  EXPECT_EQ(from->from, "x.yaml");
  EXPECT_EQ(from->now, ParseTime("2026-01-02T03:04:05Z"));
  const auto dashboard = Parse({"dashboard", "--port=8001", "--no-open", "--operator-namespace=yad-system"}).options;
  EXPECT_EQ(dashboard->port, 8001);
  EXPECT_FALSE(dashboard->open);
  EXPECT_TRUE(Parse({"dashboard"}).options->open);
}

TEST(OptionsTest, UsageErrorsNameTheFixAndExitWithTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"frobnicate"}, "error: unknown command \"frobnicate\"\nSee 'kubectl yad --help' for help and examples.\n"},
      {{"--frob"}, "error: unknown flag: --frob"},
      {{"status"}, "NAME is required"},
      {{"status", "deployment/web"}, "\"deployment/web\" is not a valid YurtAppDaemon: give NAME or yad/NAME"},
      {{"status", "Web"}, "\"Web\" is not a valid name of a YurtAppDaemon"},
      {{"status", "a", "b"}, "unexpected argument \"b\"\nSee 'kubectl yad status --help'"},
      {{"status", "a", "--as", "bob"}, "unknown flag: --as\n"},
      {{"status", "a", "--as=bob"}, "unknown flag: --as\n"},
      {{"status", ""}, "the name of the YurtAppDaemon is empty"},
      {{"status", "a", "--watch=maybe"}, "--watch: \"maybe\" is neither true nor false"},
      {{"undo", "a", "--dry-run"}, "--dry-run needs a value: none|client|server\n"},
      {{"history", "a", "--revision"}, "--revision needs a value: N\n"},
      {{"history", "a", "--revision=x"}, "--revision: \"x\" is not a number of at least 0\n"},
      {{"status", "a", "--timeout", "soon"}, "\"soon\" is not a valid duration: give one such as 90s, 5m or 1h30m"},
      {{"pools", "-o", "table"}, "unknown output format \"table\"; valid: wide|json|yaml|name"},
      {{"pools", "web", "-A"}, "NAME and -A exclude each other"},
      {{"pools", "-w", "-o", "json"}, "-w supports only tables"},
      {{"undo", "web", "--to-revision", "-1"}, "--to-revision"},
      {{"undo", "web", "--dry-run", "maybe"}, "--dry-run must be none, client or server"},
      {{"approve", "web"}, "GROUP is required"},
      {{"approve", "web", "north", "--revision="}, "--revision: \"\" is not a valid name of a revision"},
      {{"hold", "hangzhou"}, "--reason is required"},
      {{"hold", "Hangzhou", "--reason", "x"}, "\"Hangzhou\" is not a valid name of a NodePool"},
      {{"hold", "hangzhou", "--reason="}, "--reason: the reason must not be empty"},
      {{"hold", "node/hangzhou", "--reason", "x"},
       "\"node/hangzhou\" is not a valid NodePool: give NAME or nodepool/NAME"},
      {{"release"}, "POOL is required"},
      {{"freeze"}, "--reason is required"},
      {{"freeze", "--reason", ""}, "--reason: the reason must not be empty"},
      {{"freeze", "--reason", std::string(257, 'x')},
       "--reason: the reason has 257 bytes, and may have at most 256: give a shorter reason"},
      {{"freeze", "--reason", "x", "--until", "tomorrow"},
       "--until: \"tomorrow\" is not a valid time: give an RFC 3339 time such as 2026-12-24T18:00:00Z, or a duration"},
      {{"freeze", "--reason", "x", "--until", "2001-01-01T00:00:00Z"}, "--until: \"2001-01-01T00:00:00Z\" is not in"},
      {{"freeze", "--reason", "x", "--operator-namespace", "A"},
       "--operator-namespace: \"A\" is not a valid namespace"},
      {{"freeze", "web", "--reason", "x"}, "See 'kubectl yad freeze --help'"},
      {{"unfreeze", "-o", "yaml"}, "unknown output format \"yaml\"; valid: name"},
      {{"windows"}, "NAME is required"},
      {{"windows", "web", "-o", "wide"}, "unknown output format \"wide\"; valid: json|yaml"},
      {{"explain"}, "POOL is required"},
      {{"explain", "a", "b"}, "See 'kubectl yad explain --help'"},
      {{"explain", "a", "-o", "wide"}, "unknown output format \"wide\"; valid: json|yaml"},
      {{"simulate"}, "give either NAME"},
      {{"simulate", "web", "-f", "x"}, "give either NAME"},
      {{"simulate", "-f", "-", "--from", "-"}, "only one file can be read from standard input"},
      {{"simulate", "web", "--now", "soon"}, "\"soon\" is not a valid time"},
      {{"simulate", "web", "--failure-rate", "101%"},
       "\"101%\" is not a valid probability: give one such as 5% or 0.05"},
      {{"simulate", "web", "--failure-rate", "nan"}, "\"nan\" is not a valid probability"},
      {{"simulate", "web", "--failure-rate", "-1%"}, "\"-1%\" is not a valid probability"},
      {{"simulate", "web", "--failure-rate=5%", "--runs=0"}, "--runs"},
      {{"simulate", "web", "--failure-rate=5%", "--runs=1001"}, "--runs"},
      {{"simulate", "web", "--runs=5"}, "--failure-rate"},
      {{"simulate", "web", "--failure-rate=5%", "--failing"}, "--failing and --failure-rate exclude each other"},
      {{"simulate", "web", "--duration", "soon"},
       "\"soon\" is not a valid duration: give one such as 90s, 5m or 1h30m"},
      {{"dashboard", "web"}, "See 'kubectl yad dashboard --help'"},
      {{"dashboard", "--port", "65536"}, "--port: \"65536\" is not a number from 0 to 65535"},
      {{"diff"}, "give either NAME"},
      {{"diff", "web", "-f", "x"}, "give either NAME"},
      {{"render", "x.yaml"}, "give a pool with --pool POOL, or a file of NodePools with --pool-file FILE"},
      {{"render", "--pool", "a"}, "give the manifest of a YurtAppDaemon"},
      {{"render", "x.yaml", "-f", "y.yaml", "--pool", "a"}, "the manifest is given twice"},
      {{"render", "-", "--pool-file", "-"}, "only one file can be read from standard input"},
      {{"simulate", "web", "--failure-rate=5%", "--seed=-1"}, "--seed"},
      {{"completion", "tcsh"}, "there is no completion for \"tcsh\": give bash, zsh or fish"},
  };
  for (const auto& [arguments, message] : cases) {
    const Parsed parsed = Parse(arguments);
    EXPECT_FALSE(parsed.options) << message;
    EXPECT_EQ(parsed.exit_code, kUsage) << message;
    EXPECT_THAT(parsed.err, HasSubstr(message));
    EXPECT_THAT(parsed.err, StartsWith("error: "));
    EXPECT_EQ(parsed.out, "");
  }
}

TEST(OptionsTest, HelpNamesTheExitCodes) {
  for (const auto& arguments : {std::vector<std::string>{}, {"--help"}}) {
    const Parsed parsed = Parse(arguments);
    EXPECT_EQ(parsed.exit_code, kDone);
    EXPECT_THAT(parsed.out, HasSubstr("4  status: --timeout expired"));
    EXPECT_THAT(parsed.out, HasSubstr("approve"));
  }
  const Parsed parsed = Parse({"undo", "--help"});
  EXPECT_EQ(parsed.exit_code, kDone);
  EXPECT_THAT(parsed.out, HasSubstr("--to-revision N "));
  EXPECT_THAT(Parse({"status", "--help"}).out, HasSubstr("--watch "));
  EXPECT_THAT(Parse({"dashboard", "--help"}).out, HasSubstr("--no-open "));
  EXPECT_THAT(Parse({"completion", "--help"}).out, ::testing::Not(HasSubstr("{bash")));
  EXPECT_THAT(Parse({"capacity", "plan", "--help"}).out, HasSubstr("All commands take --kubeconfig"));
}

TEST(OptionsTest, ExampleOfStatusUndoesOnlyARolloutThatHasStopped) {
  const std::string help = Parse({"status", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("kubectl yad status web --timeout=10m; [ $? -ne 1 ] || kubectl yad undo web\n"));
  EXPECT_THAT(help, ::testing::Not(HasSubstr("--timeout=10m ||")));
}

TEST(CompleteTest, CommandsFlagsAndValuesAreCompleted) {
  const auto complete = [](const std::vector<std::string>& words) {
    std::ostringstream out, err;
    std::istringstream in;
    Console console{out, err, in, [] { return std::nullopt; }};
    RunComplete(words, console);
    return out.str();
  };
  EXPECT_THAT(complete({"un"}), StartsWith("undo\tRestore the template"));
  EXPECT_THAT(complete({"-n", "x", "res"}), AllOf(HasSubstr("restart\t"), HasSubstr("resume\t"), HasSubstr(":4\n")));
  EXPECT_THAT(complete({"undo", "--to"}), StartsWith("--to-revision\t"));
  EXPECT_EQ(complete({"undo", "web", "--dry-run", "s"}), "server\n:4\n");
  EXPECT_EQ(complete({"pools", "-o", ""}), "wide\njson\nyaml\nname\n:4\n");
  EXPECT_EQ(complete({"diff", "-f", ""}), ":0\n");
  EXPECT_EQ(complete({"simulate", "--from", ""}), ":0\n");
  EXPECT_EQ(complete({"simulate", "-o", ""}), "json\nyaml\nhtml\n:4\n");
  EXPECT_THAT(complete({"simulate", "--fail"}), AllOf(HasSubstr("--failing\t"), HasSubstr("--failure-rate\t")));
  EXPECT_EQ(complete({"render", "x"}), ":0\n");
  EXPECT_EQ(complete({"completion", ""}), "bash\nzsh\nfish\n:4\n");
  EXPECT_EQ(complete({"undo", "web", "--dry-run=s"}), "server\n:4\n");
  EXPECT_EQ(complete({"pools", "-o=y"}), "yaml\n:4\n");
  EXPECT_EQ(complete({"render", "--pool-file="}), ":0\n");
  EXPECT_EQ(complete({"completion", "--help="}), ":4\n");
  EXPECT_EQ(complete({"frobnicate", ""}), ":4\n");
  const std::string help = complete({"status", "web", "--he"});
  EXPECT_THAT(help, StartsWith("--help\t"));
  EXPECT_EQ(help.find("--help"), help.rfind("--help"))
      << "--help is a flag of each command and of the program, but must be listed once";
  EXPECT_THAT(complete({"fr"}), StartsWith("freeze\tFreeze updates: no update"));
  EXPECT_THAT(complete({"wi"}), StartsWith("windows\tShow when the update windows of each pool open"));
  EXPECT_EQ(complete({"freeze", ""}), ":4\n");
  EXPECT_EQ(complete({"unfreeze", ""}), ":4\n");
  EXPECT_THAT(complete({"unfreeze", "--op"}), StartsWith("--operator-namespace\t"));
  EXPECT_EQ(complete({"windows", "-o", ""}), "json\nyaml\n:4\n");
  EXPECT_THAT(complete({"ex"}), StartsWith("explain\tShow the nodes, the hold and the windows of a NodePool"));
}

}  // namespace
}  // namespace yad
