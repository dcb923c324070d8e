#include "operator/api/field_error.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace yad {
namespace {

TEST(FieldErrorTest, MessagesAreThoseOfApimachinery) {
  struct Case {
    FieldError error;
    const char* text;
    const char* cause;
  };
  for (const Case& one : {
           Case{FieldError::Required("spec.a", "detail"), "spec.a: Required value: detail", "FieldValueRequired"},
           Case{FieldError::Required("spec.a"), "spec.a: Required value", "FieldValueRequired"},
           Case{FieldError::Invalid("spec.a", "x", "detail"), "spec.a: Invalid value: \"x\": detail",
                "FieldValueInvalid"},
           Case{FieldError::Invalid("spec.a", -1, "detail"), "spec.a: Invalid value: -1: detail", "FieldValueInvalid"},
           Case{FieldError::Invalid("spec.a", {{"b", 1}}, "detail"), "spec.a: Invalid value: {\"b\":1}: detail",
                "FieldValueInvalid"},
           Case{FieldError::Forbidden("spec.a", "detail"), "spec.a: Forbidden: detail", "FieldValueForbidden"},
           Case{FieldError::NotSupported("spec.a", "x", {"a", "b"}),
                "spec.a: Unsupported value: \"x\": supported values: \"a\", \"b\"", "FieldValueNotSupported"},
           Case{FieldError::Duplicate("spec.a", "x"), "spec.a: Duplicate value: \"x\"", "FieldValueDuplicate"},
           Case{FieldError::TypeInvalid("spec.a", true, "must be a string"),
                "spec.a: Invalid value: true: must be a string", "FieldValueTypeInvalid"},
       }) {
    EXPECT_EQ(one.error.ToString(), one.text);
    const Cause cause = one.error.ToCause();
    EXPECT_EQ(cause.field, "spec.a");
    EXPECT_EQ(cause.reason, one.cause);
    EXPECT_EQ("spec.a: " + cause.message, one.text);
  }
}

TEST(FieldErrorTest, SeveralErrorsAreDescribedAsAnAggregate) {
  const FieldError a = FieldError::Required("a"), b = FieldError::Forbidden("b", "no");
  EXPECT_EQ(Describe({a}), "a: Required value");
  EXPECT_EQ(Describe({a, b}), "[a: Required value, b: Forbidden: no]");
  const Error error = ToError({a, b});
  EXPECT_EQ(error.reason, Reason::kInvalid);
  EXPECT_EQ(error.message, "[a: Required value, b: Forbidden: no]");
  ASSERT_EQ(error.causes.size(), 2U);
  EXPECT_EQ(error.causes[1].field, "b");
}

TEST(FieldErrorTest, OnlyTheFirstThousandErrorsAreKept) {
  FieldErrors errors;
  for (std::size_t i = 0; i < FieldErrors::kMost; ++i) {
    EXPECT_FALSE(errors.full());
    errors.Add(FieldError::Required(std::to_string(i)));
  }
  EXPECT_TRUE(errors.full());
  errors.Add(FieldError::Required("more"));
  errors.Append({FieldError::Required("yet more")});
  ASSERT_EQ(errors.size(), FieldErrors::kMost);
  EXPECT_EQ(errors[FieldErrors::kMost - 1].path, "999");
}

TEST(FieldErrorTest, LongDeepAndMalformedValuesAreShortenedOrReplaced) {
  EXPECT_LT(FieldError::Invalid("a", std::string(100000, 'x'), "d").value.size(), 300U);
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) umlauts += "ö";
  const std::string cut = FieldError::Invalid("a", umlauts, "d").value;
  EXPECT_EQ(cut.substr(cut.size() - 5), "ö...");
  EXPECT_EQ(FieldError::Invalid("a", "\xFF", "d").value, "\"\xEF\xBF\xBD\"");
  const Json deep = Json::parse(std::string(200000, '[') + std::string(200000, ']'));
  EXPECT_EQ(FieldError::Invalid("a", deep, "d").value, "...");
}

}  // namespace
}  // namespace yad
