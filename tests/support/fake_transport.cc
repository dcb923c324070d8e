#include "tests/support/fake_transport.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

namespace yad::testing {
namespace {

// A correct test never waits this long.
constexpr std::chrono::seconds kSafetyLimit{60};

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string PercentDecode(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexValue(text[i + 1]) >= 0 && HexValue(text[i + 2]) >= 0) {
      out += static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

class FakeStream::Reader : public HttpStream {
 public:
  Reader(std::shared_ptr<FakeStream> stream, std::stop_token stop)
      : stream_(std::move(stream)), stop_(std::move(stop)), head_(stream_->head_) {}
  ~Reader() override {
    std::lock_guard lock(stream_->mutex_);
    stream_->closed_ = true;
    stream_->changed_.notify_all();
  }

  const HttpResponse& head() const override { return head_; }

  Result<bool> Read(std::string& out) override {
    std::unique_lock lock(stream_->mutex_);
    const auto ready = [&] { return !stream_->chunks_.empty() || stream_->ended_ || stream_->error_.has_value(); };
    stream_->reader_waits_ = true;
    stream_->changed_.notify_all();
    stream_->changed_.wait(lock, stop_, ready);
    stream_->reader_waits_ = false;
    if (stop_.stop_requested()) return yad::Fail(Reason::kCancelled, "the stream was cancelled");
    if (!stream_->chunks_.empty()) {
      out += stream_->chunks_.front();
      stream_->chunks_.pop_front();
      return true;
    }
    if (stream_->error_) return yad::Fail(*stream_->error_);
    return false;
  }

 private:
  std::shared_ptr<FakeStream> stream_;
  std::stop_token stop_;
  HttpResponse head_;
};

FakeStream::FakeStream(HttpResponse head) : head_(std::move(head)) {}

void FakeStream::Push(std::string chunk) {
  std::lock_guard lock(mutex_);
  chunks_.push_back(std::move(chunk));
  changed_.notify_all();
}

void FakeStream::PushEvent(const std::string& type, const nlohmann::json& object) {
  Push(nlohmann::json{{"type", type}, {"object", object}}.dump() + "\n");
}

void FakeStream::End() {
  std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void FakeStream::Fail(Error error) {
  std::lock_guard lock(mutex_);
  error_ = std::move(error);
  changed_.notify_all();
}

bool FakeStream::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

void FakeStream::WaitUntilDrained() const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kSafetyLimit, [&] { return closed_ || (chunks_.empty() && reader_waits_); });
}

void FakeTransport::OnSend(Handler handler) {
  std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

void FakeTransport::OnOpen(StreamHandler handler) {
  std::lock_guard lock(mutex_);
  stream_handler_ = std::move(handler);
}

std::vector<HttpRequest> FakeTransport::requests() const {
  std::lock_guard lock(mutex_);
  return requests_;
}

void FakeTransport::ClearRequests() {
  std::lock_guard lock(mutex_);
  requests_.clear();
}

std::vector<HttpRequest> FakeTransport::WaitForRequests(std::size_t count) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kSafetyLimit, [&] { return requests_.size() >= count; });
  return requests_;
}

std::shared_ptr<FakeStream> FakeTransport::TakeStream() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kSafetyLimit, [&] { return !opened_.empty(); })) return nullptr;
  std::shared_ptr<FakeStream> stream = std::move(opened_.front());
  opened_.pop_front();
  return stream;
}

Result<HttpResponse> FakeTransport::Send(const HttpRequest& request, std::stop_token stop) {
  Handler handler;
  {
    std::lock_guard lock(mutex_);
    if (stop.stop_requested()) return Fail(Reason::kCancelled, "the request was cancelled");
    requests_.push_back(request);
    handler = handler_;
    changed_.notify_all();
  }
  if (!handler) return StatusResponse(404, "NotFound", "the fake transport has no handler");
  Result<HttpResponse> answer = handler(request);
  if (answer && answer->body.size() > request.max_answer) {
    return Fail(Reason::kTooLarge, request.method + " " + request.path + ": the answer is too large");
  }
  return answer;
}

Result<std::unique_ptr<HttpStream>> FakeTransport::Open(const HttpRequest& request, std::stop_token stop) {
  StreamHandler handler;
  {
    std::lock_guard lock(mutex_);
    if (stop.stop_requested()) return Fail(Reason::kCancelled, "the request was cancelled");
    requests_.push_back(request);
    handler = stream_handler_;
    changed_.notify_all();
  }
  std::shared_ptr<FakeStream> stream;
  if (handler) {
    Result<std::shared_ptr<FakeStream>> made = handler(request);
    if (!made) return Fail(made.error());
    stream = *made;
  } else {
    stream = std::make_shared<FakeStream>();
  }
  auto reader = std::make_unique<FakeStream::Reader>(stream, std::move(stop));
  std::lock_guard lock(mutex_);
  opened_.push_back(std::move(stream));
  changed_.notify_all();
  return reader;
}

HttpResponse JsonResponse(const nlohmann::json& body, int status) {
  return {status, {{"content-type", "application/json"}}, body.dump()};
}

HttpResponse StatusResponse(int code, const std::string& reason, const std::string& message) {
  return JsonResponse({{"apiVersion", "v1"},
                       {"kind", "Status"},
                       {"metadata", nlohmann::json::object()},
                       {"status", "Failure"},
                       {"message", message},
                       {"reason", reason},
                       {"code", code}},
                      code);
}

std::string PathOf(const HttpRequest& request) { return request.path.substr(0, request.path.find('?')); }

std::string QueryOf(const HttpRequest& request, const std::string& name) {
  const std::size_t mark = request.path.find('?');
  if (mark == std::string::npos) return "";
  std::size_t at = mark + 1;
  while (at <= request.path.size()) {
    const std::size_t end = std::min(request.path.find('&', at), request.path.size());
    const std::string pair = request.path.substr(at, end - at);
    const std::size_t equals = pair.find('=');
    if (PercentDecode(pair.substr(0, equals)) == name) {
      return equals == std::string::npos ? "" : PercentDecode(pair.substr(equals + 1));
    }
    at = end + 1;
  }
  return "";
}

}  // namespace yad::testing
