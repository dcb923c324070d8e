// The names and labels of the explored cluster.
#ifndef TESTS_MODEL_NAMES_H_
#define TESTS_MODEL_NAMES_H_

namespace yad::model {

inline constexpr char kNamespace[] = "ns";
inline constexpr const char* kDaemonNames[] = {"web", "shop"};
inline constexpr const char* kPoolNames[] = {"p1", "p2", "p3"};
inline constexpr char kSelectedLabel[] = "in";  // on pools; daemons select the value "yes"
inline constexpr char kForeignAnnotation[] = "foreign";
inline constexpr int kHistoryLimit = 0;

}  // namespace yad::model

#endif  // TESTS_MODEL_NAMES_H_
