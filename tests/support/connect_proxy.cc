#include "tests/support/connect_proxy.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <list>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

namespace yad::testing {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

// Copies bytes until one of the sockets is closed, and then shuts down both.
void Copy(Tcp::socket& from, Tcp::socket& to) {
  std::vector<char> bytes(16384);
  boost::system::error_code error;
  while (!error) {
    const std::size_t count = from.read_some(asio::buffer(bytes), error);
    if (count > 0) asio::write(to, asio::buffer(bytes, count), error);
  }
  boost::system::error_code ignored;
  from.shutdown(Tcp::socket::shutdown_both, ignored);
  to.shutdown(Tcp::socket::shutdown_both, ignored);
}

}  // namespace

struct ConnectProxy::Impl {
  std::string authorization;
  std::vector<std::string> answer;
  asio::io_context context;
  Tcp::acceptor acceptor{context, Tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::mutex mutex;
  bool stopping = false;
  std::vector<std::string> requests;
  std::list<std::shared_ptr<Tcp::socket>> sockets;
  std::list<std::thread> threads;
  std::thread accepting;

  std::shared_ptr<Tcp::socket> NewSocket() {
    std::lock_guard lock(mutex);
    return sockets.emplace_back(std::make_shared<Tcp::socket>(context));
  }

  void Accept() {
    for (;;) {
      const std::shared_ptr<Tcp::socket> client = NewSocket();
      boost::system::error_code error;
      acceptor.accept(*client, error);
      std::lock_guard lock(mutex);
      if (error || stopping) return;
      threads.emplace_back([this, client] { Serve(*client); });
    }
  }

  void Serve(Tcp::socket& client) {
    std::string head;
    boost::system::error_code error;
    asio::read_until(client, asio::dynamic_buffer(head), "\r\n\r\n", error);
    if (error) return;
    {
      std::lock_guard lock(mutex);
      requests.push_back(head);
    }
    if (!authorization.empty() && head.find("Proxy-Authorization: " + authorization + "\r\n") == std::string::npos) {
      asio::write(client, asio::buffer(std::string("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")), error);
      client.shutdown(Tcp::socket::shutdown_both, error);
      return;
    }
    std::string method, target;
    std::istringstream(head) >> method >> target;
    const int port = std::stoi(target.substr(target.rfind(':') + 1));
    const std::shared_ptr<Tcp::socket> server = NewSocket();
    server->connect(Tcp::endpoint(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)), error);
    if (error) return;
    client.set_option(Tcp::no_delay(true), error);
    for (std::size_t i = 0; i < answer.size(); ++i) {
      // The client must read each part separately.
      if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      asio::write(client, asio::buffer(answer[i]), error);
    }
    std::thread back([&] { Copy(*server, client); });
    Copy(client, *server);
    back.join();
  }
};

ConnectProxy::ConnectProxy(std::string authorization, std::vector<std::string> answer)
    : impl_(std::make_unique<Impl>()) {
  impl_->authorization = std::move(authorization);
  impl_->answer = std::move(answer);
  impl_->accepting = std::thread([this] { impl_->Accept(); });
}

ConnectProxy::~ConnectProxy() {
  boost::system::error_code ignored;
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  Tcp::socket(impl_->context).connect(impl_->acceptor.local_endpoint(), ignored);  // ends accept()
  impl_->accepting.join();
  {
    std::lock_guard lock(impl_->mutex);
    for (const auto& socket : impl_->sockets) socket->shutdown(Tcp::socket::shutdown_both, ignored);
  }
  for (std::thread& thread : impl_->threads) thread.join();
}

std::string ConnectProxy::address() const {
  return "127.0.0.1:" + std::to_string(impl_->acceptor.local_endpoint().port());
}

std::vector<std::string> ConnectProxy::requests() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->requests;
}

}  // namespace yad::testing
