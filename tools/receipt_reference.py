#!/usr/bin/env python3
"""Writes docs/receipt-reference.md from the receipt's schema: every field with its type, bounds and meaning.

    tools/receipt_reference.py            writes the page
    tools/receipt_reference.py --check    fails when the page is not what the schema gives
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = ROOT / "protocols/schemas"
PAGE = ROOT / "docs/receipt-reference.md"
HEAD = """# The receipt, field by field

Made by `tools/receipt_reference.py` from [receipt.schema.json](../protocols/schemas/receipt.schema.json): change the schema, not this page.
What a receipt is and how it is checked stands in [receipt.md](receipt.md); how its figures come about in [method.md](method.md).

A pointer such as `/arms/0/steps/3/wall_ms` (RFC 6901) names a field; `N` stands for a place in a list, `*` for any name. A field that is not
*required* is absent where its value was not measured: never zero, never -1. Times are milliseconds, instants are UTC as RFC 3339 writes them.
"""


def resolve(schema, node, files):
    """The node itself, or what its $ref leads to, with a description of its own laid over it."""
    while "$ref" in node:
        target, _, path = node["$ref"].partition("#")
        document = schema
        if target:
            document = files.setdefault(target, json.loads((SCHEMAS / target).read_text()))
        found = document
        for part in filter(None, path.split("/")):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        node, schema = {**found, **{key: value for key, value in node.items() if key != "$ref"}}, document
    return node, schema


def bounds_of(node):
    """Constraints in words."""
    words = []
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        words.append(f"{low} to {high}")
    elif low is not None:
        words.append(f"at least {low}")
    elif high is not None:
        words.append(f"at most {high}")
    if "exclusiveMinimum" in node:
        words.append(f"above {node['exclusiveMinimum']}")
    least, most = node.get("minItems"), node.get("maxItems")
    if least is not None and least == most:
        words.append(f"exactly {least}")
    elif most is not None:
        words.append(f"at most {most} entries")
    if "maxLength" in node:
        words.append(f"at most {node['maxLength']} characters")
    if "pattern" in node:
        words.append(f"matches `{node['pattern']}`")
    if "default" in node:
        words.append(f"default `{json.dumps(node['default'])}`")
    return words


def type_of(schema, node, files):
    """The node's type in words."""
    if "enum" in node:
        return " or ".join(f"`{value}`" for value in node["enum"])
    if "const" in node:
        return f"`{node['const']}`"
    for key in ("oneOf", "anyOf"):
        if key in node:
            kinds = [type_of(where, choice, files) for choice, where in (resolve(schema, choice, files) for choice in node[key])]
            return " or ".join(dict.fromkeys(kinds))
    kind = node.get("type", "object" if "allOf" in node else "any value")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array" and isinstance(node.get("items"), dict):
        item, where = resolve(schema, node["items"], files)
        return f"list of {type_of(where, item, files)}"
    if kind == "object" and not node.get("properties") and isinstance(node.get("additionalProperties"), dict):
        item, where = resolve(schema, node["additionalProperties"], files)
        return f"object of {type_of(where, item, files)}"
    return kind


def children_of(schema, node, files):
    """(step of the pointer, required, node, its schema) of everything below a node."""
    for part in node.get("allOf", []) + node.get("oneOf", []):
        inner, where = resolve(schema, part, files)
        yield from children_of(where, inner, files)
    required = node.get("required", [])
    for name, child in node.get("properties", {}).items():
        inner, where = resolve(schema, child, files)
        yield name, name in required, inner, where
    if isinstance(node.get("items"), dict):
        inner, where = resolve(schema, node["items"], files)
        yield "N", False, inner, where
    if isinstance(node.get("additionalProperties"), dict):
        inner, where = resolve(schema, node["additionalProperties"], files)
        yield "*", False, inner, where


def rows_of(schema, node, files, pointer, seen):
    """Table rows of everything below a node, depth first."""
    for name, required, child, where in children_of(schema, node, files):
        here = f"{pointer}/{name}"
        below = list(children_of(where, child, files))
        if name not in ("N", "*") or not below:
            meaning = "; ".join(filter(None, [child.get("description", ""), *bounds_of(child)]))
            if name not in ("N", "*") or meaning:
                yield f"| `{here}` | {type_of(where, child, files)}{', required' if required else ''} | {escape(meaning)} |"
        key = json.dumps(child, sort_keys=True)
        named = [step for step, *_ in below if step not in ("N", "*")]
        if len(named) > 1 and key in seen:
            yield f"| `{here}/...` | | the same as `{seen[key]}/...` |"
            continue
        seen.setdefault(key, here)
        yield from rows_of(where, child, files, here, seen)


def escape(text):
    return " ".join(text.replace("|", "\\|").split())


def page():
    files = {}
    schema = json.loads((SCHEMAS / "receipt.schema.json").read_text())
    required = schema["required"]
    out, seen = [HEAD], {}
    for name, child in schema["properties"].items():
        node, where = resolve(schema, child, files)
        meaning = "; ".join(filter(None, [node.get("description", ""), *bounds_of(node)]))
        presence = "required" if name in required else "absent where there is none"
        out.append(f"\n## `{name}`\n\nType: {type_of(where, node, files)}; {presence}.\n{meaning and f'{chr(10)}Meaning: {meaning}.{chr(10)}'}")
        rows = list(rows_of(where, node, files, f"/{name}", seen))
        if rows:
            out += ["\n| field | type | meaning |\n|---|---|---|\n", "\n".join(rows), "\n"]
    return "".join(out)


def main():
    text = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit(f"{PAGE.relative_to(ROOT)} is not what the schema gives; run tools/receipt_reference.py")
        return
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
