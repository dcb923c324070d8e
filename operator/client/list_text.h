// A list's answer, split into its items and read no further. Read one by one they cost a tenth of what a tree of all of
// them does.
#ifndef OPERATOR_CLIENT_LIST_TEXT_H_
#define OPERATOR_CLIENT_LIST_TEXT_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/json_document.h"

namespace yad {

// Any thread may read it.
class ListText {
 public:
  // kDecode where `answer` is no list of objects. What the items say is looked at by Item().
  static Result<ListText> Split(std::string answer, const ResourceType& type);

  const std::string& resource_version() const { return resource_version_; }
  const std::string& continue_token() const { return continue_token_; }  // "": this was the last page
  std::size_t size() const { return items_.size(); }
  std::size_t bytes() const { return text_.size(); }
  // With apiVersion and kind, which the items of most lists leave out. kDecode where it is no JSON.
  Result<JsonDocument> Item(std::size_t index) const;

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  std::string text_;
  std::vector<Range> items_;
  std::string head_;  // of an item's text: the members that it may lack, and no end
  std::string resource_version_;
  std::string continue_token_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_LIST_TEXT_H_
