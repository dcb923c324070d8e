#include "operator/yurtappdaemon/observe/revision_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "operator/api/well_known.h"
#include "operator/client/protobuf.h"

namespace yad {
namespace {

bool RejectsData(const Error& error) {
  return error.reason == Reason::kInvalid && std::any_of(error.causes.begin(), error.causes.end(),
                                                         [](const Cause& cause) { return cause.field == "data"; });
}

// Returns `data` of the ControllerRevision in a protobuf response.
std::optional<std::string_view> DataIn(std::string_view response) {
  constexpr unsigned kDataOfControllerRevision = 2;
  constexpr unsigned kRawOfRawExtension = 1;
  const auto revision = KubernetesMessage(response);
  const auto data = revision ? BytesField(*revision, kDataOfControllerRevision) : std::nullopt;
  return data ? BytesField(*data, kRawOfRawExtension) : std::nullopt;
}

// Returns whether `patch` has another uid or resourceVersion than `object`.
bool IsForAnother(const Json& patch, const Json& object) {
  for (const char* field : {"uid", "resourceVersion"}) {
    const std::string wanted = StringAt(patch, {"metadata", field});
    if (!wanted.empty() && wanted != StringAt(object, {"metadata", field})) return true;
  }
  return false;
}

}  // namespace

Result<Json> ChangeRevision(Client& client, const ObjectKey& key, const Json& patch, std::stop_token stop) {
  auto patched = client.Patch(kControllerRevisionType, key, PatchType::kMerge, patch, {}, stop);
  if (patched || !RejectsData(patched.error())) return patched;

  YAD_TRY(auto object, client.Get(kControllerRevisionType, key, stop));
  if (IsForAnother(patch, object)) {
    return Fail(Reason::kConflict, "ControllerRevision " + key.ToString() + " has changed since it was read");
  }
  YAD_TRY(const auto response, client.GetAsProtobuf(kControllerRevisionType, key, stop));
  const auto data = DataIn(response);
  if (!data) return Fail(Reason::kDecode, "ControllerRevision " + key.ToString() + ": its protobuf has no data");
  object.merge_patch(patch);
  object.erase("data");
  return client.UpdateWithText(kControllerRevisionType, object, "data", *data, stop);
}

}  // namespace yad
