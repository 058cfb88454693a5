// protocols/openapi.yaml as the server gives it out: /api/v1/openapi.json, and /api/ as a page to read.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";

const here = dirname(fileURLToPath(import.meta.url));
const source = resolve(here, "../../protocols/openapi.yaml");
const methods = ["get", "post", "put", "delete"];

export function readApi() {
  return load(readFileSync(source, "utf8"));
}

/** What a {"$ref": "#/a/b"} stands for; anything else is itself. */
export function resolved(api, value) {
  if (typeof value?.$ref !== "string") return value;
  return value.$ref.slice(2).split("/").reduce((at, name) => at?.[name], api);
}

function escaped(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** A schema in a few words: "array of Run", "string: queued, running". */
function inWords(schema) {
  if (schema === undefined) return "";
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.allOf) return schema.allOf.map(inWords).join(" and ");
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
  const parts = [escaped(schema.type ?? "any")];
  if (schema.items) parts.push(`of ${inWords(schema.items)}`);
  if (schema.enum) parts.push(`: ${schema.enum.map((each) => `<code>${escaped(each)}</code>`).join(", ")}`);
  if (schema.default !== undefined) parts.push(`, <code>${escaped(JSON.stringify(schema.default))}</code> where absent`);
  if (schema.description) parts.push(`. ${escaped(schema.description)}`);
  return parts.join(" ").replace(" :", ":").replace(" ,", ",").replace(" .", ".");
}

function fields(schema) {
  const own = schema.properties ?? {};
  const rows = Object.entries(own).map(
    ([name, each]) => `<tr><th scope="row"><code>${escaped(name)}</code>${schema.required?.includes(name) ? " *" : ""}</th><td>${inWords(each)}</td></tr>`,
  );
  return rows.length === 0 ? `<p>${inWords(schema)}</p>` : `<table>${rows.join("")}</table>`;
}

function operation(api, path, method, each, shared) {
  const parameters = [...shared, ...(each.parameters ?? [])].map((parameter) => resolved(api, parameter));
  const rows = parameters.map(
    (parameter) =>
      `<tr><th scope="row"><code>${escaped(parameter.name)}</code>${parameter.required ? " *" : ""}</th><td>${escaped(parameter.in)}</td><td>${inWords(parameter.schema)} ${escaped(parameter.description ?? "")}</td></tr>`,
  );
  const examples = Object.values(each.requestBody?.content?.["application/json"]?.examples ?? {});
  const body = each.requestBody ? `<p>Body: ${inWords(each.requestBody.content["application/json"].schema)}</p>` : "";
  const shown = examples.map((example) => `<pre>${escaped(JSON.stringify(example.value, null, 2))}</pre>`).join("");
  const answers = Object.entries(each.responses).map(([status, response]) => {
    const real = resolved(api, response);
    const content = Object.entries(real.content ?? {}).map(([type, media]) => `<code>${escaped(type)}</code> ${inWords(media.schema)}`);
    return `<tr><th scope="row">${status}</th><td>${escaped(real.description)}</td><td>${content.join("; ")}</td></tr>`;
  });
  return `<section id="${each.operationId}"><h3><code>${method.toUpperCase()} ${escaped(path)}</code></h3>
<p>${escaped(each.summary)}. ${escaped(each.description ?? "")}</p>
${rows.length ? `<table>${rows.join("")}</table>` : ""}${body}${shown}<table>${answers.join("")}</table></section>`;
}

function page(api) {
  const groups = api.tags.map((tag) => {
    const own = Object.entries(api.paths).flatMap(([path, item]) =>
      methods
        .filter((method) => item[method]?.tags?.includes(tag.name))
        .map((method) => operation(api, path, method, item[method], item.parameters ?? [])),
    );
    return `<h2 id="${tag.name}">${escaped(tag.name)}</h2><p>${escaped(tag.description)}</p>${own.join("\n")}`;
  });
  const schemas = Object.entries(api.components.schemas).map(
    ([name, schema]) => `<section id="schema-${name}"><h3>${name}</h3>${(schema.allOf ?? [schema]).map(fields).join("")}</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(api.info.title)} API</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark; }
table { border-collapse: collapse; margin: .5rem 0; } th, td { text-align: left; vertical-align: top; padding: .15rem .75rem .15rem 0; }
pre { padding: .75rem; border: 1px solid #8886; overflow: auto; } section { border-top: 1px solid #8886; }
</style>
</head>
<body>
<h1>${escaped(api.info.title)} API ${escaped(api.info.version)}</h1>
<p>${escaped(api.info.description)}</p>
<p>For programs: <a href="/api/v1/openapi.json">openapi.json</a>. A star marks what is always there or must be given.</p>
<nav>${api.tags.map((tag) => `<a href="#${tag.name}">${escaped(tag.name)}</a>`).join(" · ")} · <a href="#schemas">schemas</a></nav>
${groups.join("\n")}
<h2 id="schemas">schemas</h2>
${schemas.join("\n")}
</body>
</html>
`;
}

/** Writes both files below `out`, the folder that is served as "/". */
export function buildApiPage(out) {
  const api = readApi();
  mkdirSync(join(out, "api/v1"), { recursive: true });
  writeFileSync(join(out, "api/v1/openapi.json"), JSON.stringify(api));
  writeFileSync(join(out, "api/index.html"), page(api));
}
