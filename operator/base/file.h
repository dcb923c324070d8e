// Reading small files: kubeconfigs, certificates, tokens.
#ifndef OPERATOR_BASE_FILE_H_
#define OPERATOR_BASE_FILE_H_

#include <cstddef>
#include <string>

#include "operator/base/error.h"

namespace yad {

// Returns the content of the file. Fails with kConfig if the file has more than `most` bytes, or if it can't be read;
// the message then contains the system's reason ("No such file or directory").
Result<std::string> ReadSmallFile(const std::string& path, std::size_t most = 16u << 20);

// Removes white space at both ends. Text files usually end with a newline.
std::string Trim(const std::string& text);

}  // namespace yad

#endif  // OPERATOR_BASE_FILE_H_
