// Sends AdmissionReviews in the apiserver's format to the handler. Dry runs always succeed.
#include <memory>
#include <string>

#include "operator/client/transport/base64.h"
#include "operator/json/json_document.h"
#include "operator/workload/render.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/json_mutator.h"
#include "tests/unit/webhook/admission.h"
#include "webhook/admission/defaulting.h"
#include "webhook/admission/validating.h"

namespace yad::testing {
namespace {

struct World : AdmissionWorld {
  World() {
    SetPools({PoolJson("hangzhou"), PoolJson("beijing", {"edge"}), OfflinePoolJson("shanghai")});
    SetDaemons({});
    SetDeployments({});
    SetStatefulSets({});
  }
  HttpsServer::Handler handler = MakeAdmissionHandler(client, stores(), clock);

  // Returns the response to the review, or null if the handler rejected the body.
  Json Ask(const char* path, const std::string& body) {
    const HttpsReply reply = handler({"POST", path, "application/json", body, clock.Now()});
    TakeAsked();
    if (reply.status != 200) {
      YAD_CHECK(reply.status == 400 && !ParseAdmissionReview(body), reply.body);
      return nullptr;
    }
    const auto review = ParseJson(reply.body);
    YAD_CHECK(review && StringAt(*review, {"kind"}) == "AdmissionReview", reply.body);
    const Json* response = Find(*review, {"response"});
    YAD_CHECK(response != nullptr, reply.body);
    const bool allowed = BoolAt(*response, {"allowed"});
    YAD_CHECK(allowed || !StringAt(*response, {"status", "message"}).empty(), reply.body);
    YAD_CHECK(allowed || !response->contains("patch"), reply.body);
    return *response;
  }
};

// Returns the object with the patch of the defaulting webhook.
Json Defaulted(const Json& object, const Json& response) {
  const auto text = Base64Decode(StringAt(response, {"patch"}));
  const auto patch = text ? ParseJson(*text) : ParseJson("");
  YAD_CHECK(patch, response.dump());
  return object.patch(*patch);
}

void Rendered(const Json& object, const Json& defaulted) {
  const auto daemon = ParseYurtAppDaemon(object);
  const auto with_defaults = ParseYurtAppDaemon(defaulted);
  YAD_CHECK(daemon.has_value() == with_defaults.has_value(), DumpJson(object));
  YAD_CHECK(daemon.has_value() == ValidateYurtAppDaemon(object).empty(), DumpJson(object));
  if (!daemon) return;
  const RevisionContent content = ContentOf(*daemon);
  YAD_CHECK(content.digest == ContentOf(*with_defaults).digest, content.digest);
  const auto stored = ContentOf(MakeControllerRevision(*daemon, content, RevisionHash(content, 0), 1));
  YAD_CHECK(stored && stored->digest == content.digest, content.digest);
  NodePool pool;
  pool.name = "hangzhou";
  pool.taints = {{"edge", "NoSchedule"}};
  const RenderInputs inputs = InputsFor(content, pool);
  const auto parsed = ParseRenderInputs(inputs.ToAnnotation());
  YAD_CHECK(parsed && *parsed == inputs, inputs.ToAnnotation());
  const auto one = Render(content, inputs, pool.name, "r");
  const auto other = Render(*stored, inputs, pool.name, "r");
  YAD_CHECK(one.has_value() == other.has_value(), content.digest);
  if (one) YAD_CHECK(Compare(*one, *other) == Difference::kNone, DumpJson(*one) + "\n" + DumpJson(*other));
}

void Review(World& world, const std::string& body) {
  const Json mutated = world.Ask(kMutatePath, body);
  const Json validated = world.Ask(kValidatePath, body);
  YAD_CHECK(mutated.is_null() == validated.is_null(), body);
  if (mutated.is_null()) return;
  auto request = ParseAdmissionReview(body);
  YAD_CHECK(StringAt(mutated, {"uid"}) == request->uid && StringAt(validated, {"uid"}) == request->uid, body);

  const Json object = request->object;
  if (!object.is_object() || IsDeeperThan(object, kMaxJsonDepth)) return;
  const Json defaulted = mutated.contains("patch") ? Defaulted(object, mutated) : object;
  if (request->operation == "CREATE") request->old_object = nullptr;
  YAD_CHECK(mutated.contains("patch") ? SameSpec(object, defaulted) : defaulted == object, DumpJson(defaulted));
  request->object = defaulted;
  const Json again = world.Ask(kMutatePath, DumpJson(ReviewJson(*request)));
  YAD_CHECK(!again.contains("patch"), DumpJson(defaulted) + "\n" + again.dump());
  if (!BoolAt(mutated, {"allowed"})) return;
  if (StringAt(object, {"metadata", "deletionTimestamp"}).empty()) Rendered(object, defaulted);

  // An update that changes nothing must be accepted.
  if (request->operation != "CREATE" && request->operation != "UPDATE") return;
  if (!request->subresource.empty()) return;
  request->operation = "UPDATE";
  request->old_object = object;
  YAD_CHECK(BoolAt(world.Ask(kValidatePath, DumpJson(ReviewJson(*request))), {"allowed"}), DumpJson(defaulted));
}

}  // namespace
}  // namespace yad::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto& world = *new yad::testing::World;
  yad::testing::Review(world, {reinterpret_cast<const char*>(data), size});
  return 0;
}
YAD_FUZZ_JSON();
