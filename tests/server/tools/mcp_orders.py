"""An MCP server for tests: python mcp_orders.py [FOLDER]. What it is to do wrong is told by files in FOLDER."""

import os
import subprocess
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
if len(sys.argv) > 1:
    with (FOLDER / "starts").open("a") as file:
        file.write(f"{os.getpid()}\n")
    if (FOLDER / "silent").exists():
        time.sleep(600)
    if (FOLDER / "broken").exists():
        sys.exit("no database, password is swordfish-42")
    if (FOLDER / "child").exists():
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        (FOLDER / "child").write_text(str(child.pid))

server = MCPServer("orders")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def find(order_id: str) -> dict[str, str]:
    """Find an order."""
    if order_id == "die" and not (FOLDER / "died").exists():
        (FOLDER / "died").touch()
        os._exit(1)
    return {"order_id": order_id, "status": "packed", "secret": os.environ.get("ORDERS_TOKEN", "")}


@server.tool()
def move(order_id: str, day: str, idempotency_key: str) -> str:
    """Move an order."""
    with (FOLDER / "moves").open("a") as file:
        file.write(f"{order_id} {day} {idempotency_key}\n")
    if order_id == "die":
        os._exit(1)
    return f"moved {order_id} to {day}"


@server.tool()
async def remember(context: Context) -> str:
    """What came with the request."""
    meta = context.request_context.meta
    return str(dict(meta or {}).get("antiphon/idempotency_key"))


@server.tool()
def refuse() -> str:
    """Never works."""
    raise ValueError("there is no such order")


@server.tool()
def block() -> str:
    """Never answers."""
    (FOLDER / "blocking").touch()
    time.sleep(600)
    return ""


if __name__ == "__main__":
    if "--http" in sys.argv:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[-1]))
    else:
        server.run("stdio")
