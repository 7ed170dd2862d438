#!/bin/bash
# What only a machine with an NVIDIA card shows about the deployment, in ten minutes: bash bench/gpu_slot.sh [FOLDER]
#
# First come the checks that would stop a model server, then the memory that infra/presets assumes, then the figures. Each
# step prints one JSON line: ok, failed, timed out, or not run with what is missing. A step that fails stops no other, and
# the limits of all steps together are 547 s. Whole outputs are in FOLDER, by default .local/gpu-slot.
#
# PYTHON names the interpreter of the project, SERVER_PYTHON that of the model servers, which has flashinfer and triton.
set -u
cd "$(dirname "$0")/.."
python=${PYTHON:-$PWD/.venv/bin/python}
server_python=${SERVER_PYTHON:-$python}
out=${1:-.local/gpu-slot}
mkdir -p "$out"
: > "$out/steps.jsonl"

# The last line of a file as the text of a JSON string.
last_line() { tail -n 1 "$1" | tr -d '\000-\037' | cut -c 1-600 | sed 's/[\\"]/\\&/g'; }

# say NAME STATUS FILE
say() { echo "{\"name\": \"$1\", \"status\": \"$2\", \"last\": \"$(last_line "$3")\"}" | tee -a "$out/steps.jsonl"; }

# step NAME LIMIT COMMAND …: the limit in seconds, and 2 s more for a process that ignores its end.
step() {
    local name=$1 limit=$2 code status=failed
    shift 2
    timeout --kill-after=2 "$limit" "$@" > "$out/$name.log" 2>&1
    code=$?
    [ "$code" = 0 ] && status=ok
    { [ "$code" = 124 ] || [ "$code" = 137 ]; } && status="timed out"
    local lacks=(-e ModuleNotFoundError -e "command not found" -e "No such file or directory" -e "Permission denied")
    if [ "$code" != 0 ] && grep -q "${lacks[@]}" "$out/$name.log"; then status="not run"; fi
    say "$name" "$status" "$out/$name.log"
}

used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -1; }

step card 15 nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader

# The user of the image, with a home that it can write, as infra/images/vllm.Dockerfile gives it.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
chmod 0777 "$home"
as_ava=(setpriv --reuid 10001 --regid 10001 --clear-groups env "HOME=$home" "XDG_CACHE_HOME=$home")
step flashinfer 50 "${as_ava[@]}" "$server_python" -c 'import flashinfer; print(flashinfer.__version__)'
cat > "$home/kernel.py" <<'END'
import torch, triton, triton.language as tl

@triton.jit
def double(source, target, size, block: tl.constexpr):
    place = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(target + place, 2 * tl.load(source + place, mask=place < size), mask=place < size)

source = torch.arange(1000, device="cuda", dtype=torch.float32)
target = torch.empty_like(source)
double[(4,)](source, target, 1000, block=256)
assert torch.equal(target, 2 * source)
END
step triton 50 "${as_ava[@]}" "$server_python" "$home/kernel.py"

# Memory of a CUDA context: a card is shared by as many processes as a preset has servers, and the index worker.
contexts() {
    local before after pids=()
    before=$(used)
    for _ in $(seq "$1"); do
        "$python" -c 'import torch, time; torch.zeros(1, device="cuda"); time.sleep(25)' &
        pids+=($!)
    done
    sleep "$settle"
    after=$(used)
    local held=0
    for pid in "${pids[@]}"; do kill "$pid" 2> /dev/null && held=$((held + 1)); done
    if [ "$held" != "$1" ]; then echo "$held of $1 processes have a context"; return 1; fi
    if [ -z "$before" ] || [ -z "$after" ]; then echo "nvidia-smi reports no memory"; return 1; fi
    echo "{\"contexts\": $1, \"mib\": $((after - before))}"
}
settle=${SETTLE_S:-20}
export python settle
export -f contexts used
step contexts_5 40 bash -c 'contexts 5'
step contexts_8 40 bash -c 'contexts 8'

# The vision tower of the describer with random weights: a picture of the model's own limit, and one of the table's.
cat > "$home/tower.py" <<'END'
import json, sys, torch
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLVisionConfig
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLVisionModel

side = int(sys.argv[1])
config = Qwen3VLVisionConfig(depth=27, hidden_size=1152, intermediate_size=4304, num_heads=16, out_hidden_size=4096)
with torch.device("cuda"):
    tower = Qwen3VLVisionModel._from_config(config, attn_implementation="sdpa").to(torch.bfloat16).eval()
grid = side // config.patch_size // 2 * 2
width = config.in_channels * config.temporal_patch_size * config.patch_size**2
patches = torch.randn(grid * grid, width, device="cuda", dtype=torch.bfloat16)
torch.cuda.reset_peak_memory_stats()
before = torch.cuda.memory_allocated()
with torch.inference_mode():
    tower(patches, grid_thw=torch.tensor([[1, grid, grid]], device="cuda"))
print(json.dumps({"side": side, "tokens": grid * grid // 4, "peak_mib": (torch.cuda.max_memory_allocated() - before) >> 20}))
END
step tower_4096 40 "$python" "$home/tower.py" 4096
step tower_768 40 "$python" "$home/tower.py" 768

step deberta 60 "$python" -m bench.gpu --only deberta_an_hour
step siglip 60 "$python" -m bench.gpu --only siglip_an_hour
step rtdetr 60 "$python" -m bench.gpu --only rtdetr_streams
step tests 70 "$python" -m pytest -rs -q -n 0 tests/gpu
