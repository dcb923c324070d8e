// A system without a time zone database, or with a damaged database.
// - The C++ library reads a fixed folder, so this program replaces the functions that open files.
// - The library reads the folder only once, so each test runs in its own process.
#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>

#include "operator/base/time_zone.h"
#include "tests/unit/time_zones/zones.h"

namespace {

using yad::testing::Folder;
using yad::testing::kZones;

std::string Redirected(const char* path) {
  const std::string text = path;
  return Folder().empty() || !text.starts_with(kZones) ? text : Folder() + text.substr(sizeof kZones - 1);
}

template <typename Function>
Function* Original(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int stat(const char* path, struct stat* result) noexcept {
  static auto* const original = Original<int(const char*, struct stat*)>(nullptr, "stat");
  return original(Redirected(path).c_str(), result);
}
__attribute__((visibility("default"))) DIR* opendir(const char* path) {
  static auto* const original = Original<DIR*(const char*)>(nullptr, "opendir");
  return original(Redirected(path).c_str());
}
__attribute__((visibility("default"))) FILE* fopen64(const char* path, const char* mode) {
  static auto* const original = Original<FILE*(const char*, const char*)>(nullptr, "fopen64");
  return original(Redirected(path).c_str(), mode);
}
}

namespace yad::testing {
namespace {

constexpr char kDamaged[] = "the file of this time zone in the system's database (tzdata) is damaged";

Error ErrorOf(const std::string& zone) {
  const auto found = TimeZone::Find(zone);
  return found ? Error() : found.error();
}

TEST(MissingTimeZonesTest, OnlyUtcIsKnownWithoutADatabase) {
  InNewProcess([](Zones&) {
    EXPECT_TRUE(TimeZone::Find("UTC"));
    for (const char* zone : {"Europe/Lisbon", "Europe/Lisbon", "Europe/Atlantis"}) {
      EXPECT_EQ(ErrorOf(zone).reason, Reason::kInternalError) << zone;
      EXPECT_EQ(ErrorOf(zone).message, kNoDatabase) << zone;
    }
  });
}

TEST(MissingTimeZonesTest, FolderWithoutZonesIsNotADatabase) {
  InNewProcess([](Zones& zones) {
    zones.AddFolder();
    EXPECT_TRUE(TimeZone::Find("UTC"));
    EXPECT_EQ(ErrorOf("Europe/Lisbon").reason, Reason::kInternalError);
    EXPECT_EQ(ErrorOf("Europe/Lisbon").message, kNoDatabase);
  });
}

TEST(MissingTimeZonesTest, DatabaseThatIsInstalledLaterIsRead) {
  InNewProcess([](Zones& zones) {
    EXPECT_EQ(ErrorOf("Europe/Lisbon").message, kNoDatabase);
    zones.Add("UTC");
    zones.Add("Europe/Lisbon");
    EXPECT_TRUE(TimeZone::Find("Europe/Lisbon"));
    EXPECT_EQ(ErrorOf("Europe/Oslo").reason, Reason::kInvalid);
  });
}

// The C++ library would terminate the process if a file of the database is not a valid time zone.
TEST(MissingTimeZonesTest, DamagedFileIsAnInternalErrorAndEndsNoProcess) {
  InNewProcess([](Zones& zones) {
    for (const char* zone : {"UTC", "Europe/Lisbon"}) zones.Add(zone);
    zones.Write("Europe/Oslo", "not a zone");
    zones.Write("Europe/Paris", "");
    zones.Write("Europe/Rome", Zones::ContentOf("Europe/Rome").substr(0, 300));
    EXPECT_TRUE(TimeZone::Find("Europe/Lisbon"));
    for (const char* zone : {"Europe/Oslo", "Europe/Paris", "Europe/Rome", "Europe/Rome"}) {
      EXPECT_EQ(ErrorOf(zone).reason, Reason::kInternalError) << zone;
      EXPECT_EQ(ErrorOf(zone).message, kDamaged) << zone;
    }
    zones.Add("Europe/Oslo");
    EXPECT_TRUE(TimeZone::Find("Europe/Oslo")) << "the file was repaired";
    zones.Write("Europe/Lisbon", "not a zone");
    EXPECT_TRUE(TimeZone::Find("Europe/Lisbon")) << "a zone that was read stays valid";
  });
}

// `zic -b slim` creates files that end with the last change before the current rule, and the rule.
TEST(MissingTimeZonesTest, FileWithoutLaterChangesOfTheClockIsAnInternalError) {
  InNewProcess([](Zones& zones) {
    zones.Add("UTC");
    const std::string head = std::string("TZif2") + std::string(15, '\0');
    const auto counts = [](char types, char letters) {  // of UTC indicators, ..., time types and letters
      std::string text(24, '\0');
      text[19] = types;
      text[23] = letters;
      return text;
    };
    const std::string winter = std::string(6, '\0') + std::string("WET\0", 4);
    const std::string version = head + counts(1, 4) + winter;
    zones.Write("Europe/Lisbon", version + version + "\nWET0WEST,M3.5.0/1,M10.5.0\n");
    zones.Write("Africa/Abidjan", version + version + "\nGMT0\n");
    EXPECT_EQ(ErrorOf("Europe/Lisbon").reason, Reason::kInternalError);
    EXPECT_EQ(ErrorOf("Europe/Lisbon").message,
              "the file of this time zone in the system's database (tzdata) lacks later changes of the clock: install "
              "a database that was made with `zic -b fat`");
    EXPECT_TRUE(TimeZone::Find("Africa/Abidjan"));
    EXPECT_EQ(TimeZone::Find("Africa/Abidjan")->Show(ParseTime("2026-07-01T12:00:00Z")), "Wed 12:00");
  });
}

}  // namespace
}  // namespace yad::testing
