# The benchmarks of matrix products, of the score, of added entities and of completed names, with the numbers taken out; and wrong usage.
alike() { sed -E 's/:-?[0-9][^,}]*/:N/g; s/"(version|commit|kernels|cpu)":"[^"]*"/"\1":""/g'; }
wfre bench gemm --json --time 0 --threads 2 | alike
wfre bench score --json --time 0 --dim 100 --isa reference | alike
wfre bench add --json --dim 20 --steps 20 --threads 2 | alike
wfre bench complete --json | alike
timeout --foreground --preserve-status -s INT 2 wfre bench score --tables --json --time 1h # one signal, not two
echo "[exit $?]"
wfre bench nonsense 2>&1 | tail -n 3
show wfre bench gemm --precision fp8
WFRE_ISA=mmx show wfre bench gemm
