"""The document as one readable page, rendered here: no script, nothing to fetch."""

from collections.abc import Iterator
from html import escape

from markdown_it import MarkdownIt

from monitoring.contract.document import Document, Node, Operation

_MARKDOWN = MarkdownIt("commonmark", {"html": False})

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #1d2733; max-width: 54rem; margin: 2rem auto }
h1 { margin-bottom: 0 } h2 { margin-top: 3rem; border-bottom: 1px solid #d5dce4 }
h3 { margin: 2.2rem 0 .3rem }
code { font: .92em ui-monospace, monospace; background: #f1f4f7; padding: .1em .3em; border-radius: 4px }
pre { white-space: pre-wrap } a { color: #0b5cad; text-decoration: none } nav li { list-style: none }
table { border-collapse: collapse; width: 100%; margin: .6rem 0 } b { font-weight: 600 }
td { border-top: 1px solid #e4e9ee; padding: .35rem .8rem .35rem 0; vertical-align: top }
td:first-child { white-space: nowrap; width: 1% } .method { display: inline-block; min-width: 4.2rem }
"""


def render_docs_page(document: Document) -> str:
    """Return the page as HTML; everything the document says is escaped."""
    info = document.root["info"]
    tags = [(tag, list(_operations_under(document, tag["name"]))) for tag in document.root["tags"]]
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}</title>",
        f"<meta name=viewport content='width=device-width'><style>{STYLE}</style>",
        f"<h1>{escape(info['title'])}</h1><p>Version {escape(str(info['version']))} · ",
        "<a href=openapi.yaml>openapi.yaml</a> · <a href=openapi.json>openapi.json</a></p>",
        f"{_prose(info)}<nav>",
        *(f"<ul>{''.join(map(_link_to, operations))}</ul>" for _, operations in tags),
        "</nav>",
        *(_section(document, tag, operations) for tag, operations in tags),
        "<h2>Schemas</h2>",
        *(_schema(document, *named) for named in document.root["components"].get("schemas", {}).items()),
    ]
    return "".join(parts)


def _prose(node: Node) -> str:
    """Render a description, which OpenAPI writes in CommonMark; markup in it is shown, not obeyed."""
    rendered: str = _MARKDOWN.render(node.get("description", ""))
    return rendered


def _operations_under(document: Document, tag: str) -> Iterator[Operation]:
    return (item for item in document.operations.values() if item.definition["tags"][0] == tag)


def _signature(operation: Operation) -> str:
    return f"<b class=method>{operation.method.upper()}</b> <code>{escape(operation.path)}</code>"


def _link_to(operation: Operation) -> str:
    return f"<li><a href='#{operation.operation_id}'>{_signature(operation)}</a></li>"


def _section(document: Document, tag: Node, operations: list[Operation]) -> str:
    described = "".join(_operation(document, operation) for operation in operations)
    return f"<h2>{escape(tag['name'])}</h2>{_prose(tag)}{described}"


def _operation(document: Document, operation: Operation) -> str:
    definition = operation.definition
    secured = definition.get("security", document.root.get("security", []))
    schemes = " or ".join(" and ".join(alternative) for alternative in secured)
    return "".join(
        (
            f"<h3 id='{operation.operation_id}'>{_signature(operation)}</h3>",
            f"<p><b>{escape(definition.get('summary', operation.operation_id))}</b></p>{_prose(definition)}",
            _table(
                (
                    ("Security", escape(schemes or "none")),
                    ("Operation", f"<code>{operation.operation_id}</code>"),
                )
            ),
            _table(_parameter(parameter) for parameter in operation.parameters),
            _table(_content("body", document.follow(definition.get("requestBody", {})))),
            _table(
                row for status, response in operation.responses.items() for row in _response(status, response)
            ),
        )
    )


def _parameter(parameter: Node) -> tuple[str, str]:
    required = ", required" if parameter.get("required") else ""
    description = escape(parameter.get("description", ""))
    return (
        f"<code>{escape(parameter['name'])}</code>",
        f"{parameter['in']}{required}. {description} {_type(parameter['schema'])}",
    )


def _content(title: str, node: Node) -> Iterator[tuple[str, str]]:
    for media_type, content in node.get("content", {}).items():
        yield title, f"<code>{escape(media_type)}</code> {_type(content.get('schema', {}))}"


def _response(status: str, response: Node) -> Iterator[tuple[str, str]]:
    yield f"<b>{status}</b>", escape(response.get("description", ""))
    yield from _content("", response)


def _schema(document: Document, name: str, schema: Node) -> str:
    required = schema.get("required", ())
    rows = (
        (
            f"<code>{escape(field)}</code>" + (" *" if field in required else ""),
            f"{_type(part)} {escape(document.follow(part).get('description', ''))}",
        )
        for field, part in schema.get("properties", {}).items()
    )
    head = f"<h3 id='schema-{escape(name)}'>{escape(name)}</h3>"
    return f"{head}<p>{escape(schema.get('description', ''))} {_type(schema)}</p>{_table(rows)}"


def _type(schema: Node) -> str:
    """Name a schema in a few words, linking to those that have a name."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href='#schema-{name}'>{name}</a>"
    if schema.get("type") == "array":
        return f"array of {_type(schema['items'])}"
    bounds = {
        key: schema[key]
        for key in ("format", "enum", "minimum", "maximum", "maxLength", "default")
        if key in schema
    }
    facts = ", ".join(f"{key} {value}" for key, value in bounds.items())
    return escape(f"{schema.get('type', '')} {f'({facts})' if facts else ''}".strip())


def _table(rows: Iterator[tuple[str, str]] | tuple[tuple[str, str], ...]) -> str:
    body = "".join(f"<tr><td>{left}<td>{right}" for left, right in rows)
    return f"<table>{body}</table>" if body else ""
