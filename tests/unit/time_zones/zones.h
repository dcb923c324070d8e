// A folder that replaces the system's time zone database in this program.
#ifndef TESTS_UNIT_TIME_ZONES_ZONES_H_
#define TESTS_UNIT_TIME_ZONES_ZONES_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace yad::testing {

inline constexpr char kZones[] = "/usr/share/zoneinfo";
inline constexpr char kNoDatabase[] = "the system has no time zone database (tzdata)";

// Returns the folder that is read instead of kZones. If it is "", kZones itself is read.
inline std::string& Folder() {
  static std::string& folder = *new std::string;
  return folder;
}

// One folder of zones. It does not exist until a zone is added.
class Zones {
 public:
  Zones() : folder_(std::filesystem::path(::testing::TempDir()) / ("zones-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    Folder() = folder_;
  }
  ~Zones() {
    Folder().clear();
    std::filesystem::remove_all(folder_);
  }
  Zones(const Zones&) = delete;
  Zones& operator=(const Zones&) = delete;

  void AddFolder() { std::filesystem::create_directories(folder_); }
  void Add(const std::string& zone) { Write(zone, ContentOf(zone)); }
  void Write(const std::string& zone, const std::string& content) {
    std::filesystem::create_directories((folder_ / zone).parent_path());
    std::ofstream(folder_ / zone, std::ios::binary) << content;
  }
  static std::string ContentOf(const std::string& zone) {
    const std::string replaced = std::exchange(Folder(), "");
    std::ifstream file(std::string(kZones) + "/" + zone, std::ios::binary);
    Folder() = replaced;
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  const std::filesystem::path folder_;
};

// Runs `body` in a process that has not read the database.
template <typename Body>
void InNewProcess(const Body& body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [&] {
    {
      Zones zones;
      body(zones);
    }
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

}  // namespace yad::testing

#endif  // TESTS_UNIT_TIME_ZONES_ZONES_H_
