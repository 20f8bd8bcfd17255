"""A server that nobody here wrote: llama.cpp's, with nginx in front to speak TLS. The one door to both.

llama.cpp's server as it is packaged speaks plain HTTP; nginx, unbuffered, is how such a server is put on a
network. The model's process is our own file run as a module, so that it dies with this one.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from engine.contract.errors import BadData
from engine.spill.server_running import HOST, listen
from engine.spill.tls import Authority

PATIENCE = 120.0
PROXY = """daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen {host}:{port} ssl;
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server.pem;
    ssl_protocols TLSv1.3;
    location / {{
      proxy_pass {upstream};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }}
  }}
}}
"""


def needed() -> None:
    """`BadData` where the server or the proxy is not installed, with the command that installs it."""
    if find_spec("xllamacpp") is None:
        raise BadData(
            "llama.cpp's server", "is not installed.", "Run: pip install 'specdec-sidechannels[servers]'"
        )
    if shutil.which("nginx") is None:
        raise BadData("nginx", "is not installed; it speaks TLS here.", "Run: apt-get install nginx-light")


def proxy_version() -> str:
    """What nginx says of itself."""
    told = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=True).stderr
    return told.strip().rpartition("/")[2]


class LlamaServer:
    """The two processes, from `with` to its end; `port` speaks TLS with the authority's certificate.

    `ngram` is (size, length): drafts of so many tokens, looked up by the last so many; none: plain decoding.
    """

    def __init__(self, gguf: Path, authority: Authority, ngram: tuple[int, int] | None) -> None:
        needed()
        self.gguf, self.authority, self.ngram = gguf, authority, ngram
        self._processes: list[subprocess.Popen[str]] = []
        self._folder = tempfile.TemporaryDirectory(prefix="llama-server-")
        with contextlib.closing(listen(0)) as free:
            self.port: int = free.getsockname()[1]

    def __enter__(self) -> LlamaServer:
        try:
            self._proxy(self._model())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            process.terminate()
            process.wait(PATIENCE)
            for end in (process.stdin, process.stdout):
                if end is not None:
                    end.close()
        self._folder.cleanup()

    def _model(self) -> str:
        """Start the model's process; its address."""
        command = [sys.executable, "-m", "engine.spill.llama_server", str(self.gguf)]
        command += map(str, self.ngram or ())
        log = Path(self._folder.name) / "model.log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self._processes.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            if re.fullmatch(r"http://127\.0\.0\.1:[0-9]+\n", line):
                return line.strip()
        last = log.read_text(errors="replace").strip().splitlines()[-1:]
        raise BadData("llama.cpp's server", f"did not start: {' '.join(last)}", "Look at the weights.")

    def _proxy(self, upstream: str) -> None:
        folder = Path(self._folder.name)
        self.authority.server.private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
        said = PROXY.format(folder=folder, host=HOST, port=self.port, upstream=upstream)
        (folder / "nginx.conf").write_text(said)
        command = [
            "nginx",
            "-p",
            str(folder),
            "-c",
            str(folder / "nginx.conf"),
            "-e",
            str(folder / "error.log"),
        ]
        process = subprocess.Popen(command, text=True)
        self._processes.append(process)
        until = time.monotonic() + PATIENCE
        while not (folder / "nginx.pid").is_file() or not (folder / "nginx.pid").read_text().strip():
            if process.poll() is not None or time.monotonic() > until:
                told = (folder / "error.log").read_text(errors="replace").strip()
                raise BadData("nginx", f"did not start: {told[-200:]}", "Try again.")
            time.sleep(0.01)


def serve(gguf: str, size: str = "", length: str = "") -> None:
    """Serve until standard input ends; prints the address."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel, params.port = gguf, 2048, 1, 0
    if size:
        kind = xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE
        params.speculative.types = [kind]
        params.speculative.ngram_simple.size_n = int(size)
        params.speculative.ngram_simple.size_m = int(length)
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
