"""Starts Antiphon, speaks a paragraph through the unmodified Cartesia SDK, writes speak.wav, prints what took how long.

Text goes in token by token, as a language model would write it; audio comes back while the text is still being written.
"""

import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

from cartesia import Cartesia

RATE_HZ = 24_000
PARAGRAPH = (
    "Hello, and welcome to Antiphon. You are listening to a small neural voice that runs on this very machine, "
    "without a graphics card and without a network. The first phrase was spoken before I had finished writing the "
    "paragraph, and every word knows its place: order 4711 ships on March 3rd for $29.50, and questions go to "
    "hello@antiphon.example. Thank you for listening."
)


def start_server(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    port_file = folder / "port"
    command = [sys.executable, "-m", "antiphon", "serve", "--port", "0", "--port-file", str(port_file)]
    command += ["--log-level", "warning"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not port_file.exists():
        if server.poll() is not None:
            sys.exit("the server did not start; its message is above")
        time.sleep(0.02)
    return server, int(port_file.read_text())


def tokens(text: str) -> list[str]:
    words = text.split(" ")
    return [word + " " for word in words[:-1]] + words[-1:]


def speak(port: int) -> tuple[bytes, dict[str, float], list[tuple[str, float]]]:
    """The SDK's own WebSocket context; stamps are this process's clock."""
    stamps: dict[str, float] = {}
    client = Cartesia(
        api_key="local", base_url=f"http://127.0.0.1:{port}", websocket_base_url=f"ws://127.0.0.1:{port}"
    )
    audio, words = bytearray(), []
    with client.tts.websocket_connect() as socket:
        context = socket.context(
            model_id="sonic-3",
            voice={"mode": "id", "id": "heart"},
            output_format={"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE_HZ},
            add_timestamps=True,
        )
        began = time.perf_counter()
        for token in tokens(PARAGRAPH):
            context.push(token)
        context.no_more_inputs()
        stamps["text sent"] = time.perf_counter() - began
        for event in context.receive():
            if event.type == "chunk" and event.audio:
                stamps.setdefault("first audio byte", time.perf_counter() - began)
                audio += event.audio
            elif event.type == "timestamps" and event.word_timestamps:
                words += zip(event.word_timestamps.words, event.word_timestamps.start, strict=True)
            elif event.type == "error":
                sys.exit(f"the server said: {event}")
        stamps["last audio byte"] = time.perf_counter() - began
    return bytes(audio), stamps, words


def main() -> None:
    out = Path("speak.wav")
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        server, port = start_server(Path(folder))
        started_s = time.perf_counter() - began
        try:
            speak(port)  # a first call opens the SDK's own connection pools; it is not what we want to show
            audio, stamps, words = speak(port)
        finally:
            server.terminate()
            server.wait()
    with wave.open(str(out), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(audio)
    seconds = len(audio) / 2 / RATE_HZ
    word, at_s = words[-1]
    print(f"\n{out}: {seconds:.1f} s of speech, {len(words)} words; the last, {word!r}, at {at_s:.2f} s")
    print(f"  server ready (models loaded, warmed up)  {started_s * 1e3:8.0f} ms")
    for stage, at_s in stamps.items():
        print(f"  {stage:<40} {at_s * 1e3:8.1f} ms")
    print(f"  made {seconds / stamps['last audio byte']:.0f} times faster than it plays\n")


if __name__ == "__main__":
    main()
