#!/usr/bin/env bash
# Installs the packages of a release in empty projects and uses them there: `try-packages.sh DIRECTORY [node|deno|bun|python]`. It needs
# no service: the clients call a closed port, and show that they work by their own error.
set -euo pipefail

release=$(cd "$1" && pwd)
runtime=${2:-node}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
export RUNYARD_API_KEY=ryp_x RUNYARD_BASE_URL=http://127.0.0.1:9/api/v1 HOME=$place
program='import { APIConnectionError, Runyard } from "runyard";
const error = await new Runyard({ maxRetries: 0 }).runs.list().then(() => undefined, (reason) => reason);
if (!(error instanceof APIConnectionError)) throw new Error(`not an APIConnectionError: ${error}`);
console.log("the TypeScript client works");'

case "$runtime" in
  node)
    echo '{"private":true,"type":"module"}' >package.json
    npm install --silent --no-audit --no-fund "$release"/runyard-[0-9]*.tgz "$release"/runyard-cli-*.tgz
    node --input-type=module -e "$program"
    npx --no-install runyard --version
    if [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 24 ]; then
      # As docs/install.md starts the server without installing it.
      npx --yes --package "$release"/runyard-server-*.tgz runyard-server serve --once --no-sandbox --port 4599
    fi
    ;;
  deno | bun)
    mkdir -p node_modules/runyard
    tar -xzf "$release"/runyard-[0-9]*.tgz --strip-components=1 -C node_modules/runyard
    echo '{"private":true,"type":"module","dependencies":{"runyard":"*"}}' >package.json
    echo "$program" >main.mjs
    if [ "$runtime" = deno ]; then "${DENO:-deno}" run --allow-net --allow-env --node-modules-dir=manual main.mjs; else "${BUN:-bun}" run main.mjs; fi
    ;;
  python)
    python=${RUNYARD_PYTHON:-python3}
    "$python" -m venv user
    user/bin/python -m pip --quiet --disable-pip-version-check install "$release"/runyard-*.whl
    user/bin/python -c '
import runyard
try:
    runyard.Runyard(max_retries=0).runs.retrieve("r1")
except runyard.APIConnectionError:
    print("the Python client works")'
    ;;
  *)
    echo "There is no runtime $runtime: node, deno, bun or python" >&2
    exit 2
    ;;
esac
