#!/usr/bin/env python3
"""Prints the fields of the CRDs in crds/ as a page. hack/docs.sh runs it, because the page is part only of the site."""
import pathlib

import yaml


def cell(text):
    """Escapes text for a cell of a table, outside of code."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("{", "&#123;").replace("*", "\\*")


def type_of(schema):
    if schema.get("x-kubernetes-int-or-string"):
        return "integer or string"
    if schema.get("type") == "array":
        return "list of " + type_of(schema["items"])
    if "additionalProperties" in schema:
        return "map of " + type_of(schema["additionalProperties"])
    return schema.get("format") if schema.get("format") == "date-time" else schema.get("type", "any")


def limits_of(schema):
    """Returns the limits in the schema, without its rules in CEL."""
    words = {"minimum": "at least {}", "maximum": "at most {}", "minLength": "at least {} characters", "maxLength": "at most {} characters",
             "minItems": "at least {} entries", "maxItems": "at most {} entries", "default": "default {}"}
    limits = [text.format(schema[name]) for name, text in words.items() if name in schema]
    if "enum" in schema:
        limits.insert(0, "one of " + ", ".join(f"`{value}`" for value in schema["enum"]))
    return limits


def rows_of(schema, path=""):
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        inner, inner_path = field, here
        while inner.get("type") == "array":
            inner, inner_path = inner["items"], inner_path + "[]"
        facts = (["required"] if name in required else []) + limits_of(field)
        text = cell(field.get("description", ""))
        if facts:
            text += f" *({'; '.join(facts)})*"
        yield f"| `{here}` | {type_of(field)} | {text} |"
        yield from rows_of(inner, inner_path)


def main():
    print("# Reference of the fields\n\nThis page is made from the CRDs. `kubectl explain --recursive` shows the same.")
    order = {"YurtAppDaemon": 0, "NodePool": 1, "NodePoolAutoscaler": 2}
    crds = [yaml.safe_load(path.read_text()) for path in pathlib.Path("crds").glob("*.yaml")]
    for crd in sorted(crds, key=lambda crd: order[crd["spec"]["names"]["kind"]]):
        spec, version = crd["spec"], crd["spec"]["versions"][-1]
        schema = version["schema"]["openAPIV3Schema"]
        print(f"\n## {spec['names']['kind']}\n\n`{spec['group']}/{version['name']}`, {spec['scope'].lower()}. {cell(schema['description'])}")
        for part in ("spec", "status"):
            if part not in schema["properties"]:
                continue
            print(f"\n### {spec['names']['kind']} {part}\n\n| field | type | meaning |\n|---|---|---|")
            print("\n".join(rows_of(schema["properties"][part])))


main()
