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

struct NameCase {
  std::string text;
  std::string fault;
};

TEST(NamesTest, LabelKeysAreValidatedAsInKubernetes) {
  const std::string long_prefix = std::string(125, 'a') + "." + std::string(127, 'a');
  for (const NameCase& one : {
           NameCase{"app", ""},
           NameCase{"A_b.c-9", ""},
           NameCase{"apps.openyurt.io/pool-name", ""},
           NameCase{std::string(63, 'a'), ""},
           NameCase{long_prefix + "/x", ""},
           NameCase{"", "name part must be non-empty"},
           NameCase{"a/", "name part must be non-empty"},
           NameCase{"/a", "prefix part must be non-empty"},
           NameCase{"a/b/c", "a qualified name " + std::string(kNamePart + 10) +
                                 " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
           NameCase{std::string(64, 'a'), "name part must be no more than 63 characters"},
           NameCase{"a" + long_prefix + "/x", "prefix part must be no more than 253 characters"},
           NameCase{"-a", kNamePart},
           NameCase{"a.", kNamePart},
           NameCase{"a b", kNamePart},
           NameCase{"größe", kNamePart},
           NameCase{std::string("a\0b", 3), kNamePart},
           NameCase{"a\n", kNamePart},
           NameCase{"Example.com/a", std::string("prefix part ") + kSubdomain},
           NameCase{"a..b/a", std::string("prefix part ") + kSubdomain},
       }) {
    EXPECT_EQ(CheckLabelKey(one.text), one.fault) << one.text;
  }
}

TEST(NamesTest, LabelValuesAreValidatedAsInKubernetes) {
  for (const NameCase& one : {
           NameCase{"", ""},
           NameCase{"a", ""},
           NameCase{"V1.2_3-x", ""},
           NameCase{std::string(63, 'a'), ""},
           NameCase{std::string(64, 'a'), "must be no more than 63 characters"},
           NameCase{"_", kValue},
           NameCase{"a/b", kValue},
           NameCase{" ", kValue},
           NameCase{"a\xFF", kValue},
       }) {
    EXPECT_EQ(CheckLabelValue(one.text), one.fault) << one.text;
  }
}

TEST(NamesTest, SubdomainsAreValidatedAsInKubernetes) {
  for (const NameCase& one : {
           NameCase{"a", ""},
           NameCase{"1.a-b.c", ""},
           NameCase{std::string(253, 'a'), ""},
           NameCase{std::string(254, 'a'), "must be no more than 253 characters"},
           NameCase{"", kSubdomain},
           NameCase{".", kSubdomain},
           NameCase{"a.", kSubdomain},
           NameCase{"a.-b", kSubdomain},
           NameCase{"a_b", kSubdomain},
           NameCase{"A", kSubdomain},
       }) {
    EXPECT_EQ(CheckDns1123Subdomain(one.text), one.fault) << one.text;
  }
}

TEST(NamesTest, DnsLabelsAreValidatedAsInKubernetes) {
  for (const NameCase& one : {
           NameCase{"a-1", ""},
           NameCase{std::string(63, 'a'), ""},
           NameCase{std::string(64, 'a'), "must be no more than 63 characters"},
           NameCase{"a.b", "must not contain dots"},
           NameCase{"", kLabel},
           NameCase{"a-", kLabel},
           NameCase{"a.-", kLabel},
           NameCase{"aB", kLabel},
       }) {
    EXPECT_EQ(CheckDns1123Label(one.text), one.fault) << one.text;
  }
}

}  // namespace
}  // namespace yad
