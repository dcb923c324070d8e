// Queries to a Prometheus server, or to another server with its HTTP API (Thanos, Mimir, VictoriaMetrics).
#ifndef OPERATOR_PROMETHEUS_CLIENT_H_
#define OPERATOR_PROMETHEUS_CLIENT_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "operator/base/byte_budget.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/auth/service_client.h"

namespace yad {

// Sends instant queries. Thread-safe. Each call returns within kTimeout, whatever the server does.
class PrometheusClient {
 public:
  static constexpr std::chrono::seconds kTimeout{10};
  static constexpr int kMaxQueries = 4;                 // at the same time; other calls wait
  static constexpr std::size_t kMaxAnswer = 64u << 10;  // bytes

  // Fails with kConfig if the address, the CA or the token is not usable. Sends nothing.
  static Result<std::unique_ptr<PrometheusClient>> Make(const ServiceOptions& options);
  // `clock` must outlive the client.
  explicit PrometheusClient(std::unique_ptr<ServiceClient> server, Clock& clock = Clock::Real())
      : server_(std::move(server)), clock_(clock) {}

  // Evaluates a query at the given time. Returns nullopt if there is no data (an empty vector, or NaN); the value may
  // be infinite. Fails
  // - with kInvalid if Prometheus rejects the query, or if the result has a type that is never one number (matrix,
  //   string);
  // - with kBadRequest if the result is not one number this time, for instance a vector of several samples;
  // - with kTooLarge if the response has more than kMaxAnswer bytes, usually because it has too many samples;
  // - with kCancelled if `stop` fires;
  // - with another reason if Prometheus cannot be reached or does not respond in time. A later call may succeed.
  Result<std::optional<double>> Query(const std::string& promql, WallTime at, std::stop_token stop = {});

  // Evaluates a query now to check it. Fails as Query does. Only kInvalid means that the query itself is wrong. After
  // any other error, a later call may succeed.
  Status CheckQuery(const std::string& promql, std::stop_token stop = {});

 private:
  const std::unique_ptr<ServiceClient> server_;
  Clock& clock_;
  ByteBudget slots_{kMaxQueries};  // one for each query that is in flight
};

}  // namespace yad

#endif  // OPERATOR_PROMETHEUS_CLIENT_H_
