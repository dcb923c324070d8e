// The requests that the dashboard serves, and the commands that it runs for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "plugin/dashboard/actions.h"
#include "plugin/dashboard/browser.h"
#include "plugin/dashboard/dashboard.h"
#include "plugin/dashboard/page_files.h"
#include "plugin/dashboard/request_check.h"
#include "tests/unit/plugin/console_fixture.h"

namespace yad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const OwnAddress kAddress{8001, std::string(64, 'a')};

HttpCall Get(const std::string& path) {
  HttpCall call;
  call.method = "GET";
  call.target = "/" + kAddress.token + "/" + path;
  call.hosts = {"127.0.0.1:8001"};
  return call;
}
HttpCall Post(const std::string& path) {
  HttpCall call = Get(path);
  call.method = "POST";
  call.origins = {"http://127.0.0.1:8001"};
  call.content_type = "application/json; charset=utf-8";
  return call;
}
// Returns the HTTP status of the rejection, or 0 if the request is allowed.
int StatusOf(const HttpCall& call) {
  const auto request = CheckRequest(call, kAddress);
  return request ? 0 : request.error().http_status;
}

TEST(RequestCheckTest, RequestsOfThePageAreServed) {
  const auto request = CheckRequest(Get("api/events?daemon=a/b"), kAddress);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->path, "api/events");
  EXPECT_EQ(request->query, "daemon=a/b");
  HttpCall by_name = Get("");
  by_name.hosts = {"localhost:8001"};
  by_name.origins = {"http://localhost:8001"};
  EXPECT_EQ(StatusOf(by_name), 0);
  EXPECT_EQ(StatusOf(Post("api/action")), 0);
}

TEST(RequestCheckTest, RequestForAnotherHostIsRejected) {
  for (const std::vector<std::string>& hosts :
       std::vector<std::vector<std::string>>{{},
                                             {"evil.example:8001"},
                                             {"127.0.0.1"},
                                             {"127.0.0.1:8002"},
                                             {"127.0.0.1:8001.evil.example"},
                                             {"[::1]:8001"},
                                             {"127.0.0.1:8001", "127.0.0.1:8001"}}) {
    HttpCall call = Get("");
    call.hosts = hosts;
    EXPECT_EQ(StatusOf(call), 421);
  }
}

TEST(RequestCheckTest, RequestOfAnotherOriginIsRejected) {
  for (const char* origin : {"http://evil.example", "null", "", "https://127.0.0.1:8001", "http://127.0.0.1:8002",
                             "http://localhost:8001", "http://127.0.0.1:8001/"}) {
    HttpCall call = Post("api/action");
    call.origins = {origin};
    EXPECT_EQ(StatusOf(call), 403) << origin;
  }
  HttpCall twice = Post("api/action");
  twice.origins.push_back(twice.origins.front());
  EXPECT_EQ(StatusOf(twice), 403);
}

TEST(RequestCheckTest, RequestWithAnotherTokenIsNotFound) {
  const std::string token = kAddress.token;
  std::string other = token;
  other.back() = 'b';
  for (const std::string& target : {std::string("/"), std::string(""), std::string("*"), "/" + token, "/" + other + "/",
                                    "/" + token.substr(1) + "/", "/" + token + "a/", "//" + token + "/",
                                    "/x/" + token + "/", "/?/" + token + "/"}) {
    HttpCall call = Get("");
    call.target = target;
    EXPECT_EQ(StatusOf(call), 404) << target;
  }
}

TEST(RequestCheckTest, PostNeedsOriginAndJson) {
  HttpCall form = Post("api/action");
  form.content_type = "application/x-www-form-urlencoded";
  EXPECT_EQ(StatusOf(form), 415);
  form.content_type = "text/plain; application/json";
  EXPECT_EQ(StatusOf(form), 415);
  HttpCall foreign = Post("api/action");
  foreign.origins.clear();
  EXPECT_EQ(StatusOf(foreign), 403);
  HttpCall put = Get("");
  put.method = "PUT";
  EXPECT_EQ(StatusOf(put), 405);
}

TEST(RequestCheckTest, TokensAreLongAndDiffer) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const auto token = NewToken();
    ASSERT_TRUE(token);
    EXPECT_EQ(token->size(), 64u);
    EXPECT_EQ(token->find_first_not_of("0123456789abcdef"), std::string::npos);
    tokens.insert(*token);
  }
  EXPECT_EQ(tokens.size(), 100u);
}

TEST(RequestCheckTest, QueryIsDecoded) {
  const auto query = ParseQuery("daemon=shop%2Fweb&pool=a+b&failing&x=1&x=2&bad=%zz%4");
  EXPECT_EQ(query.at("daemon"), "shop/web");
  EXPECT_EQ(query.at("pool"), "a b");
  EXPECT_EQ(query.at("failing"), "");
  EXPECT_EQ(query.at("x"), "2");
  EXPECT_EQ(query.at("bad"), "%zz%4");
}

TEST(AddressFileTest, OnlyTheUserCanReadTheFileAndItIsDeletedAtTheEnd) {
  std::string path;
  {
    AddressFile file;
    ASSERT_TRUE(file.Write("http://127.0.0.1:8001/secret/"));
    path = file.path();
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    ASSERT_EQ(stat(path.substr(0, path.rfind('/')).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U);
    std::ifstream stream(path);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_THAT(text, HasSubstr("content=\"0; url=http://127.0.0.1:8001/secret/\""));
  }
  struct stat info {};
  EXPECT_NE(stat(path.substr(0, path.rfind('/')).c_str(), &info), 0);
}

TEST(PageFilesTest, PageIsEmbeddedInTheProgram) {
  const auto& files = PageFiles();
  const auto index = std::find_if(files.begin(), files.end(), [](const PageFile& f) { return f.name == "index.html"; });
  ASSERT_NE(index, files.end());
  EXPECT_TRUE(index->text.starts_with("<!doctype html>")) << index->text.substr(0, 40);
}

std::string LineOf(const Json& request, const PluginOptions& own = {}) {
  const auto arguments = ActionArguments(request, own);
  return arguments ? CommandLine(*arguments) : "error: " + arguments.error().message;
}

TEST(ActionTest, EachActionBecomesACommand) {
  EXPECT_EQ(LineOf({{"action", "approve"}, {"daemon", "shop/web"}, {"group", "canary"}, {"revision", "web-2"}}),
            "kubectl yad approve web canary --revision=web-2 -n shop");
  EXPECT_EQ(LineOf({{"action", "pause"}, {"daemon", "shop/web"}}), "kubectl yad pause web -n shop");
  EXPECT_EQ(LineOf({{"action", "undo"}, {"daemon", "shop/web"}, {"revision", 2}}),
            "kubectl yad undo web --to-revision=2 -n shop");
  EXPECT_EQ(LineOf({{"action", "undo"}, {"daemon", "shop/web"}, {"revision", 0}}), "kubectl yad undo web -n shop");
  EXPECT_EQ(LineOf({{"action", "restart"}, {"daemon", "shop/web"}, {"pools", {"a", "b"}}}),
            "kubectl yad restart web --pool=a --pool=b -n shop");
  EXPECT_EQ(LineOf({{"action", "release"}, {"pool", "hangzhou"}}), "kubectl yad release hangzhou");
  EXPECT_EQ(LineOf({{"action", "unfreeze"}}), "kubectl yad unfreeze");
}

TEST(ActionTest, TextIsQuotedForAShell) {
  EXPECT_EQ(LineOf({{"action", "hold"}, {"pool", "a"}, {"reason", "it's $(rm) `x`"}}),
            "kubectl yad hold a '--reason=it'\\''s $(rm) `x`'");
  PluginOptions own;
  own.context = "my edge";
  own.kubeconfig = "/tmp/k";
  own.operator_ns = "yad-system";
  EXPECT_EQ(LineOf({{"action", "freeze"}, {"reason", "x"}}, own),
            "kubectl yad freeze --reason=x --operator-namespace=yad-system '--context=my edge' --kubeconfig=/tmp/k");
}

TEST(ActionTest, InvalidActionsAndValuesAreRejected) {
  for (const Json& request :
       std::vector<Json>{{{"action", "delete"}},
                         {{"action", "approve"}, {"daemon", "web"}, {"group", "a"}, {"revision", "r"}},
                         {{"action", "approve"}, {"daemon", "shop/--help"}, {"group", "a"}, {"revision", "r"}},
                         {{"action", "approve"}, {"daemon", "shop/web"}, {"group", "--dry-run"}, {"revision", "r"}},
                         {{"action", "approve"}, {"daemon", "shop/web"}, {"group", {"a"}}, {"revision", "r"}},
                         {{"action", "approve"}, {"daemon", "shop/web"}, {"group", "a"}},
                         {{"action", "undo"}, {"daemon", "shop/web"}, {"revision", -1}},
                         {{"action", "restart"}, {"daemon", "shop/web"}, {"pools", {"a b"}}},
                         {{"action", "restart"}, {"daemon", "shop/web"}, {"pools", "a"}},
                         {{"action", "hold"}, {"pool", "a"}},
                         {{"action", "hold"}, {"pool", "-o"}, {"reason", "x"}},
                         {{"action", "hold"}, {"pool", "a"}, {"reason", "a\nb"}},
                         {{"action", "freeze"}, {"reason", std::string(2000, 'x')}}}) {
    EXPECT_THAT(LineOf(request), HasSubstr("error: ")) << request;
  }
}

// Checks that the plugin can parse the command line of each action, and reads the values of the request from it.
class ActionParseTest : public testing::ConsoleTest {};

TEST_F(ActionParseTest, ArgumentsAreParsedUnchanged) {
  const Json request = {{"action", "hold"}, {"pool", "a"}, {"reason", "--dry-run=[x] {y} %% \"z\""}};
  int exit_code = 0;
  const auto options = ParsePluginOptions(*ActionArguments(request, {}), console_, exit_code);
  ASSERT_TRUE(options) << err_.str();
  EXPECT_EQ(options->command, "hold");
  EXPECT_THAT(options->pools, ElementsAre("a"));
  EXPECT_EQ(options->reason, request["reason"].get<std::string>());
  const Json approval = {{"action", "approve"}, {"daemon", "shop/web"}, {"group", "canary"}, {"revision", "web-2"}};
  EXPECT_EQ(ParsePluginOptions(*ActionArguments(approval, {}), console_, exit_code)->approved_revision, "web-2");
}

}  // namespace
}  // namespace yad
