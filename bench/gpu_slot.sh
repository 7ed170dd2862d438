#!/bin/bash
# What only a machine with an NVIDIA card shows about the deployment, in ten minutes: bash bench/gpu_slot.sh [FOLDER]
#
# First come the checks that would stop a model server, then the memory that infra/presets assumes, then the figures. Each
# step has a limit, and a step that fails does not stop the others. Its output is in FOLDER, by default .local/gpu-slot.
set -u
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
out=${1:-.local/gpu-slot}
mkdir -p "$out"

step() {
    local name=$1 limit=$2
    shift 2
    timeout "$limit" "$@" > "$out/$name.log" 2>&1
    echo "{\"name\": \"$name\", \"status\": $?}" | tee -a "$out/steps.jsonl"
}

used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -1; }

step card 20 nvidia-smi

# The user of the image, with a home that it can write, as infra/images/vllm.Dockerfile gives it.
home=$(mktemp -d)
chmod 0777 "$home"
as_ava=(setpriv --reuid 10001 --regid 10001 --clear-groups env "HOME=$home" "XDG_CACHE_HOME=$home")
step flashinfer 60 "${as_ava[@]}" "$python" -c 'import flashinfer; print(flashinfer.__version__)'
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
step triton 60 "${as_ava[@]}" "$python" "$home/kernel.py"

# Memory of a CUDA context: a card is shared by as many processes as a preset has servers, and the index worker.
contexts() {
    local before after pids=()
    before=$(used)
    for _ in $(seq "$1"); do
        "$python" -c 'import torch, time; torch.zeros(1, device="cuda"); time.sleep(30)' &
        pids+=($!)
    done
    sleep 20
    after=$(used)
    wait "${pids[@]}"
    echo "{\"contexts\": $1, \"mib\": $((after - before))}"
}
export python
export -f contexts used
step contexts_5 50 bash -c 'contexts 5'
step contexts_8 50 bash -c 'contexts 8'

# The vision tower of the describer with random weights: a picture of the model's own limit, and one of the table's.
cat > "$home/tower.py" <<'END'
import json, sys, torch
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLVisionConfig
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLVisionModel

side = int(sys.argv[1])
config = Qwen3VLVisionConfig(depth=27, hidden_size=1152, intermediate_size=4304, num_heads=16, out_hidden_size=4096)
tower = Qwen3VLVisionModel._from_config(config, attn_implementation="sdpa").to("cuda", torch.bfloat16).eval()
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

step deberta 80 "$python" -m bench.gpu --only deberta_an_hour
step siglip 80 "$python" -m bench.gpu --only siglip_an_hour
step tests 90 "$python" -m pytest -rs -n 0 tests/gpu
rm -rf "$home"
tail -n 3 "$out"/{flashinfer,triton,contexts_5,contexts_8,tower_4096,tower_768,deberta,siglip,tests}.log
