#include "operator/api/names.h"

#include <gtest/gtest.h>

#include <string>

namespace yad {
namespace {

constexpr char kNamePart[] =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr char kSubdomain[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr char kLabel[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr char kValue[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

struct Case {
  std::string text;
  std::string fault;
};

TEST(NamesTest, LabelKeysAreValidatedAsInKubernetes) {
  const std::string long_prefix = std::string(125, 'a') + "." + std::string(127, 'a');
  for (const Case& one : {
           Case{"app", ""},
           Case{"A_b.c-9", ""},
           Case{"apps.openyurt.io/pool-name", ""},
           Case{std::string(63, 'a'), ""},
           Case{long_prefix + "/x", ""},
           Case{"", "name part must be non-empty"},
           Case{"a/", "name part must be non-empty"},
           Case{"/a", "prefix part must be non-empty"},
           Case{"a/b/c", "a qualified name " + std::string(kNamePart + 10) +
                             " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
           Case{std::string(64, 'a'), "name part must be no more than 63 characters"},
           Case{"a" + long_prefix + "/x", "prefix part must be no more than 253 characters"},
           Case{"-a", kNamePart},
           Case{"a.", kNamePart},
           Case{"a b", kNamePart},
           Case{"größe", kNamePart},
           Case{std::string("a\0b", 3), kNamePart},
           Case{"a\n", kNamePart},
           Case{"Example.com/a", std::string("prefix part ") + kSubdomain},
           Case{"a..b/a", std::string("prefix part ") + kSubdomain},
       }) {
    EXPECT_EQ(CheckLabelKey(one.text), one.fault) << one.text;
  }
}

TEST(NamesTest, LabelValuesAreValidatedAsInKubernetes) {
  for (const Case& one : {
           Case{"", ""},
           Case{"a", ""},
           Case{"V1.2_3-x", ""},
           Case{std::string(63, 'a'), ""},
           Case{std::string(64, 'a'), "must be no more than 63 characters"},
           Case{"_", kValue},
           Case{"a/b", kValue},
           Case{" ", kValue},
           Case{"a\xFF", kValue},
       }) {
    EXPECT_EQ(CheckLabelValue(one.text), one.fault) << one.text;
  }
}

TEST(NamesTest, SubdomainsAreValidatedAsInKubernetes) {
  for (const Case& one : {
           Case{"a", ""},
           Case{"1.a-b.c", ""},
           Case{std::string(253, 'a'), ""},
           Case{std::string(254, 'a'), "must be no more than 253 characters"},
           Case{"", kSubdomain},
           Case{".", kSubdomain},
           Case{"a.", kSubdomain},
           Case{"a.-b", kSubdomain},
           Case{"a_b", kSubdomain},
           Case{"A", kSubdomain},
       }) {
    EXPECT_EQ(CheckDns1123Subdomain(one.text), one.fault) << one.text;
  }
}

TEST(NamesTest, DnsLabelsAreValidatedAsInKubernetes) {
  for (const Case& one : {
           Case{"a-1", ""},
           Case{std::string(63, 'a'), ""},
           Case{std::string(64, 'a'), "must be no more than 63 characters"},
           Case{"a.b", "must not contain dots"},
           Case{"", kLabel},
           Case{"a-", kLabel},
           Case{"a.-", kLabel},
           Case{"aB", kLabel},
       }) {
    EXPECT_EQ(CheckDns1123Label(one.text), one.fault) << one.text;
  }
}

}  // namespace
}  // namespace yad
