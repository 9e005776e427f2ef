# SPDX-License-Identifier: MIT
# bench_evals - every eval of GradBench on small inputs: finite, repeated, with two threads the same
# bits, the derivative as differences of the primal function say.
set -eu
out=$("$B/bench/evals" --small --threads 2)
echo "$out"
[ "$(echo "$out" | grep -c '  ok$')" -eq 13 ]
! "$B/bench/evals" --only nothing 2>/dev/null
! "$B/bench/evals" --reps 1 2>/dev/null
