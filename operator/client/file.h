// Reading small files: kubeconfigs, certificates, tokens.
#ifndef OPERATOR_CLIENT_FILE_H_
#define OPERATOR_CLIENT_FILE_H_

#include <cstddef>
#include <string>

#include "operator/base/error.h"

namespace yad {

// The whole file. kConfig with the system's reason ("No such file or directory"), and where it has more than `most`
// bytes.
Result<std::string> ReadSmallFile(const std::string& path, std::size_t most = 16u << 20);

// Without white space at both ends: files that people make end in a newline.
std::string Trim(const std::string& text);

}  // namespace yad

#endif  // OPERATOR_CLIENT_FILE_H_
