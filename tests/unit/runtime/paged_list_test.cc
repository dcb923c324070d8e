#include "operator/runtime/paged_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/api/well_known.h"
#include "operator/runtime/page_size.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;

// A server with any number of objects of the same length.
class PagedListTest : public ::testing::Test {
 protected:
  void Given(std::size_t objects, std::size_t bytes) {
    transport_->OnSend([=](const HttpRequest& request) {
      const std::string token = QueryOf(request, "continue");
      std::size_t at = token.empty() ? 0 : std::stoul(token);
      // Builds the response without Json, which would take seconds for a page that is too large.
      std::string items;
      for (std::size_t left = std::stoul(QueryOf(request, "limit")); left > 0 && at < objects; --left, ++at) {
        items += items.empty() ? "" : ",";
        items += R"({"metadata":{"name":")" + std::to_string(at) + R"(","annotations":{"a":")";
        items += std::string(bytes, 'x') + "\"}}}";
      }
      Json metadata = {{"resourceVersion", "7"}};
      if (at < objects) metadata["continue"] = std::to_string(at);
      HttpResponse response = JsonResponse({{"apiVersion", "v1"}, {"kind", "List"}, {"metadata", metadata}});
      response.body.pop_back();
      response.body += ",\"items\":[" + items + "]}";
      return response;
    });
  }
  // Reads the names of at most `most` objects.
  Result<int> Read(std::size_t most = 1000) {
    names_.clear();
    ListOptions options;
    options.limit = 500;
    return ForEachListed(client_, kDeploymentType, options, {}, [&](const JsonDocument& item) {
      names_.push_back(ParseMeta(item).key.name);
      return names_.size() < most;
    });
  }
  std::vector<std::string> Limits() const {
    std::vector<std::string> limits;
    for (const HttpRequest& request : transport_->requests()) limits.push_back(QueryOf(request, "limit"));
    return limits;
  }

  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  Client client_{transport_, ClientOptions{}};
  std::vector<std::string> names_;
};

TEST_F(PagedListTest, SmallObjectsAreReadInOnePage) {
  Given(3, 10);
  ASSERT_TRUE(Read());
  EXPECT_THAT(names_, ElementsAre("0", "1", "2"));
  EXPECT_THAT(Limits(), ElementsAre("500"));
}

TEST_F(PagedListTest, APageThatIsTooLargeIsReadInSmallerPages) {
  Given(3, PageSize::kMaxBytes / 2);
  ASSERT_TRUE(Read());
  EXPECT_THAT(names_, ElementsAre("0", "1", "2"));
  EXPECT_THAT(Limits(), ElementsAre("500", "250", "125", "62", "31", "15", "7", "3", "1", "1", "1"));
}

TEST_F(PagedListTest, PageThatBreaksAfterAMinuteIsReadInSmallerPages) {
  FakeClock clock;
  transport_->OnSend([&](const HttpRequest& request) -> Result<HttpResponse> {
    if (std::stoi(QueryOf(request, "limit")) < 200)
      return JsonResponse({{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::array()}});
    clock.Advance(std::chrono::seconds(60));
    return Fail(Reason::kTransport, "the connection broke");
  });
  ListOptions options;
  options.limit = 500;
  const auto read = ForEachListed(
      client_, kDeploymentType, options, {}, [](const JsonDocument&) { return true; }, 10, clock);
  EXPECT_TRUE(read);
  EXPECT_THAT(Limits(), ElementsAre("500", "250", "125"));
}

TEST_F(PagedListTest, ReadingStopsWhenTheCallerHasEnoughObjects) {
  Given(1000, 10);
  ASSERT_TRUE(Read(2));
  EXPECT_THAT(names_, ElementsAre("0", "1"));
  EXPECT_THAT(Limits(), ElementsAre("500"));
}

TEST_F(PagedListTest, AnObjectLargerThanAPageIsAnError) {
  Given(1, PageSize::kMaxBytes);
  const Result<int> read = Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason, Reason::kTooLarge);
}

TEST_F(PagedListTest, AFailedPageIsAnError) {
  transport_->OnSend([](const HttpRequest& request) {
    if (!QueryOf(request, "continue").empty()) return StatusResponse(410, "Expired", "the token has expired");
    return JsonResponse(
        {{"apiVersion", "v1"}, {"kind", "List"}, {"metadata", {{"continue", "1"}}}, {"items", Json::array()}});
  });
  const Result<int> read = Read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason, Reason::kExpired);
}

}  // namespace
}  // namespace yad::testing
