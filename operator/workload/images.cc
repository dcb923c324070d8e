#include "operator/workload/images.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace yad {

std::string ImagesOf(const RevisionContent& content) {
  std::vector<std::string> images;
  const auto add_all = [&](const Json& list) {
    for (const Json& entry : list) {
      const std::string image = StringAt(entry, {"image"});
      if (!image.empty() && std::find(images.begin(), images.end(), image) == images.end()) images.push_back(image);
    }
  };
  add_all(ListAt(content.workload_template, {"spec", "template", "spec", "containers"}));
  if (content.overrides.is_array()) {
    for (const Json& entry : content.overrides) add_all(ListAt(entry, {"images"}));
  }
  std::string text;
  for (const std::string& image : images) text += (text.empty() ? "" : ",") + image;
  return text;
}

}  // namespace yad
