# wfre score: distances with the reference kernels, gradients, and every kind of bad case.
export WFRE_ISA=reference
cat >cases.json <<'TXT'
[{"left": [1,0,0,0,0], "right": [0,1,0,0,0]},
 {"left": [0.2,0.4], "right": [0.2,0.4], "block": 2, "radius": 3, "power": 20, "epsilon": 0.1, "iterations": 50}]
TXT
show wfre score cases.json
show wfre score cases.json --score hellinger
echo '[{"left": [1,0], "right": [0,1], "block": 2}]' >pair.json
show wfre score pair.json --gradients
echo '[{"left": [1,0,0], "right": [0,1,0]}]' >block.json
show wfre score block.json
echo '[{"left": [1,0], "right": [0], "block": 1}]' >length.json
show wfre score length.json
echo '[{"left": ["x"], "right": [0], "block": 1}]' >text.json
show wfre score text.json
echo '[{"left": [1], "right": [0], "block": 1.5}]' >whole.json
show wfre score whole.json
echo '[{"left": [1, 0.5], "right": [0, -1], "block": 2}]' >outside.json
show wfre score outside.json
show wfre score - <outside.json
echo '{"left": 1}' >object.json
show wfre score object.json
echo '[{' >cut.json
show wfre score cut.json
show wfre score nowhere.json
show wfre score cases.json --preset frob
