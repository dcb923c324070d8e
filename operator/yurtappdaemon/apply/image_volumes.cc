#include "operator/yurtappdaemon/apply/image_volumes.h"

#include <algorithm>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/workload/prefetch.h"

namespace yad {
namespace {

using State = ImageVolumeSupport::State;

constexpr Duration kDroppedFor = std::chrono::minutes(10);

// Returns whether the server rejected the DaemonSet because of a volume. If its feature ImageVolume is disabled, the
// server drops the volume's field `image`, and then rejects the volume, because it has no source.
bool IsAboutVolumes(const Error& error) {
  return error.reason == Reason::kInvalid &&
         std::any_of(error.causes.begin(), error.causes.end(), [](const Cause& cause) {
           return cause.field.starts_with("spec.template.spec.volumes[") && cause.field.ends_with("]");
         });
}

ImageVolumeSupport SupportIn(const Result<Json>& created) {
  if (created) {
    if (KeepsImageVolumes(*created)) return {State::kKept, ""};
    return {State::kDropped, "the apiserver drops image volumes, because it does not have the feature ImageVolume"};
  }
  if (!IsAboutVolumes(created.error())) return {State::kUnknown, ""};
  return {State::kDropped, "the apiserver rejects image volumes: " + Cut(created.error().message, kMaxMessage / 2)};
}

}  // namespace

ImageVolumeSupport ImageVolumes::Known() const {
  const Finding finding = finding_.With([](const Finding& known) { return known; });
  if (finding.support.state == State::kDropped && clock_.Now() >= finding.at + kDroppedFor) return {};
  return finding.support;
}

Result<ImageVolumeSupport> ImageVolumes::Find(const Json& daemon_set, std::stop_token stop) {
  const ImageVolumeSupport known = Known();
  if (known.state != State::kUnknown) return known;
  const WriteOptions options{.dry_run = true};
  const auto created = client_.Create(kDaemonSetType, daemon_set, options, stop);
  const ImageVolumeSupport found = LearnFrom(created);
  if (!created && found.state == State::kUnknown) return Fail(created.error());
  return found;
}

ImageVolumeSupport ImageVolumes::LearnFrom(const Result<Json>& created) {
  const ImageVolumeSupport support = SupportIn(created);
  if (support.state != State::kUnknown) finding_.With([&](Finding& finding) { finding = {support, clock_.Now()}; });
  return support;
}

}  // namespace yad
