#!/bin/sh
# A reviewer that tries out what the issue asks for. It is told the tree it judges, and must name it.
tree=$(sed -n 's/^From .* to the tree \([0-9a-f]*\):$/\1/p')
said=$(sh calc.sh 1 / 0 2>&1)
code=$?
if [ "$said" = "calc: cannot divide by zero" ] && [ $code -eq 3 ]; then
	echo "I divided by zero, and it told me so."
	verdict=approve summary="Subtracts, and refuses to divide by zero as asked; both are tested." issues=
else
	echo "The tests pass, but the issue asks for two things."
	verdict=request_changes summary="Subtraction works, but dividing by zero is as it was."
	issues='{"file": "calc.sh", "line": 8, "problem": "1 / 0 must say calc: cannot divide by zero and end with exit code 3; there is no test for it either"}'
fi
printf '{"verdict": "%s", "tree": "%s", "summary": "%s", "issues": [%s]}\n' "$verdict" "$tree" "$summary" "$issues"
