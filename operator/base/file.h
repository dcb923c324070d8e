// Reading small files: kubeconfigs, certificates, tokens.
#ifndef OPERATOR_BASE_FILE_H_
#define OPERATOR_BASE_FILE_H_

#include <cstddef>
#include <string>

#include "operator/base/error.h"

namespace yad {

// Returns the content of the file. Fails with kConfig and the system's reason ("No such file or directory"), or if the
// file has more than `most` bytes.
Result<std::string> ReadSmallFile(const std::string& path, std::size_t most = 16u << 20);

// Removes white space at both ends. Text files usually end with a newline.
std::string Trim(const std::string& text);

}  // namespace yad

#endif  // OPERATOR_BASE_FILE_H_
