"""``/docs``: one small page that reads ``/openapi.json``. Nothing is fetched from anywhere else."""

import html

CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}}
code,pre{{font-family:ui-monospace,monospace}} pre{{overflow:auto;padding:.5rem;border:1px solid #8886}}
summary{{cursor:pointer;padding:.25rem 0}} .verb{{display:inline-block;min-width:4.5rem;font-weight:600}}
.about{{opacity:.75}}
</style></head><body>
<h1>{title} {version}</h1>
<p>Point a Cartesia client at this server's address, or an OpenAI client at this address with <code>/v1</code>.
The whole description: <a href="openapi.json">openapi.json</a>.</p>
<main id="routes">Loading…</main>
<script>
const make = (tag, text, name) => {{
  const node = document.createElement(tag);
  if (text) node.textContent = text;
  if (name) node.className = name;
  return node;
}};
fetch("openapi.json").then(answer => answer.json()).then(spec => {{
  const main = document.getElementById("routes"), groups = new Map();
  for (const [path, verbs] of Object.entries(spec.paths))
    for (const [verb, about] of Object.entries(verbs)) {{
      const tag = (about.tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push([about["x-websocket"] ? "WS" : verb.toUpperCase(), path, about]);
    }}
  main.textContent = "";
  for (const [tag, routes] of groups) {{
    main.append(make("h2", tag));
    for (const [verb, path, about] of routes) {{
      const box = make("details"), head = make("summary");
      head.append(make("span", verb, "verb"), make("code", path), make("span", " " + about.summary, "about"));
      box.append(head, make("pre", JSON.stringify(about, null, 2)));
      main.append(box);
    }}
  }}
  main.append(make("h2", "Schemas"), make("pre", JSON.stringify(spec.components.schemas, null, 2)));
}});
</script></body></html>
"""


def docs_page(title: str, version: str) -> str:
    return _PAGE.format(title=html.escape(title), version=html.escape(version))
