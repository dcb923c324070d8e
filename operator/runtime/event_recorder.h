// Kubernetes Events (events.k8s.io/v1) about objects, for `kubectl describe` and `kubectl get events`.
#ifndef OPERATOR_RUNTIME_EVENT_RECORDER_H_
#define OPERATOR_RUNTIME_EVENT_RECORDER_H_

#include <memory>
#include <string>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

struct ObjectReference {
  std::string api_version;
  std::string kind;
  ObjectKey key;
  std::string uid;
  std::string resource_version;
};

enum class EventType { kNormal, kWarning };

// The interface for controllers; tests have their own implementation. Thread-safe.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Never blocks and never fails: an event that can't be stored is dropped and counted. `reason` is CamelCase, at most
  // 128 characters. `note` is truncated to 1,024 bytes (at a character boundary). `action` is the action that was done
  // or tried.
  virtual void Record(const ObjectReference& regarding, EventType type, const std::string& reason,
                      const std::string& action, const std::string& note) = 0;
};

struct EventRecorderOptions {
  std::string controller;                              // reportingController: "yurtappdaemon-operator"
  std::string instance;                                // reportingInstance: the pod's name
  std::size_t capacity = 1000;                         // events waiting to be written; more are dropped
  Duration series_window = std::chrono::minutes(6);    // a repeat within this time joins the series of the first event
  Duration series_refresh = std::chrono::seconds(30);  // minimum time between two writes of one series
};

// Writes events on the thread of Run. Repeats of the same (object, type, reason, action, note) become one event with a
// series.
class EventRecorder : public EventSink {
 public:
  EventRecorder(Client& client, EventRecorderOptions options, Clock& clock = Clock::Real());
  ~EventRecorder() override;

  void Record(const ObjectReference& regarding, EventType type, const std::string& reason, const std::string& action,
              const std::string& note) override;
  // Writes until `stop` fires, then tries for at most 2 s to write the queued events.
  void Run(std::stop_token stop);
  // Returns the number of events in memory: those that a repeat may join, and a few older ones. Thread-safe.
  std::size_t remembered() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_EVENT_RECORDER_H_
