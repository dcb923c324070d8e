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

inline ObjectReference ReferenceTo(const ResourceType& type, const ObjectMeta& meta) {
  return {type.ApiVersion(), type.kind, meta.key, meta.uid, meta.resource_version};
}

enum class EventType { kNormal, kWarning };

// Records events. Controllers use this interface, so that tests can replace the implementation. Thread-safe.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Records an event about the object `regarding`. Never blocks and never fails: an event that can't be stored is
  // dropped and counted.
  // - `reason` is CamelCase, at most 128 characters.
  // - `action` is the action that the controller took or attempted.
  // - `note` is the message. It is truncated to 1,024 bytes.
  virtual void Record(const ObjectReference& regarding, EventType type, const std::string& reason,
                      const std::string& action, const std::string& note) = 0;
};

struct EventRecorderOptions {
  std::string controller;       // the field reportingController, such as "yurtappdaemon-operator"
  std::string instance;         // the field reportingInstance: the pod's name
  std::size_t capacity = 1000;  // maximum number of events that wait to be written; further events are dropped
};

// Writes events on the thread that calls Run. Repeats of an event (the same object, type, reason, action and note)
// become one Event object with a series.
class EventRecorder : public EventSink {
 public:
  EventRecorder(Client& client, EventRecorderOptions options, Clock& clock = Clock::Real());
  ~EventRecorder() override;

  void Record(const ObjectReference& regarding, EventType type, const std::string& reason, const std::string& action,
              const std::string& note) override;
  // Writes until `stop` fires, then tries for at most 2 s to write the queued events.
  void Run(std::stop_token stop);
  // Returns the number of events in memory, including old events that have not been removed yet. Thread-safe.
  std::size_t remembered() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_EVENT_RECORDER_H_
