# What the release before wrote still opens: snapshot, model, checkpoint.
cp -r "$HERE/../data/old" .
cd old || exit 1
echo '# a snapshot and a model'
wfre ask g.kg '?x : r0(e3, ?x)'
wfre ask g.kg m.safetensors '?x : r0(e3, ?x)' --only predicted --top 1 >/dev/null && echo 'the model answers'
wfre info m.safetensors | head -1
echo '# a checkpoint: its run goes on and ends'
cp interrupted.checkpoint run.checkpoint
wfre train g.kg -o run.safetensors --resume 2>/dev/null | grep -o '^run.safetensors: 30 steps'
wfre ask g.kg run.safetensors '?x : r0(e3, ?x)' --only predicted --top 1 >/dev/null && echo 'it answers'
