#include "webhook/admission/capacity_validating.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/capacity/autoscaler.h"
#include "operator/workload/semantics.h"
#include "webhook/admission/known_errors.h"
#include "webhook/admission/warning_list.h"

namespace yad {
namespace {

// The maximum number of requests for Nodes in one review.
constexpr std::size_t kMaxAsked = 32;
constexpr char kInventory[] = "spec.inventorySelector";

// The errors and warnings that result from a comparison with the cluster.
struct Objections {
  FieldErrors errors;
  std::vector<std::string> warnings;
};

class Examiner {
 public:
  // `before` is nullptr for a new object.
  Examiner(Client& client, const NodePoolAutoscaler& now, const NodePoolAutoscaler* before, Deadline& deadline)
      : client_(client), now_(now), before_(before), deadline_(deadline) {}

  Objections Examine(const Store& pools) {
    if (now_.inventory.empty()) {
      objections_.warnings.push_back(std::string(kInventory) +
                                     ": selects every Node that is in no pool, also those of the control plane: give "
                                     "spare Nodes a label, and select by this label");
    }
    ComparePool(pools);
    CompareOthers();
    return std::move(objections_);
  }

 private:
  // Adds an error. If the old object also has the error (`known`), adds only a warning, so that the user can change
  // other fields.
  void Object(bool known, FieldError error) {
    if (known) {
      objections_.warnings.push_back(error.ToString());
    } else {
      objections_.errors.Add(std::move(error));
    }
  }

  void ComparePool(const Store& pools) {
    const auto pool = pools.Get({"", now_.node_pool});
    if (!pool) {
      if (pool.error().reason == Reason::kNotFound) {
        objections_.warnings.push_back("spec.nodePool: NodePool \"" + now_.node_pool +
                                       "\" does not exist yet; the operator waits for it");
      }
      return;
    }
    if (now_.mode != CapacityMode::kAuto || !BoolAt((*pool)->Parse(), {"spec", "hostNetwork"})) return;
    Object(before_ != nullptr && before_->mode == CapacityMode::kAuto && before_->node_pool == now_.node_pool,
           FieldError::Invalid("spec.mode", "Auto",
                               "pool \"" + now_.node_pool +
                                   "\" has spec.hostNetwork: true, and a Node can't leave such a pool: set Manual or "
                                   "Drain"));
  }

  void WarnThatOthersAreUnknown(const std::string& why) {
    objections_.warnings.push_back(
        "spec: the webhook cannot check whether another NodePoolAutoscaler has this pool or these Nodes: " + why);
  }

  void CompareOthers() {
    if (deadline_.Passed()) return WarnThatOthersAreUnknown("the review timed out");
    const auto page = client_.List(kNodePoolAutoscalerType, {}, deadline_.Token());
    if (!page) return WarnThatOthersAreUnknown(page.error().message);
    Warnings possible(objections_.warnings);
    for (const Json& other : page->items) {
      const std::string name = StringAt(other, {"metadata", "name"});
      if (name == now_.meta.key.name) continue;
      if (StringAt(other, {"spec", "nodePool"}) == now_.node_pool) {
        Object(
            before_ != nullptr && before_->node_pool == now_.node_pool,
            FieldError::Invalid(
                "spec.nodePool", now_.node_pool,
                "NodePoolAutoscaler \"" + name +
                    "\" has this pool already, and a pool can have only one NodePoolAutoscaler: change that object"));
      }
      CompareInventory(name, other, possible);
    }
  }

  void CompareInventory(const std::string& name, const Json& other, Warnings& possible) {
    const Json* selector = Find(other, {"spec", "inventorySelector"});
    if (selector == nullptr) return;
    const auto theirs = LabelSelector::Parse(*selector, kInventory);
    if (!theirs || theirs->Excludes(now_.inventory)) return;
    const std::string mine = now_.inventory.ToString();
    const bool known = before_ != nullptr && before_->inventory.ToString() == mine;
    const std::string fix = "label the Nodes of each inventory differently, and select the Nodes by this label";
    if (theirs->ToString() == mine) {
      Object(known, FieldError::Invalid(kInventory, now_.inventory_selector,
                                        "NodePoolAutoscaler \"" + name + "\" selects the same Nodes: " + fix));
      return;
    }
    const std::optional<std::string> node = NodeOfBoth(mine, theirs->ToString());
    if (!node) {
      possible.Add(kInventory, "a Node could be in the inventory of NodePoolAutoscaler \"" + name + "\" too: " + fix);
      return;
    }
    Object(known, FieldError::Invalid(
                      kInventory, now_.inventory_selector,
                      "Node \"" + *node + "\" is in the inventory of NodePoolAutoscaler \"" + name + "\" too: " + fix));
  }

  // Returns the name of a Node in both inventories; nullopt if there is none, or if the response does not arrive in
  // time.
  std::optional<std::string> NodeOfBoth(const std::string& mine, const std::string& theirs) {
    if (deadline_.Passed() || ++asked_ > kMaxAsked) return std::nullopt;
    const ListOptions options{.label_selector = mine.empty() || theirs.empty() ? mine + theirs : mine + "," + theirs,
                              .limit = 1};
    const auto page = client_.List(kNodeType, options, deadline_.Token());
    if (!page || page->items.empty()) return std::nullopt;
    return StringAt(page->items.front(), {"metadata", "name"});
  }

  Client& client_;
  const NodePoolAutoscaler& now_;
  const NodePoolAutoscaler* const before_;
  Deadline& deadline_;
  std::size_t asked_ = 0;
  Objections objections_;
};

AdmissionResponse ResponseFor(const AdmissionRequest& request, const FieldErrors& errors,
                              std::vector<std::string> warnings) {
  AdmissionResponse response;
  if (!errors.empty()) response = AdmissionResponse::Invalid(request, ToCauses(errors));
  response.warnings = std::move(warnings);
  return response;
}

}  // namespace

AdmissionResponse ValidateCapacity(const AdmissionRequest& request, Client& client, const Store& pools,
                                   Deadline& deadline) {
  const Json& object = request.object;
  const Json& old_object = request.old_object;
  if (!StringAt(object, {"metadata", "deletionTimestamp"}).empty()) return AdmissionResponse::Allowed();
  if (IsDeeperThan(object, kMaxJsonDepth) || IsDeeperThan(old_object, kMaxJsonDepth))
    return ResponseFor(request, {FieldError::Forbidden("spec", "is nested too deeply")}, {});
  const bool update = old_object.is_object();
  if (update && MemberOf(object, "spec") == MemberOf(old_object, "spec")) return AdmissionResponse::Allowed();

  SortedErrors errors =
      SortErrors(ValidateNodePoolAutoscaler(object), update ? ValidateNodePoolAutoscaler(old_object) : FieldErrors());
  if (update) errors.fresh.Append(ValidateNodePoolAutoscalerUpdate(object, old_object));
  std::vector<std::string> warnings;
  for (const FieldError& error : errors.known) warnings.push_back(error.ToString());
  const auto now = ParseNodePoolAutoscaler(object);
  if (!errors.fresh.empty() || !now) return ResponseFor(request, errors.fresh, std::move(warnings));

  // A new object has no spec before, so it can't be parsed.
  const auto before = ParseNodePoolAutoscaler(old_object);
  Objections objections = Examiner(client, *now, before ? &*before : nullptr, deadline).Examine(pools);
  return ResponseFor(request, objections.errors, std::move(objections.warnings));
}

}  // namespace yad
