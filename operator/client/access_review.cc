#include "operator/client/access_review.h"

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"

namespace yad {

Result<bool> IsAllowed(Client& client, const std::string& verb, const ResourceType& type, const ObjectKey& key,
                       const std::string& subresource, std::stop_token stop) {
  const Json attributes = {{"verb", verb},        {"group", type.group}, {"resource", type.resource},
                           {"namespace", key.ns}, {"name", key.name},    {"subresource", subresource}};
  const Json review = {{"apiVersion", kReviewType.ApiVersion()},
                       {"kind", kReviewType.kind},
                       {"spec", {{"resourceAttributes", attributes}}}};
  YAD_TRY(const auto response, client.Create(kReviewType, review, {}, stop));
  return BoolAt(response, {"status", "allowed"});
}

}  // namespace yad
