#!/bin/sh
# Checks the output of one judge-parent iteration. fullsend runs it in <run>/iteration-N with no FULLSEND_OUTPUT_DIR, and
# the files in ./output; by hand, name the folder: validate-output.sh DIR. Exit 0: complete. Exit 1: what is missing is
# named, one line each.
set -u
dir=${1:-output}
bad=0
fail() {
    printf 'validate-output: %s\n' "$1"
    bad=1
}

[ -d "$dir" ] || { fail "$dir is not a folder"; exit 1; }
for name in topic.md evaluation.md summary.md; do
    [ -s "$dir/$name" ] || fail "$dir/$name is missing or empty"
done

# The first line that subcell gives a failed cell: what has it is no judgement. Clients from 2.1.295 on put a paragraph of
# their own before it and indent it.
if [ -f "$dir/evaluation.md" ] && grep -q '^[[:space:]]*\[subcell\] The isolated subagent FAILED' "$dir/evaluation.md"; then
    fail "$dir/evaluation.md holds a failed cell, not a judgement"
fi

# Proof of isolation: at least one record of a cell that completed.
completed=0
for record in "$dir"/.subcell/cells/*.json; do
    [ -f "$record" ] || continue
    if grep -A1 '"ending": {' "$record" | grep -q '"kind": "completed"'; then
        completed=$((completed + 1))
    fi
done
[ "$completed" -gt 0 ] || fail "$dir/.subcell/cells holds no record of a completed cell: nothing ran in isolation"
[ -s "$dir/.spawned-cost.json" ] || fail "$dir/.spawned-cost.json is missing or empty"

[ "$bad" -eq 0 ] && printf 'validate-output: complete, %s completed cell(s)\n' "$completed"
exit "$bad"
