#include "tests/bench/figures.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace yad::bench {

std::optional<bool> Figure::Reached() const {
  const bool bounded = !bounds.empty() && bounds.front().value > 0;
  switch (target) {
    case TargetKind::kNone:
      return std::nullopt;
    case TargetKind::kAtMost:
      return value <= limit;
    case TargetKind::kExactly:
      return value == limit;
    case TargetKind::kShareOfBound:
      return bounded && value >= limit * bounds.front().value;
    case TargetKind::kTimesBound:
      return bounded && value <= limit * bounds.front().value;
  }
  return std::nullopt;
}

std::optional<double> Figure::Used() const {
  const bool bounded = !bounds.empty() && bounds.front().value > 0;
  switch (target) {
    case TargetKind::kAtMost:
      if (limit > 0) return value / limit;
      break;
    case TargetKind::kShareOfBound:
      if (value > 0 && bounded) return limit * bounds.front().value / value;
      break;
    case TargetKind::kTimesBound:
      if (bounded) return value / (limit * bounds.front().value);
      break;
    case TargetKind::kNone:
    case TargetKind::kExactly:
      break;
  }
  return std::nullopt;
}

std::string Figure::TargetText() const {
  const std::string in_unit = Number(limit) + (unit.empty() ? "" : " " + unit);
  switch (target) {
    case TargetKind::kNone:
      return "";
    case TargetKind::kAtMost:
      return "≤ " + in_unit;
    case TargetKind::kExactly:
      return in_unit;
    case TargetKind::kShareOfBound:
      return "≥ " + Number(limit) + " × bound";
    case TargetKind::kTimesBound:
      return "≤ " + Number(limit) + " × bound";
  }
  return "";
}

std::string Number(double value) {
  char text[64];
  const double size = std::fabs(value);
  const int decimals = value == std::floor(value) || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  std::string number = text;
  std::size_t at = number.find('.');
  if (at == std::string::npos) at = number.size();
  for (const std::size_t first = number[0] == '-' ? 1 : 0; at > first + 3;) number.insert(at -= 3, ",");
  return number;
}

Json ToJson(const Figure& figure) {
  Json json = {{"scenario", figure.scenario}, {"what", figure.what}, {"value", figure.value}, {"unit", figure.unit}};
  for (const Bound& bound : figure.bounds) json["bounds"].push_back({{"name", bound.name}, {"value", bound.value}});
  if (figure.target != TargetKind::kNone) {
    json["target"] = figure.TargetText();
    json["targetKind"] = figure.target;
    json["limit"] = figure.limit;
    json["reached"] = *figure.Reached();
  }
  if (!figure.note.empty()) json["note"] = figure.note;
  return json;
}

Figure FigureFromJson(const Json& json) {
  Figure figure{json.at("scenario"), json.at("what"), json.at("value"), json.at("unit")};
  for (const Json& bound : json.value("bounds", Json::array())) {
    figure.bounds.push_back({bound.at("name"), bound.at("value")});
  }
  figure.target = json.value("targetKind", TargetKind::kNone);
  figure.limit = json.value("limit", 0.0);
  figure.note = json.value("note", "");
  return figure;
}

}  // namespace yad::bench
