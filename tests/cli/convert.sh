# Checkpoints that Debian's PyTorch wrote become models; what is none is refused in one line.
python3=/usr/bin/python3
$python3 -c 'import torch' 2>/dev/null || { echo "skipped: no python3-torch"; exit 77; }
script=$HERE/../golden/forward.py
printf '%s\t%s\t%s\n' 0 a 1 2 b 3 4 c 5 6 a 7 8 b 9 >g.tsv
wfre import g.tsv -o g.kg >/dev/null 2>&1
for kind in plain real half; do $python3 $script checkpoint $kind.ckpt $kind || exit 1; done
show wfre convert g.kg plain.ckpt -o m.safetensors --preset paper-fb15k-237
show wfre convert g.kg real.ckpt -o real.safetensors --preset paper-fb15k-237
cmp m.safetensors real.safetensors && echo "the same model"
show wfre convert g.kg half.ckpt -o half.safetensors --preset paper-nell --set rho=99
wfre info m.safetensors | grep -E '^ *(dim|bases|gamma|rho|complement|iterations) '
wfre info half.safetensors | grep -E '^ *(rho|iterations) '
# The weights are those of the golden case, which tests/golden/forward.c scores.
$python3 - m.safetensors $HERE/../data/forward/case.json <<'P'
import json, struct, sys
raw = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
head, body = json.loads(raw[8:8 + size]), raw[8 + size:]
weights = json.load(open(sys.argv[2]))["weights"]
names = {"entities": "entities"}
names.update({k: "layer0." + k for k in weights if k != "entities"})
for key, name in names.items():
    begin, end = head[name]["data_offsets"]
    have = struct.unpack("<%df" % ((end - begin) // 4), body[begin:end])
    same = len(have) == len(weights[key]) and all(struct.pack("<f", w) == struct.pack("<f", h)
                                                  for h, w in zip(have, weights[key]))
    print(key, "same" if same else "DIFFERENT")
P
show wfre convert g.kg plain.ckpt -o other.safetensors
show wfre convert g.kg g.tsv -o other.safetensors --preset paper-nell
head -c 9000 plain.ckpt >cut.ckpt
show wfre convert g.kg cut.ckpt -o other.safetensors --preset paper-nell
printf '%s\t%s\t%s\n' 0 a 1 >small.tsv
wfre import small.tsv -o small.kg >/dev/null 2>&1
show wfre convert small.kg plain.ckpt -o other.safetensors --preset paper-nell
$python3 - <<'P'
import os, torch
class Evil:
    def __reduce__(self):
        return os.system, ("touch executed",)
torch.save({"model_parameter": {"entity_embedding": Evil()}}, "evil.ckpt")
torch.save([1.5, None, True], "list.ckpt")
torch.save({"entity_embedding": torch.zeros(1, 1).expand(10, 1 << 30)}, "wide.ckpt")
P
show wfre convert g.kg evil.ckpt -o other.safetensors --preset paper-nell
show wfre convert g.kg list.ckpt -o other.safetensors --preset paper-nell
show wfre convert g.kg wide.ckpt -o other.safetensors --preset paper-nell
ls
