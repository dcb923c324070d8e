// Reads small files, such as kubeconfigs, certificates and tokens, and environment variables.
#ifndef OPERATOR_BASE_FILE_H_
#define OPERATOR_BASE_FILE_H_

#include <cstddef>
#include <string>

#include "operator/base/error.h"

namespace yad {

// Returns the content of the file. Fails with kConfig if the file can't be read, or has more than `most` bytes. The
// message contains the path and the system's reason, such as "No such file or directory".
Result<std::string> ReadSmallFile(const std::string& path, std::size_t most = 16u << 20);

// Like ReadSmallFile, but also fails if the file has only white space. An empty file with CAs would make a client trust
// the system's CAs.
Result<std::string> ReadNonEmptyFile(const std::string& path);

// Removes white space at both ends, for example the newline at the end of a file.
std::string Trim(const std::string& text);

// Returns the value of the environment variable, or "" if it is not set.
std::string EnvironmentVariable(const char* name);

}  // namespace yad

#endif  // OPERATOR_BASE_FILE_H_
