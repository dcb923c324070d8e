// HttpTransport: requests, responses, streams, timeouts and stops.
#include <atomic>
#include <thread>

#include "tests/loopback/transport_fixture.h"

namespace yad::testing {
namespace {

TEST_P(TransportTest, SendsMethodPathHeadersAndBodyAndReturnsTheWholeResponse) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest&) {
    connection.Answer(201, R"({"kind":"ConfigMap"})", "X-Answer: yes\r\nWarning: 299 - \"old\"\r\n");
  });
  HttpRequest request = Get("/api/v1/namespaces/a%2Fb/configmaps?labelSelector=app%20in%20%28a%2Cb%29&x=%C3%A9%26");
  request.method = "POST";
  request.headers = {{"Authorization", "Bearer t"}, {"Content-Type", "application/merge-patch+json"}};
  request.body = "{\"a\":\"\xc3\xa9\"}";
  const Result<HttpResponse> response = Make(For(server))->Send(request, {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, R"({"kind":"ConfigMap"})");
  EXPECT_EQ(response->headers.at("x-answer"), "yes");
  EXPECT_EQ(response->headers.at("warning"), "299 - \"old\"");
  ASSERT_EQ(server.requests().size(), 1u);
  const TestRequest seen = server.requests().front();
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, request.path);
  EXPECT_EQ(seen.body, request.body);
  EXPECT_EQ(seen.headers.at("authorization"), "Bearer t");
  EXPECT_EQ(seen.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_EQ(seen.headers.at("accept-encoding"), "identity");
  EXPECT_EQ(seen.headers.at("host"), "127.0.0.1:" + std::to_string(server.port()));
}

TEST_P(TransportTest, PathPrefixOfTheServerIsKept) {
  TestServer server(Plain(), AnswerOk);
  TransportOptions options = For(server);
  options.server += "/k8s/clusters/c-1/";
  ASSERT_TRUE(Make(options)->Send(Get("/api/v1/pods?limit=5"), {}));
  EXPECT_EQ(server.requests().front().target, "/k8s/clusters/c-1/api/v1/pods?limit=5");
}

TEST_P(TransportTest, ErrorStatusIsReturnedAsAResponse) {
  TestServer server(Plain(),
                    [](TestConnection& connection, const TestRequest&) { connection.Answer(503, "no backend"); });
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), {});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body, "no backend");
}

TEST_P(TransportTest, RedirectIsReturnedAndNotFollowed) {
  TestServer server(Plain(), [](TestConnection& connection, const TestRequest&) {
    connection.Answer(302, "", "Location: /elsewhere\r\n");
  });
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), {});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_P(TransportTest, BodyOfManyMegabytesIsReceivedCompletely) {
  const std::string large(20 << 20, 'x');
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest& request) {
    if (request.target == "/chunks") {
      connection.StartChunks();
      for (std::size_t i = 0; i < large.size(); i += 1 << 20) connection.Chunk(large.substr(i, 1 << 20));
      connection.Chunk("");
    } else {
      connection.Answer(200, large);
    }
  });
  auto transport = Make(For(server));
  for (const char* path : {"/chunks", "/length"}) {
    const Result<HttpResponse> response = transport->Send(Get(path), {});
    ASSERT_TRUE(response) << response.error().ToString();
    EXPECT_TRUE(response->body == large) << path << ": " << response->body.size() << " bytes";
  }
}

TEST_P(TransportTest, RequestWithoutAResponseTimesOut) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest&) { connection.WaitUntilClosed(); });
  HttpRequest request = Get("/slow");
  request.timeout = std::chrono::milliseconds(50);
  const Result<HttpResponse> response = Make(For(server))->Send(request, {});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kTransport);
  EXPECT_THAT(response.error().message, AllOf(HasSubstr("/slow"), HasSubstr("no response within 50 ms")));
}

TEST_P(TransportTest, StopEndsARequestThatHangs) {
  std::stop_source stop;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    stop.request_stop();
    connection.WaitUntilClosed();
  });
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), stop.get_token());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kCancelled);
}

TEST_P(TransportTest, ResponseWithinTheGracePeriodAfterAStopIsReturned) {
  std::stop_source stop;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    stop.request_stop();
    connection.Answer(201, "{}");
  });
  HttpRequest request = Post("{}");
  request.grace_after_stop = kForever;
  const Result<HttpResponse> response = Make(For(server))->Send(request, stop.get_token());
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->status, 201);
}

TEST_P(TransportTest, RequestFailsAtTheEndOfItsGracePeriod) {
  std::stop_source stop;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    stop.request_stop();
    connection.WaitUntilClosed();
  });
  HttpRequest request = Post("{}");
  request.grace_after_stop = std::chrono::milliseconds(1);
  const Result<HttpResponse> response = Make(For(server))->Send(request, stop.get_token());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kCancelled);
}

TEST_P(TransportTest, SlowResponseDoesNotExtendTheGracePeriod) {
  std::stop_source stop;
  std::atomic<bool> ended = false;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    stop.request_stop();
    while (!ended) {
      connection.Chunk("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  HttpRequest request = Post("{}");
  request.grace_after_stop = std::chrono::milliseconds(20);
  const Result<HttpResponse> response = Make(For(server))->Send(request, stop.get_token());
  ended = true;
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kCancelled);
}

TEST_P(TransportTest, RequestAfterAStopIsNotSent) {
  std::stop_source stop;
  stop.request_stop();
  TestServer server(Tls(), AnswerOk);
  HttpRequest request = Post("{}");
  request.grace_after_stop = kForever;
  const Result<HttpResponse> response = Make(For(server))->Send(request, stop.get_token());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kCancelled);
  EXPECT_TRUE(server.requests().empty());
}

TEST_P(TransportTest, StopEndsAnIdleStreamAndClosesItsConnection) {
  std::stop_source stop;
  std::atomic<bool> closed = false;
  {
    TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
      connection.StartChunks();
      connection.WaitUntilClosed();
      closed = true;
    });
    auto stream = Make(For(server))->Open(Get("/watch"), stop.get_token());
    ASSERT_TRUE(stream) << stream.error().ToString();
    std::jthread stopper([&] { stop.request_stop(); });
    std::string bytes;
    const Result<bool> more = (*stream)->Read(bytes);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().reason, Reason::kCancelled);
    while (!closed) std::this_thread::yield();
  }
}

TEST_P(TransportTest, StreamThatIsDroppedBeforeItIsReadClosesItsConnection) {
  std::atomic<bool> closed = false;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    connection.Chunk("x");
    connection.WaitUntilClosed();
    closed = true;
  });
  {
    auto stream = Make(For(server))->Open(Get("/watch"), {});
    ASSERT_TRUE(stream);
  }
  while (!closed) std::this_thread::yield();
}

// The client must not buffer the bytes that a slow reader has not read. They wait at the server until the stream is
// dropped.
TEST_P(TransportTest, ServerIsBlockedUntilTheUnreadStreamIsDropped) {
  std::atomic<int> sent = 0;
  std::atomic<bool> closed = false;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    for (; sent < 64; ++sent) connection.Chunk(std::string(1 << 20, 'x'));
    connection.WaitUntilClosed();
    closed = true;
  });
  {
    auto stream = Make(For(server))->Open(Get("/watch"), {});
    ASSERT_TRUE(stream);
    std::string bytes;
    while (bytes.size() < 8u << 20) ASSERT_TRUE((*stream)->Read(bytes).value_or(false));
    EXPECT_LT(sent, 64);
  }
  while (!closed) std::this_thread::yield();
}

TEST_P(TransportTest, EachSmallChunkOfAStreamArrivesImmediately) {
  std::atomic<int> read = 0;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    for (int i = 0; i < 5; ++i) {
      connection.Chunk("event " + std::to_string(i) + "\n");
      while (read <= i) std::this_thread::yield();  // until the client has read this chunk
    }
    connection.Chunk("");
  });
  auto stream = Make(For(server))->Open(Get("/watch"), {});
  ASSERT_TRUE(stream);
  EXPECT_EQ((*stream)->head().status, 200);
  std::string bytes;
  for (int i = 0; i < 5; ++i) {
    const Result<bool> more = (*stream)->Read(bytes);
    ASSERT_TRUE(more && *more);
    ++read;
  }
  EXPECT_EQ(bytes, "event 0\nevent 1\nevent 2\nevent 3\nevent 4\n");
  const Result<bool> more = (*stream)->Read(bytes);
  ASSERT_TRUE(more) << more.error().ToString();
  EXPECT_FALSE(*more);
}

TEST_P(TransportTest, BrokenStreamIsAnErrorAfterTheReceivedBytes) {
  for (const bool tls : {true, false}) {
    TestServer server(tls ? Tls() : Plain(), [](TestConnection& connection, const TestRequest&) {
      connection.StartChunks();
      connection.Chunk("half a li");
      connection.Close();
    });
    auto stream = Make(For(server))->Open(Get("/watch"), {});
    ASSERT_TRUE(stream);
    std::string bytes;
    Result<bool> more = true;
    while (more && *more) more = (*stream)->Read(bytes);
    ASSERT_FALSE(more) << "a broken stream must not end like a complete stream";
    EXPECT_EQ(more.error().reason, Reason::kTransport);
    EXPECT_THAT(more.error().message, HasSubstr("broke"));
    EXPECT_EQ(bytes, "half a li");
  }
}

TEST_P(TransportTest, StreamThatIsSilentForTooLongIsAnError) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    connection.Chunk("x");
    connection.WaitUntilClosed();
  });
  HttpRequest request = Get("/watch");
  request.timeout = std::chrono::seconds(1);
  auto stream = Make(For(server))->Open(request, {});
  ASSERT_TRUE(stream) << stream.error().ToString();
  std::string bytes;
  Result<bool> more = true;
  while (more && *more) more = (*stream)->Read(bytes);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().reason, Reason::kTransport);
  EXPECT_THAT(more.error().message, HasSubstr("no data received for 1 s"));
}

TEST_P(TransportTest, HeadOfARejectedStreamContainsTheResponseBody) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest&) { connection.Answer(410, "gone"); });
  auto stream = Make(For(server))->Open(Get("/watch"), {});
  ASSERT_TRUE(stream);
  EXPECT_EQ((*stream)->head().status, 410);
  EXPECT_EQ((*stream)->head().body, "gone");
}

TEST_P(TransportTest, LongBodyOfARejectedStreamIsReceivedCompletely) {
  const std::string body(1'000'000, 'x');
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) { connection.Answer(403, body); });
  auto stream = Make(For(server))->Open(Get("/watch"), {});
  ASSERT_TRUE(stream) << stream.error().ToString();
  EXPECT_EQ((*stream)->head().body, body);
}

TEST_P(TransportTest, EndlessBodyOfARejectedStreamIsAnError) {
  const std::string body(2'000'000, 'x');
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) { connection.Answer(403, body); });
  auto stream = Make(For(server))->Open(Get("/watch"), {});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().reason, Reason::kDecode);
  EXPECT_THAT(stream.error().message, HasSubstr("larger than 1 MiB"));
}

TEST_P(TransportTest, TruncatedResponseIsAnError) {
  TestServer server(Plain(), [](TestConnection& connection, const TestRequest&) {
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\":[");
    connection.Close();
  });
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), {});
  ASSERT_FALSE(response) << "a truncated response must not be accepted";
  EXPECT_EQ(response.error().reason, Reason::kTransport);
}

TEST_P(TransportTest, MalformedHttpIsAnError) {
  for (const std::string garbage : {"\x01\x02\x03\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "\r\n\r\n",
                                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n"}) {
    TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
      connection.Write(garbage);
      connection.Close();
    });
    const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), {});
    ASSERT_FALSE(response) << garbage;
    EXPECT_EQ(response.error().reason, Reason::kTransport);
  }
}

TEST_P(TransportTest, ResponseAboveTheLimitOfTheCallerIsAnError) {
  TestServer server(Plain(), [](TestConnection& connection, const TestRequest& request) {
    if (request.target == "/promised") {
      connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 999999999999999\r\n\r\n");
    } else {
      connection.StartChunks();
    }
    for (int i = 0; i < 8; ++i) connection.Chunk(std::string(1 << 20, 'x'));
    connection.WaitUntilClosed();
  });
  auto transport = Make(For(server));
  for (const char* path : {"/promised", "/chunks"}) {
    HttpRequest request = Get(path);
    request.max_answer = 2 << 20;
    const Result<HttpResponse> response = transport->Send(request, {});
    ASSERT_FALSE(response) << path;
    EXPECT_EQ(response.error().reason, Reason::kTooLarge) << response.error().ToString();
    EXPECT_THAT(response.error().message, HasSubstr("larger than 2 MiB"));
  }
}

INSTANTIATE_TEST_SUITE_P(Both, TransportTest, BothTransports(), NameOfTransport);

}  // namespace
}  // namespace yad::testing
